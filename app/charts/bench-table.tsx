import { judged } from "virtual:bench";
import type { ReactNode } from "react";
import type { Range } from "./bench-data.ts";
import { number } from "./figures.ts";
import type { Judged, Verdict } from "./goals.ts";
import "./charts.css";

const verdictTexts: Readonly<Record<Verdict, string>> = {
  met: "met",
  missed: "not met",
  open: "not measured yet",
};

/** The goals of the project, and how far each is. */
export function BenchTable(): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section className="hf-scroll" aria-label="Goals and measured figures" tabIndex={0}>
      <table className="hf-goals">
        <thead>
          <tr>
            <th scope="col">what</th>
            <th scope="col">goal</th>
            <th scope="col">measured</th>
            <th scope="col">verdict</th>
          </tr>
        </thead>
        <tbody>
          {judged.map((goal) => (
            <Row key={goal.what} goal={goal} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ goal }: { readonly goal: Judged }): ReactNode {
  const { what, verdict, range, unit } = goal;
  return (
    <tr>
      <th scope="row">{what}</th>
      <td>{goal.goal}</td>
      <td>{range === null ? "–" : <Measured range={range} unit={unit} />}</td>
      <td className={`hf-verdict hf-verdict-${verdict}`}>{verdictTexts[verdict]}</td>
    </tr>
  );
}

function Measured({ range, unit }: { readonly range: Range; readonly unit: string }): ReactNode {
  const text = (value: number): string => (unit === "×" ? value.toFixed(2) : number(value));
  return (
    <>
      <b>{`${text(range.median)} ${unit}`}</b>{" "}
      <span>{`${text(range.min)} to ${text(range.max)}`}</span>
    </>
  );
}
