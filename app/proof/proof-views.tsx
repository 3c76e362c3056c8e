// The parts of the page about testing, drawn from what they are given. `null` stands for
// a tree in which no report is checked in yet.

import type { ReactNode } from "react";
import type { ProofData } from "./proof-data.ts";

export interface Fault {
  readonly what: string;
  readonly effect: string;
  readonly by: string;
  readonly shownBy: string;
  readonly test: { readonly file: string; readonly name: string };
}

interface ProofProps {
  readonly proof: ProofData | null;
}

const notMeasured = (
  <p className="aside">
    Not measured yet. <code>bun run proof</code> makes the figures.
  </p>
);

export function Summary({ proof }: ProofProps): ReactNode {
  if (proof === null) return notMeasured;
  const { summary, commit, madeAt, took, machine, command } = proof;
  return (
    <div className="proof">
      <dl className="proof-summary fine">
        {summary.map(([label, amount]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{amount}</dd>
          </div>
        ))}
      </dl>
      <p className="caption">
        Commit <code>{commit}</code>, {madeAt}, in {took}: <code>{command}</code>. {machine}.
      </p>
    </div>
  );
}

export function MethodFigures({ name, proof }: ProofProps & { readonly name: string }): ReactNode {
  const method = proof?.methods[name];
  if (method === undefined) return notMeasured;
  const { verdict, run, lines, skipped } = method;
  if (skipped !== null) return <p className="aside">Skipped in this run: {skipped}.</p>;
  return (
    <table className="proof-ledger">
      <thead>
        <tr>
          <th scope="col">{verdict}</th>
          <th scope="col">{run}</th>
        </tr>
      </thead>
      <tbody>
        {lines.map(([label, amount]) => (
          <tr key={label}>
            <td>{label}</td>
            <td>{amount}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Planted({ proof }: ProofProps): ReactNode {
  if (proof === null || proof.planted.length === 0) return notMeasured;
  return (
    <dl className="proof-planted rows">
      {proof.planted.map(([worlds, names]) => (
        <div key={worlds}>
          <dt>{worlds}</dt>
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

export function FaultList({ faults }: { readonly faults: readonly Fault[] }): ReactNode {
  return (
    <ol className="proof-faults">
      {faults.map(({ what, effect, by, shownBy, test }) => (
        <li key={what}>
          <p>
            <b>{what}</b> {effect}
          </p>
          <p className="note">
            Found by {by}: <code>{shownBy}</code>. Kept away by <code>{test.file}</code>.
          </p>
        </li>
      ))}
    </ol>
  );
}
