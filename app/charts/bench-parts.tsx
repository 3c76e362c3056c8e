// Benchmark elements of pages: charts, the goals of the project, and single figures.

import type { ReactNode } from "react";
import { charts, figures, judged, ratios, settings } from "../facts/bench.ts";
import { ChartFigure } from "./chart-figure.tsx";
import { number, type Shown } from "./figures.ts";
import type { Judged } from "./goals.ts";
import type { Group } from "./groups.ts";

export function BenchChart({ group }: { readonly group: Group }): ReactNode {
  const chart = charts[group];
  if (chart !== null) return <ChartFigure chart={chart} />;
  throw new Error(`no file in bench/results has the figures of the chart '${group}'`);
}

/** The settings of each queue in the chart of peers. */
export function PeerSettings(): ReactNode {
  return (
    <details className="chart-data">
      <summary className="note">How each queue was set up</summary>
      <ul className="note">
        {settings.map((setting) => (
          <li key={setting}>{setting}</li>
        ))}
      </ul>
    </details>
  );
}

/**
 * One measured figure within a text, so that texts contain no numbers of their own. Its name is
 * `<measurement>: <figure>`, as in a results file.
 */
export function BenchFigure({ name }: { readonly name: string }): ReactNode {
  return <Data shown={figures[name]} />;
}

/** Holdfast through all three calls, as a multiple of the fastest other queue. */
export function PeerRatio({ itemsPerCall }: { readonly itemsPerCall: number }): ReactNode {
  return <Data shown={ratios[itemsPerCall]} />;
}

function Data({ shown }: { readonly shown: Shown | undefined }): ReactNode {
  if (shown === undefined)
    throw new Error("no file in bench/results has a figure that a text names");
  return (
    <data className="chart-value figure" value={shown.value} title={shown.title}>
      {shown.text}
    </data>
  );
}

const verdictTexts = { met: "met", missed: "not met", open: "not measured yet" } as const;

/** The goals of the project, and the progress of each. */
export function BenchTable(): ReactNode {
  return (
    <table className="chart-goals">
      <thead>
        <tr>
          <th scope="col">goal</th>
          <th scope="col">measured</th>
        </tr>
      </thead>
      <tbody>
        {judged.map((goal) => (
          <Row key={goal.what} goal={goal} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ goal: { what, goal, verdict, range, unit } }: { readonly goal: Judged }): ReactNode {
  const text = (value: number): string => (unit === "×" ? value.toPrecision(3) : number(value));
  return (
    <tr>
      <th scope="row">
        {what} <span className="fine">{goal}</span>
      </th>
      <td className={`chart-${verdict}`}>
        {range !== null && (
          <>
            <b>{`${text(range.median)} ${unit}`}</b>
            <span className="fine">{`${text(range.min)} to ${text(range.max)}`}</span>
          </>
        )}
        <i>{verdictTexts[verdict]}</i>
      </td>
    </tr>
  );
}
