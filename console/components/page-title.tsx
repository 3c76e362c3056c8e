import type { ReactNode } from "react";

/** Of the tab. */
export function PageTitle({ of }: { readonly of: string }): ReactNode {
  return <title>{`${of} · Holdfast console`}</title>;
}
