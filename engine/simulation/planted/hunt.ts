// Hunts a planted bug with the simulation, in a separate process.

import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Simulated } from "../simulate.ts";
import type { PlantedBug } from "./bugs.ts";

/** The simulation must find a bug within this many worlds. */
export const seedsMax = 300;
/** Worlds per process, so that the timeout does not apply to the whole hunt. */
const seedsAtOnce = 25;
const steps = 300;
/** Per process, because a bug may cause an endless loop. */
const timeoutMs = 300_000;

export interface HuntResult {
  readonly name: string;
  /** `null` = not found. */
  readonly seed: number | null;
  /** The number of worlds until it was found. */
  readonly worlds: number | null;
  /** `I1` to `I29`; `""` if the program itself failed. */
  readonly invariant: string;
  readonly message: string;
}

const root = join(import.meta.dir, "..", "..", "..");

export async function hunt(bug: PlantedBug): Promise<HuntResult> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-planted-"));
  try {
    return await huntWith(bug, plant(bug, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Applies the patch to a copy of its file. Returns the path of the copy. */
export function plant({ patch, file }: PlantedBug, folder: string): string {
  const copy = join(folder, file);
  mkdirSync(dirname(copy), { recursive: true });
  copyFileSync(join(root, file), copy);
  // Inside a repository, git would treat the folder as part of it.
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(folder) };
  const { exitCode, stderr } = Bun.spawnSync(["git", "apply", patch], { cwd: folder, env });
  if (exitCode !== 0) throw new Error(`the patch does not apply; ${stderr}`);
  return copy;
}

async function huntWith(bug: PlantedBug, changed: string): Promise<HuntResult> {
  const { name, firstSeed } = bug;
  const none = { name, seed: null, worlds: null, invariant: "", message: "" };
  for (let played = 0; played < seedsMax; played += seedsAtOnce) {
    const { output, errors } = await play(bug, changed, firstSeed + played);
    const last = output.trim().split("\n").at(-1) ?? "";
    if (!last.startsWith("{")) return { ...none, message: errors || "it did not end" };
    const { found } = JSON.parse(last) as Simulated;
    if (found === null) continue;
    const { seed, invariant, message } = found;
    const [firstLine = ""] = message.split("\n");
    return { name, seed, worlds: seed - firstSeed + 1, invariant, message: firstLine };
  }
  return none;
}

async function play(
  { file, store }: PlantedBug,
  changed: string,
  firstSeed: number,
): Promise<{ readonly output: string; readonly errors: string }> {
  const child = Bun.spawn(
    [
      ...[process.execPath, "--preload", join(import.meta.dir, "preload.ts")],
      join(root, "scripts", "sim.ts"),
      ...["--seed", String(firstSeed), "--seeds", String(seedsAtOnce)],
      ...["--steps", String(steps), "--json"],
      ...(store === null ? [] : ["--store", store]),
    ],
    {
      cwd: root,
      env: {
        ...process.env,
        HOLDFAST_PLANTED: changed,
        HOLDFAST_PLANTED_FOR: join(root, file),
      },
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
  return { output, errors };
}

/** Hunts all bugs, `atOnce` at a time. */
export async function huntAll(
  bugs: readonly PlantedBug[],
  { atOnce, hunted }: { atOnce: number; hunted: (result: HuntResult) => void },
): Promise<HuntResult[]> {
  const all: HuntResult[] = [];
  const left = [...bugs];
  const work = async (): Promise<void> => {
    for (let bug = left.shift(); bug !== undefined; bug = left.shift()) {
      const result = await hunt(bug);
      all.push(result);
      hunted(result);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return all;
}
