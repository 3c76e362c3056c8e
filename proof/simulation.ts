// Runs simulated worlds in one process per core, the planted bugs that they must find, and hostile
// input.

import { availableParallelism } from "node:os";
import { join } from "node:path";
import { plantedBugs } from "../engine/simulation/planted/bugs.ts";
import { huntAll } from "../engine/simulation/planted/hunt.ts";
import type { Simulated } from "../engine/simulation/simulate.ts";
import { nodeSituationNames, Situations, situationNames } from "../engine/simulation/situations.ts";
import { hostile } from "./hostile/hostile.ts";
import { type Log, type ProofResult, stopwatch } from "./result.ts";

/** Seeds per process; the situations of all processes are merged. */
const sliceMax = 250;
/** Seeds of different runs do not overlap. */
const seedsPerRun = 10_000_000;
const root = join(import.meta.dir, "..");

const methodOf = {
  memory: "simulation",
  sqlite: "simulation over SQLite",
  nodes: "simulation of nodes",
} as const;
type WorldStore = keyof typeof methodOf;

interface Slice {
  readonly store: WorldStore;
  readonly firstSeed: number;
  readonly seeds: number;
  readonly steps: number;
}

type SliceReport = Simulated & { readonly situations: Readonly<Record<string, number>> };

export interface Worlds {
  readonly seeds: number;
  readonly steps: number;
  /** Every known situation must be reached. */
  readonly everySituation: boolean;
}

interface SimulationOptions extends Worlds {
  readonly store: WorldStore;
  readonly seed: number;
  readonly log: Log;
}

export async function proveSimulation(options: SimulationOptions): Promise<ProofResult> {
  const { store, seeds, steps, seed, log } = options;
  const elapsed = stopwatch();
  const slices: Slice[] = [];
  for (let done = 0; done < seeds; done += sliceMax) {
    const firstSeed = (seed - 1) * seedsPerRun + 1 + done;
    slices.push({ store, firstSeed, seeds: Math.min(sliceMax, seeds - done), steps });
  }
  const sums = { calls: 0, storeFaults: 0, kills: 0, commits: 0, milliseconds: 0, images: 0 };
  const names = store === "nodes" ? nodeSituationNames : situationNames;
  const situations = new Situations(names);
  const faults: string[] = [];
  let worlds = 0;
  const work = async (): Promise<void> => {
    for (let slice = slices.shift(); slice !== undefined; slice = slices.shift()) {
      const firstLine = await runSlice(slice);
      worlds += firstLine.worlds;
      for (const name of Object.keys(sums) as (keyof typeof sums)[])
        sums[name] += firstLine.sums[name];
      situations.add(firstLine.situations);
      if (firstLine.found !== null) faults.push(faultOf(slice, firstLine.found));
      log(`${worlds} of ${seeds} worlds`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  const { missing } = situations;
  if (options.everySituation && missing.length > 0) {
    faults.push(`situations were not reached: ${missing.join("; ")}`);
  }
  const { milliseconds, ...counts } = sums;
  return {
    method: methodOf[store],
    seconds: elapsed(),
    seed,
    figures: {
      worlds,
      steps: worlds * steps,
      ...counts,
      simulatedYears: Math.round(milliseconds / 31_557_600_000),
      situationsReached: names.length - missing.length,
      situationsNamed: names.length,
    },
    faults,
  };
}

function faultOf({ store, steps }: Slice, { seed, message }: { seed: number; message: string }) {
  const firstLine = message.split("\n")[0];
  return `${firstLine}; bun run sim --seed ${seed} --steps ${steps} --store ${store}`;
}

async function runSlice({ store, firstSeed, seeds, steps }: Slice): Promise<SliceReport> {
  const child = Bun.spawn(
    [
      process.execPath,
      join(root, "scripts", "sim.ts"),
      ...["--seed", String(firstSeed), "--seeds", String(seeds)],
      ...["--steps", String(steps), "--store", store, "--json"],
    ],
    { cwd: root, stdio: ["ignore", "pipe", "inherit"] },
  );
  const output = await new Response(child.stdout).text();
  await child.exited;
  const last = output.trim().split("\n").at(-1) ?? "";
  if (!last.startsWith("{")) {
    throw new Error(`a simulation ended without a report; seeds from ${firstSeed}`);
  }
  return JSON.parse(last) as SliceReport;
}

/**
 * Bugs spread over the list, because neighbours are similar; each seed selects others, until each
 * had its turn. The worlds in which a bug is hunted never change, so a bug that few worlds find is
 * found in each run.
 */
export function bugsOf<T>(all: readonly T[], { bugs, seed }: { bugs: number; seed: number }): T[] {
  const step = Math.max(1, Math.ceil(all.length / bugs));
  const first = ((seed % step) + step) % step;
  return all.filter((_, index) => index % step === first);
}

export async function provePlanted(options: {
  readonly bugs: number;
  readonly seed: number;
  readonly log: Log;
}): Promise<ProofResult> {
  const elapsed = stopwatch();
  const bugs = bugsOf(plantedBugs, options);
  const results = await huntAll(bugs, {
    atOnce: availableParallelism(),
    hunted: ({ name, seed, invariant }) => options.log(`${name}: seed ${seed}, ${invariant}`),
  });
  const found = results.flatMap(({ worlds }) => worlds ?? []);
  return {
    method: "planted bugs",
    seconds: elapsed(),
    seed: options.seed,
    figures: {
      planted: bugs.length,
      found: found.length,
      foundByTheFirstSeed: found.filter((worlds) => worlds === 1).length,
      seedsAtMost: Math.max(0, ...found),
      ...Object.fromEntries(
        results.map(({ name, worlds }) => [`seeds until ${name}`, worlds ?? -1]),
      ),
    },
    faults: results
      .filter(({ seed }) => seed === null)
      .map(({ name, message }) => `a planted bug was not found; ${name}; ${message}`),
  };
}

export async function proveHostile(options: {
  readonly bodies: number;
  readonly rawRequests: number;
  readonly seed: number;
  readonly log: Log;
}): Promise<ProofResult> {
  const elapsed = stopwatch();
  const { figures, faults } = await hostile(options);
  return { method: "hostile input", seconds: elapsed(), seed: options.seed, figures, faults };
}
