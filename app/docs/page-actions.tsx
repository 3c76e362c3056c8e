import type { ReactNode } from "react";

/** Links to copy or view a page as Markdown, for readers who work with text tools. */
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
