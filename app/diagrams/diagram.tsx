// The frame of every drawing: one SVG, narrow enough for a phone, and in a wide column its
// caption beside it.

import { type ReactNode, useId } from "react";

interface DiagramProps {
  readonly title: string;
  /** What the drawing shows, for who cannot see it. */
  readonly description: string;
  readonly caption: string;
  /** Of a drawing that is 360 wide. */
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
