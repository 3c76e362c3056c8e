import type { ReactNode } from "react";

interface ShellTextProps {
  /** Its name for screen readers. */
  readonly label: string;
  readonly text: string;
}

/** Commands for a shell. */
export function ShellText({ label, text }: ShellTextProps): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys scroll it.
    <section className="code" tabIndex={0} aria-label={label}>
      <pre className="whole shell">{text}</pre>
    </section>
  );
}
