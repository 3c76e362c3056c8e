// Asides in the text: a note, a tip, a warning.

import type { ReactNode } from "react";

interface AdmonitionProps {
  readonly title?: string;
  readonly children: ReactNode;
}

function Admonition({ kind, title, children }: AdmonitionProps & { kind: string }): ReactNode {
  return (
    <aside className={`admonition admonition-${kind.toLowerCase()}`} aria-label={title ?? kind}>
      <p className="admonition-title">{title ?? kind}</p>
      {children}
    </aside>
  );
}

export function Note(props: AdmonitionProps): ReactNode {
  return <Admonition kind="Note" {...props} />;
}

export function Tip(props: AdmonitionProps): ReactNode {
  return <Admonition kind="Tip" {...props} />;
}

export function Warning(props: AdmonitionProps): ReactNode {
  return <Admonition kind="Warning" {...props} />;
}
