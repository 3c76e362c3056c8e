// Plausible bugs, each a patch of one source file in `patches/`. The simulation must find all of
// them: a bug that it misses breaks a promise that it does not check. Only a hunt plants them
// (`preload.ts`).
//
// A patch begins with the bug's name. Lines such as `store: nodes` and `first seed: 101` follow if
// its worlds need that, then an empty line and the output of `git diff`.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface PlantedBug {
  readonly name: string;
  /** The path of the patch. */
  readonly patch: string;
  /** From the root of the sources. */
  readonly file: string;
  /** The store of the worlds that show it; `null` = any. */
  readonly store: string | null;
  /** The first seed to play, for bugs that few worlds show; by default 1. */
  readonly firstSeed: number;
}

const folder = join(import.meta.dir, "patches");

export const plantedBugs: readonly PlantedBug[] = readdirSync(folder)
  .sort()
  .map((file) => readBug(join(folder, file)));

function readBug(patch: string): PlantedBug {
  const text = readFileSync(patch, "utf8");
  const [head = ""] = text.split("\n\n");
  const [, file] = /^\+\+\+ b\/(.+)$/m.exec(text) ?? [];
  if (file === undefined) throw new Error(`no patch of a source file; got ${patch}`);
  const [name = ""] = head.split("\n");
  const [, store = null] = /^store: (.+)$/m.exec(head) ?? [];
  const [, firstSeed = "1"] = /^first seed: (\d+)$/m.exec(head) ?? [];
  return { name, patch, file, store, firstSeed: Number(firstSeed) };
}
