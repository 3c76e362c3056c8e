import { judged } from "virtual:bench";
import type { ReactNode } from "react";
import { number } from "./figures.ts";
import type { Judged } from "./goals.ts";

const verdictTexts = { met: "met", missed: "not met", open: "not measured yet" } as const;

/** The goals of the project, and how far each is. */
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
