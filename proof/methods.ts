// The methods of proof with their sizes: `quick` takes seconds; `short` five minutes on two cores,
// in CI; `ci` half an hour; `nightly` is for faults that only chance finds.

import { proveHistories } from "./histories/histories.ts";
import { proveFullDisks } from "./processes/full-disks.ts";
import { proveKills } from "./processes/kills.ts";
import { proveNodes } from "./processes/nodes.ts";
import { proveSoak } from "./processes/soak.ts";
import { proveSystemCalls } from "./processes/system-calls.ts";
import type { Log, ProofResult } from "./result.ts";
import { proveHostile, provePlanted, proveSimulation, type Worlds } from "./simulation.ts";
import { proveMedia } from "./storage/media.ts";
import { provePowerCuts } from "./storage/power-cuts.ts";

export const sizes = ["quick", "short", "ci", "nightly"] as const;
export type Size = (typeof sizes)[number];

export interface Run {
  readonly seed: number;
  readonly log: Log;
}

export interface Method {
  readonly name: string;
  readonly run: (size: Size, run: Run) => Promise<ProofResult>;
}

/** A method with its counts for each size. */
function method<Counts extends object>(
  name: string,
  prove: (options: Counts & Run) => Promise<ProofResult>,
  counts: Readonly<Record<Size, Counts>>,
): Method {
  return { name, run: (size, run) => prove({ ...counts[size], ...run }) };
}

export const methods: readonly Method[] = [
  method("simulation", (run: Worlds & Run) => proveSimulation({ store: "memory", ...run }), {
    quick: { seeds: 60, steps: 300, everySituation: false },
    short: { seeds: 400, steps: 300, everySituation: true },
    ci: { seeds: 20_000, steps: 300, everySituation: true },
    nightly: { seeds: 1_000_000, steps: 300, everySituation: true },
  }),
  method(
    "simulation over SQLite",
    (run: Worlds & Run) => proveSimulation({ store: "sqlite", ...run }),
    {
      quick: { seeds: 6, steps: 300, everySituation: false },
      short: { seeds: 40, steps: 300, everySituation: false },
      ci: { seeds: 2_000, steps: 300, everySituation: false },
      nightly: { seeds: 40_000, steps: 300, everySituation: true },
    },
  ),
  method(
    "simulation of nodes",
    (run: Worlds & Run) => proveSimulation({ store: "nodes", ...run }),
    {
      quick: { seeds: 6, steps: 300, everySituation: false },
      short: { seeds: 80, steps: 300, everySituation: true },
      ci: { seeds: 2_000, steps: 300, everySituation: true },
      nightly: { seeds: 40_000, steps: 300, everySituation: true },
    },
  ),
  method("planted bugs", provePlanted, {
    quick: { bugs: 2 },
    // As many bugs as time allows; the larger sizes hunt all.
    short: { bugs: 10 },
    ci: { bugs: Number.MAX_SAFE_INTEGER },
    nightly: { bugs: Number.MAX_SAFE_INTEGER },
  }),
  method("kills", proveKills, {
    quick: { kills: 6, items: 1_500 },
    short: { kills: 20, items: 16_000 },
    ci: { kills: 500, items: 200_000 },
    nightly: { kills: 5_000, items: 2_000_000 },
  }),
  method("power cuts", provePowerCuts, {
    quick: { cuts: 100, traces: 1, calls: 150 },
    short: { cuts: 1_000, traces: 2, calls: 400 },
    ci: { cuts: 10_000, traces: 10, calls: 400 },
    nightly: { cuts: 100_000, traces: 100, calls: 400 },
  }),
  method("system calls", proveSystemCalls, {
    quick: { runs: 5 },
    short: { runs: 25 },
    ci: { runs: 300 },
    nightly: { runs: 3_000 },
  }),
  method("full disks", proveFullDisks, {
    quick: { disks: 2, fills: 2 },
    short: { disks: 4, fills: 4 },
    ci: { disks: 20, fills: 10 },
    nightly: { disks: 200, fills: 20 },
  }),
  method("media", proveMedia, {
    quick: { truncations: 100, flips: 100 },
    short: { truncations: 1_200, flips: 1_000 },
    ci: { truncations: 5_000, flips: 4_000 },
    nightly: { truncations: 50_000, flips: 40_000 },
  }),
  method("histories", proveHistories, {
    quick: { operations: 6_000, clients: 16, restarts: 2, blackBox: 32 },
    short: { operations: 150_000, clients: 64, restarts: 6, blackBox: 200 },
    ci: { operations: 1_000_000, clients: 64, restarts: 20, blackBox: 2_000 },
    nightly: { operations: 10_000_000, clients: 64, restarts: 200, blackBox: 20_000 },
  }),
  method("hostile input", proveHostile, {
    quick: { bodies: 250, rawRequests: 200 },
    short: { bodies: 10_000, rawRequests: 1_500 },
    ci: { bodies: 100_000, rawRequests: 10_000 },
    nightly: { bodies: 10_000_000, rawRequests: 500_000 },
  }),
  method("soak", proveSoak, {
    quick: { loadSeconds: 2, waitingLeases: 100, waitingSeconds: 0.5 },
    short: { loadSeconds: 20, waitingLeases: 1_000, waitingSeconds: 40 },
    ci: { loadSeconds: 120, waitingLeases: 1_000, waitingSeconds: 300 },
    nightly: { loadSeconds: 7_200, waitingLeases: 1_000, waitingSeconds: 850 },
  }),
  method("nodes", proveNodes, {
    quick: { disturbances: 3 },
    short: { disturbances: 8 },
    ci: { disturbances: 60 },
    nightly: { disturbances: 2_000 },
  }),
];
