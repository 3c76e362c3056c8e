// Code as it is, without the elements that colours cost: the page has hundreds of pieces.

import type { ReactNode } from "react";

interface CodeProps {
  readonly title: ReactNode;
  readonly children: string;
}

export function Code({ title, children }: CodeProps): ReactNode {
  return (
    <figure className="code">
      <figcaption className="code-head">
        <span className="code-title">{title}</span>
        <CopyButton />
      </figcaption>
      <Lines>{children}</Lines>
    </figure>
  );
}

export function CopyButton(): ReactNode {
  return (
    <button type="button" className="code-copy" aria-label="Copy code">
      Copy
    </button>
  );
}

export function Lines({ children }: Pick<CodeProps, "children">): ReactNode {
  return (
    <pre>
      <code className="line">{children}</code>
    </pre>
  );
}
