// Looks for a planted bug with the simulation, in a process of its own.

import { join } from "node:path";
import type { Simulated } from "../simulate.ts";
import type { PlantedBug } from "./bugs.ts";

/** A bug within so many worlds, or the simulation has a hole. */
export const seedsMax = 300;
const steps = 300;
/** A bug that makes the program go in circles may never end by itself. */
const timeoutMs = 300_000;

export interface Caught {
  readonly name: string;
  /** `null`: it was not found. */
  readonly seed: number | null;
  /** That were played until it was. */
  readonly worlds: number | null;
  /** `I1` to `I21`; `""` where the program itself noticed. */
  readonly invariant: string;
  readonly message: string;
}

const root = join(import.meta.dir, "..", "..", "..");

export async function hunt(bug: PlantedBug): Promise<Caught> {
  const { firstSeed = 1 } = bug;
  const child = Bun.spawn(
    [
      process.execPath,
      "--preload",
      join(import.meta.dir, "preload.ts"),
      join(root, "scripts", "sim.ts"),
      ...[
        "--seed",
        String(firstSeed),
        "--seeds",
        String(seedsMax),
        "--steps",
        String(steps),
        "--json",
      ],
      ...(bug.ofNodes ? ["--store", "nodes"] : []),
    ],
    {
      cwd: root,
      env: { ...process.env, HOLDFAST_PLANTED: bug.name },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    },
  );
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  await child.exited;
  const last = output.trim().split("\n").at(-1) ?? "";
  if (!last.startsWith("{")) {
    return {
      name: bug.name,
      seed: null,
      worlds: null,
      invariant: "",
      message: errors || "it did not end",
    };
  }
  const { found } = JSON.parse(last) as Simulated;
  return {
    name: bug.name,
    seed: found?.seed ?? null,
    worlds: found == null ? null : found.seed - firstSeed + 1,
    invariant: found?.invariant ?? "",
    message: found?.message.split("\n")[0] ?? "",
  };
}

/** All of them, some at a time. */
export async function huntAll(
  bugs: readonly PlantedBug[],
  { atOnce, caught }: { atOnce: number; caught: (one: Caught) => void },
): Promise<Caught[]> {
  const all: Caught[] = [];
  const left = [...bugs];
  const work = async (): Promise<void> => {
    for (let bug = left.shift(); bug !== undefined; bug = left.shift()) {
      const one = await hunt(bug);
      all.push(one);
      caught(one);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return all;
}
