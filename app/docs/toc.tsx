// The contents of a page; `behaviours/toc.ts` marks the current section.

import type { ReactNode } from "react";
import type { TocEntry } from "../content-types.ts";

interface TocProps {
  readonly toc: readonly TocEntry[];
  /** In a column beside the text, or collapsed above it if there is no column. */
  readonly kind: "side" | "inline";
}

export function Toc({ toc, kind }: TocProps): ReactNode {
  if (toc.length === 0) return null;
  const list = (
    <ul className="note">
      {toc.map(({ id, text, depth }) => (
        <li key={id} data-depth={depth}>
          <a href={`#${id}`}>{text}</a>
        </li>
      ))}
    </ul>
  );
  if (kind === "inline") {
    return (
      <details className="toc-inline">
        <summary className="note">On this page</summary>
        {list}
      </details>
    );
  }
  return (
    <div className="toc">
      <nav aria-label="On this page">
        <p className="eyebrow">On this page</p>
        {list}
      </nav>
    </div>
  );
}
