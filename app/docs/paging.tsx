import type { ReactNode } from "react";
import { SiteLink } from "../shell/site-link.tsx";

interface PagingProps {
  readonly label: string;
  /** In reading order. */
  readonly pages: readonly { readonly label: string; readonly to: string }[];
  /** Path of the current page. */
  readonly current: string;
}

export function Paging({ label, pages, current }: PagingProps): ReactNode {
  const index = pages.findIndex(({ to }) => to === current);
  const [previous, next] = [pages[index - 1], pages[index + 1]];
  return (
    <nav className="paging" aria-label={label}>
      {previous !== undefined && (
        <SiteLink to={previous.to}>
          <span className="figure fine">Previous</span>
          {previous.label}
        </SiteLink>
      )}
      {next !== undefined && (
        <SiteLink to={next.to} className="paging-next">
          <span className="figure fine">Next</span>
          {next.label}
        </SiteLink>
      )}
    </nav>
  );
}
