// The command line of `bun run bench`.

import { parseArgs } from "node:util";

export interface Options {
  /** Every cell there is, instead of the canonical ones. */
  readonly full: boolean;
  /** Of all cells and probes, those whose name matches. */
  readonly only: RegExp | null;
  readonly rounds: number;
  /** Make charts from this results file, or from the latest, instead of measuring. */
  readonly charts: string | null;
  readonly peers: boolean;
  /** Where to write the results; `null` = the usual place, if the run is a whole one. */
  readonly out: string | null;
  /** Where prepared backlogs are kept for the next run; `null` = removed with the rest. */
  readonly backlogs: string | null;
  readonly list: boolean;
}

export const roundsDefault = 5;

export const usage = `bun run bench [options]
  --full            the whole matrix instead of the canonical cells; takes an hour or two
  --only <regex>    cells and probes whose name matches, of all there are
  --rounds <n>      rounds, ${roundsDefault} unless told
  --list            name all cells and probes
  --out <file>      where to write the results; without it a whole run writes bench/results/
  --backlogs <dir>  keep prepared backlogs there, for the next run
  --charts [file]   draw charts from a results file, the latest unless told
  --peers           the same work on other queues; see bench/peers/peers.ts`;

export function readOptions(argv: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      full: { type: "boolean", default: false },
      only: { type: "string" },
      rounds: { type: "string", default: String(roundsDefault) },
      charts: { type: "boolean", default: false },
      peers: { type: "boolean", default: false },
      out: { type: "string" },
      backlogs: { type: "string" },
      list: { type: "boolean", default: false },
    },
  });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw new Error(`--rounds is invalid; expected a number from 1, got '${values.rounds}'`);
  }
  const [file, ...more] = positionals;
  if (more.length > 0 || (file !== undefined && !values.charts)) {
    throw new Error(`unknown argument; got '${more[0] ?? file}'`);
  }
  return {
    full: values.full,
    only: values.only === undefined ? null : new RegExp(values.only),
    rounds,
    charts: values.charts ? (file ?? "") : null,
    peers: values.peers,
    out: values.out ?? null,
    backlogs: values.backlogs ?? null,
    list: values.list,
  };
}
