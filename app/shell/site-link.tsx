// The one way to link: within the site by the router, elsewhere as a plain link.

import type { ComponentProps, ReactNode } from "react";
import { Link } from "react-router";
import { mayPrefetch } from "./connection.ts";

interface SiteLinkProps extends Omit<ComponentProps<"a">, "href"> {
  readonly to: string;
}

/** Files that the build writes are not routes. */
const isFile = /\.(xml|txt|md|json|png|svg)$/;

/** Whether the router leads there. */
export function isRoute(to: string): boolean {
  return to.startsWith("/") && !isFile.test(to);
}

export function SiteLink({ to, ...rest }: SiteLinkProps): ReactNode {
  if (/^[a-z]+:/i.test(to)) return <a href={to} rel="noopener" {...rest} />;
  if (to.startsWith("#") || isFile.test(to)) return <a href={to} {...rest} />;
  return <Link to={to} prefetch={mayPrefetch() ? "intent" : "none"} discover="none" {...rest} />;
}
