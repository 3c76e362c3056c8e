import type { ReactNode } from "react";

interface SectionProps {
  /** The id of its heading. */
  readonly id: string;
  readonly title: ReactNode;
  readonly className?: string;
  /** Beside the heading. */
  readonly aside?: ReactNode;
  readonly children?: ReactNode;
  /** For a section that scrolls. */
  readonly tabIndex?: 0;
}

export function Section({ id, title, aside, className = "sec", ...rest }: SectionProps): ReactNode {
  return (
    <section className={className} aria-labelledby={id} tabIndex={rest.tabIndex}>
      <div className="ph">
        <h2 id={id}>{title}</h2>
        {aside}
      </div>
      {rest.children}
    </section>
  );
}
