// Code as it is, without the elements that colours cost: the page has many pieces of it.

import type { ReactNode } from "react";

export function CopyButton(): ReactNode {
  return (
    <button type="button" className="code-copy" aria-label="Copy code">
      Copy
    </button>
  );
}

export function Lines({ children }: { readonly children: string }): ReactNode {
  return (
    <pre>
      <code className="line">{children}</code>
    </pre>
  );
}
