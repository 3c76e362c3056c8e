// Components of the page about testing; their default report is the committed one.

import type { ReactNode } from "react";
import { faults, proof } from "../facts/proof.ts";
import type { ProofData } from "./proof-data.ts";

interface ProofProps {
  readonly data?: ProofData;
}

export function ProofSummary({ data = proof }: ProofProps): ReactNode {
  const { summary, commit, madeAt, took, machine, command } = data;
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

interface ProofMethodProps extends ProofProps {
  /** As in `proof/methods.ts`. */
  readonly name: string;
}

export function ProofMethod({ name, data = proof }: ProofMethodProps): ReactNode {
  const method = data.methods[name];
  if (method === undefined) {
    return (
      <p className="aside">
        Not measured yet. <code>bun run proof</code> makes the figures.
      </p>
    );
  }
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

export function PlantedBugs({ data = proof }: ProofProps): ReactNode {
  return (
    <dl className="proof-planted rows">
      {data.planted.map(([worlds, names]) => (
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

export function FaultsFound(): ReactNode {
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
