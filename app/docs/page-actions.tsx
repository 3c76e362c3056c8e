import type { ReactNode } from "react";

/** A page as Markdown: to copy, or to look at. Useful to who works with a text tool. */
export function PageActions({ path }: { readonly path: string }): ReactNode {
  const file = `${path}.md`;
  return (
    <p className="page-actions cluster fine">
      <button type="button" aria-live="polite" data-copy-file={file}>
        Copy page
      </button>
      <a href={file}>View as Markdown</a>
    </p>
  );
}
