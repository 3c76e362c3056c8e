// Plays many worlds, one after the other.

import { Violation } from "./auditor.ts";
import { openWorldStores } from "./disk.ts";
import { runGoingBack } from "./going-back.ts";
import type { Situations } from "./situations.ts";
import { runWorld, type Scenario, type WorldReport } from "./world.ts";

export interface SimulateOptions {
  readonly firstSeed: number;
  readonly seeds: number;
  readonly steps: number;
  /** `going-back`: in memory, and the disk of a shard returns to earlier states. */
  readonly store: "memory" | "sqlite" | "going-back";
  /** The scenario of each world; absent = one process. */
  readonly scenario?: (seed: number) => Scenario;
  readonly situations: Situations;
  /** Receives each event. */
  readonly trace?: (line: string) => void;
  /** Called after each world; `false` ends the run. */
  readonly went?: (seed: number) => boolean;
}

export interface FoundViolation {
  readonly seed: number;
  /** `I1` to `I23`, or `""` if the program itself failed. */
  readonly invariant: string;
  readonly message: string;
}

export interface Simulated {
  readonly worlds: number;
  readonly sums: WorldReport & { readonly images: number };
  readonly found: FoundViolation | null;
}

/** Stops at the first world with a violation. */
export async function simulate(options: SimulateOptions): Promise<Simulated> {
  const { firstSeed, seeds, steps, situations, trace, went } = options;
  const sums = { calls: 0, storeFaults: 0, kills: 0, commits: 0, milliseconds: 0, images: 0 };
  for (let index = 0; index < seeds; index += 1) {
    const seed = firstSeed + index;
    const stores = options.store === "sqlite" ? openWorldStores(seed) : null;
    try {
      const world = { seed, steps, ...(trace === undefined ? {} : { trace }) };
      const report = await (options.store === "going-back"
        ? runGoingBack(world)
        : runWorld({
            ...world,
            situations,
            ...(stores === null ? {} : { openStore: stores.open }),
            ...(options.scenario === undefined ? {} : { scenario: options.scenario(seed) }),
          }));
      sums.calls += report.calls;
      sums.storeFaults += report.storeFaults;
      sums.kills += report.kills;
      sums.commits += report.commits;
      sums.milliseconds += report.milliseconds;
    } catch (cause) {
      const invariant = cause instanceof Violation ? cause.invariant : "";
      const message = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
      return { worlds: index + 1, sums, found: { seed, invariant, message } };
    } finally {
      if (stores !== null) {
        sums.images += stores.images;
        await stores.remove();
      }
    }
    if (went?.(seed) === false) return { worlds: index + 1, sums, found: null };
  }
  return { worlds: seeds, sums, found: null };
}
