import { figures, ratios } from "virtual:bench";
import type { ReactNode } from "react";
import type { Shown } from "./figures.ts";

interface BenchFigureProps {
  /** `<measurement>: <figure>` as in a results file. */
  readonly name: string;
}

/** One measured figure within a text, by name, so that no text holds a number of its own. */
export function BenchFigure({ name }: BenchFigureProps): ReactNode {
  return <Data shown={figures[name]} />;
}

/** Holdfast through all three calls, as a multiple of the fastest other queue. */
export function PeerRatio({ itemsPerCall }: { readonly itemsPerCall: number }): ReactNode {
  return <Data shown={ratios[itemsPerCall]} />;
}

function Data({ shown }: { readonly shown: Shown | undefined }): ReactNode {
  if (shown === undefined) throw new Error("no file in bench/results has what a text speaks of");
  return (
    <data className="chart-value figure" value={shown.value} title={shown.title}>
      {shown.text}
    </data>
  );
}
