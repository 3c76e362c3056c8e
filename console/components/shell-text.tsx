import type { ReactNode } from "react";

interface ShellTextProps {
  /** What it is, where only its text is read out. */
  readonly label: string;
  readonly text: string;
}

/** Lines for a shell, whole; keys scroll them where they are longer than their place. */
export function ShellText({ label, text }: ShellTextProps): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keys.
    <section className="code" tabIndex={0} aria-label={label}>
      <pre className="whole shell">{text}</pre>
    </section>
  );
}
