// The frame of every drawing: one SVG, narrow enough for a phone, with its caption beside it in a
// wide column.

import { type ReactNode, useId } from "react";

interface DiagramProps {
  readonly title: string;
  /** Text alternative for readers who cannot see the drawing. */
  readonly description: string;
  readonly caption: string;
  /** Height of the drawing at a width of 360. */
  readonly height: number;
  readonly children: ReactNode;
}

export function Diagram(props: DiagramProps): ReactNode {
  const { title, description, caption, height, children } = props;
  const id = useId();
  return (
    <figure className="diagram">
      <svg
        viewBox={`-1 -1 362 ${height + 2}`}
        role="img"
        aria-labelledby={`${id}title`}
        aria-describedby={`${id}desc`}
      >
        <title id={`${id}title`}>{title}</title>
        <desc id={`${id}desc`}>{description}</desc>
        {children}
      </svg>
      <figcaption className="caption">{caption}</figcaption>
    </figure>
  );
}
