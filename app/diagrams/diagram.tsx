// The frame of every diagram: a figure with a drawing for wide columns and one for
// narrow ones. CSS shows one of the two, and what is not displayed is not announced.

import { type ReactNode, useId } from "react";
import "./diagram.css";

export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly content: ReactNode;
}

interface DiagramProps {
  readonly title: string;
  /** What the drawing shows, for who cannot see it. */
  readonly description: string;
  readonly caption: ReactNode;
  readonly wide: Drawing;
  readonly tall: Drawing;
}

export function Diagram({ title, description, caption, wide, tall }: DiagramProps): ReactNode {
  return (
    <figure className="hf-diagram">
      <div className="hf-diagram-sheet">
        <Sheet className="hf-diagram-wide" drawing={wide} title={title} description={description} />
        <Sheet className="hf-diagram-tall" drawing={tall} title={title} description={description} />
      </div>
      <figcaption>{caption}</figcaption>
    </figure>
  );
}

function Sheet({
  className,
  drawing,
  title,
  description,
}: Pick<DiagramProps, "title" | "description"> & {
  readonly className: string;
  readonly drawing: Drawing;
}): ReactNode {
  const id = useId();
  const titleId = `${id}title`;
  const descriptionId = `${id}desc`;
  return (
    <svg
      className={className}
      viewBox={`0 0 ${drawing.width} ${drawing.height}`}
      role="img"
      aria-labelledby={`${titleId} ${descriptionId}`}
    >
      <title id={titleId}>{title}</title>
      <desc id={descriptionId}>{description}</desc>
      {drawing.content}
    </svg>
  );
}
