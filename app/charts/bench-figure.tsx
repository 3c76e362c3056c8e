import type { ReactNode } from "react";
import { sourceText } from "./bench-data.ts";
import { written } from "./figures.ts";
import { siteData } from "./site-data.ts";
import "./charts.css";

interface BenchFigureProps {
  /** `<measurement>: <figure>` as in a results file. */
  readonly name: string;
}

/** One measured figure within a text, by name, so that no text holds a number of its own. */
export function BenchFigure({ name }: BenchFigureProps): ReactNode {
  const figure = siteData.require(name);
  const { number, unit } = written(figure.name, figure.range.median);
  return (
    <data className="hf-figure" value={figure.range.median} title={sourceText(figure)}>
      {`${number}\u00a0${unit}`}
    </data>
  );
}
