// The parts of the page about testing, drawn from what they are given. `null` stands for
// a tree in which no report is checked in yet.

import type { ReactNode } from "react";
import type { MethodData, ProofData, ProofFigure } from "./proof-data.ts";
import "./proof.css";

export interface Fault {
  readonly what: string;
  readonly effect: string;
  readonly by: string;
  readonly shownBy: string;
  readonly test: { readonly file: string; readonly name: string };
}

const whole = (value: number): string => value.toLocaleString("en");

/** A part with its whole: `47 of 47`. */
function amountOf({ value, of }: ProofFigure): string {
  return of === null ? whole(value) : `${whole(value)} of ${whole(of)}`;
}

function minutes(seconds: number): string {
  return seconds < 120 ? `${whole(seconds)} s` : `${whole(Math.round(seconds / 60))} min`;
}

function NotMeasured(): ReactNode {
  return <p className="hf-proof-none">Not measured yet.</p>;
}

export function Summary({ proof }: { readonly proof: ProofData | null }): ReactNode {
  if (proof === null) {
    return (
      <div className="hf-proof">
        <p className="hf-proof-none">
          Not measured yet. <code>bun run proof</code> makes the figures.
        </p>
      </div>
    );
  }
  const { summary, commit, madeAt, seconds, machine, versions, command } = proof;
  return (
    <div className="hf-proof">
      <dl className="hf-proof-summary">
        {summary.map((figure) => (
          <div key={figure.label}>
            <dt>{figure.label}</dt>
            <dd>{amountOf(figure)}</dd>
          </div>
        ))}
      </dl>
      <p className="hf-proof-source">
        Commit <code>{commit}</code>, {madeAt}, in {minutes(seconds)}: <code>{command}</code>.{" "}
        {machine}; {versions}.
      </p>
    </div>
  );
}

interface MethodProps {
  readonly name: string;
  readonly proof: ProofData | null;
}

export function MethodFigures({ name, proof }: MethodProps): ReactNode {
  const method = proof?.methods.find((one) => one.name === name);
  if (method === undefined) return <NotMeasured />;
  if (method.skipped !== null) {
    return <p className="hf-proof-none">Skipped in this run: {method.skipped}.</p>;
  }
  return (
    <table className="hf-ledger">
      <thead>
        <tr>
          <th scope="col">{verdict(method)}</th>
          <th scope="col">
            seed {method.seed}, {minutes(method.seconds)}
          </th>
        </tr>
      </thead>
      <tbody>
        {method.figures.map((figure) => (
          <tr key={figure.label}>
            <td>{figure.label}</td>
            <td>{amountOf(figure)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function verdict({ faultCount }: MethodData): string {
  if (faultCount === 0) return "no fault";
  return faultCount === 1 ? "1 fault" : `${whole(faultCount)} faults`;
}

export function Planted({ proof }: { readonly proof: ProofData | null }): ReactNode {
  if (proof === null || proof.planted.length === 0) return <NotMeasured />;
  return (
    <dl className="hf-planted">
      {proof.planted.map(({ worlds, names }) => (
        <div key={worlds ?? "never"}>
          <dt>{worldsText(worlds)}</dt>
          <dd>
            <ul>
              {names.map((name) => (
                <li key={name}>{name}</li>
              ))}
            </ul>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function worldsText(worlds: number | null): string {
  if (worlds === null) return "Not found";
  return worlds === 1 ? "In the first world" : `In world ${whole(worlds)}`;
}

export function FaultList({ faults }: { readonly faults: readonly Fault[] }): ReactNode {
  return (
    <ol className="hf-faults">
      {faults.map(({ what, effect, by, shownBy, test }) => (
        <li key={what}>
          <p>
            <b>{what}</b> {effect}
          </p>
          <p className="hf-fault-facts">
            Found by {by}: <code>{shownBy}</code>. Kept away by <code>{test.file}</code>.
          </p>
        </li>
      ))}
    </ol>
  );
}
