import type { ReactNode } from "react";
import { SiteLink } from "../shell/site-link.tsx";

interface Neighbour {
  readonly label: string;
  readonly to: string;
}

interface PagingProps {
  readonly label: string;
  readonly previous: Neighbour | null;
  readonly next: Neighbour | null;
}

export function Paging({ label, previous, next }: PagingProps): ReactNode {
  return (
    <nav className="paging" aria-label={label}>
      {previous !== null && (
        <SiteLink to={previous.to}>
          <span className="figure fine">Previous</span>
          {previous.label}
        </SiteLink>
      )}
      {next !== null && (
        <SiteLink to={next.to} className="paging-next">
          <span className="figure fine">Next</span>
          {next.label}
        </SiteLink>
      )}
    </nav>
  );
}
