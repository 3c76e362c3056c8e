// Measurements other than cells: each answers one question, once per round.

import { shortCount } from "../cells/cells.ts";
import type { RunOptions } from "../cells/run-cell.ts";
import type { Figures } from "../report/results.ts";
import { gather } from "./gather.ts";
import { closedGroups, groupMemory, groupRates, groupTurns } from "./groups.ts";
import { keys } from "./keys.ts";
import { forwarded, spread, takeover } from "./nodes.ts";
import { priorities } from "./priorities.ts";
import { shardThreads } from "./shard-threads.ts";
import { drain, start, wake } from "./single-server.ts";
import { slowDisk } from "./slow-disk.ts";
import { stages } from "./stages.ts";
import { compareWithWrk } from "./wrk.ts";

export interface Probe {
  readonly name: string;
  /** Part of the run without options. */
  readonly canonical?: boolean;
  /** The store of its items; default SQLite. */
  readonly store?: "postgres";
  readonly run: (options: RunOptions) => Promise<Figures>;
}

/** One probe for each size, with the size in its name. */
function each(
  name: string,
  sizes: readonly number[],
  run: (size: number, options: RunOptions) => Promise<Figures>,
): Probe[] {
  return sizes.map((size) => ({ name: name + size, run: (options) => run(size, options) }));
}

export const probes: readonly Probe[] = [
  { name: "wake", canonical: true, run: wake },
  ...[0, 1_000_000, 10_000_000].map((items) => ({
    name: `start b${shortCount(items)}`,
    canonical: items < 10_000_000,
    run: (options: RunOptions) => start(items, options),
  })),
  ...[1_000, 1_000_000].map((items) => ({
    name: `drain ${shortCount(items)}`,
    run: (options: RunOptions) => drain(items, options),
  })),
  ...each("stages ", [1, 10, 100, 1_000], stages),
  ...each("slow disk ", [1, 100], slowDisk),
  ...each("keys ", [1, 100], keys),
  ...each("priorities ", [1, 100], priorities),
  ...each("groups ", [1, 100], groupRates),
  ...each("groups closed ", [99_999], closedGroups),
  ...each("groups memory ", [1_000_000], groupMemory),
  ...each("groups turns ", [1_000_000], groupTurns),
  ...each("shard threads ", [1, 10], shardThreads),
  ...each("gather ", [64, 256], gather),
  ...[
    { name: "nodes takeover", run: takeover },
    { name: "nodes spread", run: spread },
    ...each("nodes forwarded ", [1, 100], forwarded),
  ].map((probe) => ({ ...probe, store: "postgres" as const })),
  { name: "client", run: compareWithWrk },
];
