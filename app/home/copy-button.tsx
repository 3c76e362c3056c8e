import type { ReactNode } from "react";

interface CopyButtonProps {
  readonly text: string;
  readonly label: string;
}

/** Copies a text (`behaviours/copy.ts`). It shows where there is a script that can. */
export function CopyButton({ text, label }: CopyButtonProps): ReactNode {
  return (
    <button type="button" className="hf-copy" aria-label={label} data-copy={text}>
      Copy
    </button>
  );
}
