// The one way to link.

import type { ComponentProps, ReactNode } from "react";

interface SiteLinkProps extends Omit<ComponentProps<"a">, "href"> {
  readonly to: string;
}

export function SiteLink({ to, ...rest }: SiteLinkProps): ReactNode {
  const isElsewhere = /^[a-z]+:/i.test(to);
  return <a href={to} rel={isElsewhere ? "noopener" : undefined} {...rest} />;
}
