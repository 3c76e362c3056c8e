// Damages files at rest: flips bits and truncates the log, then opens the store. It may refuse, set
// items aside, report the number of missing items, or return all acknowledged items unchanged, and
// nothing else. Only damage in the last commit of the log may lose that commit, because a crash may
// leave the same; the figures count how often that happened.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createEngine } from "../../engine/embed.ts";
import type { Random } from "../../engine/model/random.ts";
import { seededRandom } from "../../engine/simulation/seeded-random.ts";
import { scanWalBytes } from "../../stores/sqlite/wal-scan.ts";
import { StoreError } from "../../stores/store.ts";
import { memoryFolder } from "../../testing/memory-folder.ts";
import { Faults, type Log, type ProofResult, stopwatch } from "../result.ts";
import { Expected } from "./expected.ts";
import { readStores, type StoreContents } from "./store-contents.ts";
import { runStoreLoad } from "./store-load.ts";

export interface MediaOptions {
  readonly truncations: number;
  /** Half of them in the database file, half in its log. */
  readonly flips: number;
  readonly seed: number;
  readonly log: Log;
}

/** The files of one shard as left by a killed server, and their contents. */
export interface Base {
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly expected: Expected;
}

export type Damage =
  | { readonly kind: "truncate log"; readonly size: number }
  | { readonly kind: "flip in log" | "flip in file"; readonly bit: number };

/**
 * `miscounted`: items are missing, and a start reports how many. `cut`: only the last commit of the
 * log is missing.
 */
type Effect = "refused" | "set aside" | "miscounted" | "unharmed" | "cut" | "silent";

const file = "shard-0.db";
const log = `${file}-wal`;
/** Trials per set of files. */
const trialsPerBase = 1_000;
const callsPerBase = 500;

export async function proveMedia({
  truncations,
  flips,
  seed,
  log,
}: MediaOptions): Promise<ProofResult> {
  const elapsed = stopwatch();
  const random = seededRandom(seed);
  const faults = new Faults();
  const figures: Record<string, number> = { truncations, flips };
  const total = truncations + flips;
  const folder = mkdtempSync(join(memoryFolder(), "holdfast-media-"));
  try {
    let base: Base | null = null;
    for (let trial = 0; trial < total; trial += 1) {
      if (base === null || trial % trialsPerBase === 0) {
        base = await makeBase(join(folder, "base"), seed + trial);
        log(`${trial} of ${total} trials`);
      }
      const damage = chooseDamage(trial < truncations, base, random);
      const effect = await effectOf({ base, damage, directory: join(folder, "trial"), faults });
      const name = `${damage.kind}: ${effect}`;
      figures[name] = (figures[name] ?? 0) + 1;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return {
    method: "media",
    seconds: elapsed(),
    seed,
    figures,
    faults: faults.list(`--only media --seed ${seed}`),
  };
}

/** The files are read before the engine is closed, as if it had been killed. */
export async function makeBase(directory: string, seed: number): Promise<Base> {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const store = { kind: "sqlite", directory, ballastBytes: 0 } as const;
  const engine = await createEngine({ store });
  const expected = new Expected();
  const random = seededRandom(seed);
  const calls = callsPerBase + random.below(callsPerBase / 5);
  await runStoreLoad(engine, {
    random,
    calls,
    clients: 3,
    batchMax: 8,
    note: (note) => expected.take(note),
  });
  const files = new Map<string, Uint8Array>();
  for (const name of new Bun.Glob("*").scanSync(directory)) {
    files.set(name, new Uint8Array(readFileSync(join(directory, name))));
  }
  await engine.close();
  return { files, expected };
}

function bytesOf({ files }: Base, name: string): Uint8Array {
  return files.get(name) ?? new Uint8Array();
}

function chooseDamage(isTruncation: boolean, base: Base, random: Random): Damage {
  if (isTruncation) return { kind: "truncate log", size: random.below(bytesOf(base, log).length) };
  const kind = random.below(2) === 0 ? "flip in log" : "flip in file";
  const { length } = bytesOf(base, kind === "flip in log" ? log : file);
  return { kind, bit: random.below(length * 8) };
}

function damaged(base: Base, damage: Damage): Map<string, Uint8Array> {
  const files = new Map(base.files);
  if (damage.kind === "truncate log") {
    files.set(log, bytesOf(base, log).subarray(0, damage.size));
    return files;
  }
  const name = damage.kind === "flip in log" ? log : file;
  const bytes = bytesOf(base, name).slice();
  bytes[damage.bit >> 3] = (bytes[damage.bit >> 3] ?? 0) ^ (1 << (damage.bit & 7));
  files.set(name, bytes);
  return files;
}

export async function effectOf({
  base,
  damage,
  directory,
  faults,
}: {
  readonly base: Base;
  readonly damage: Damage;
  readonly directory: string;
  readonly faults: Faults;
}): Promise<Effect> {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  for (const [name, bytes] of damaged(base, damage)) writeFileSync(join(directory, name), bytes);
  let contents: StoreContents;
  try {
    contents = await readStores({ directory, shards: 1, durability: "full" });
  } catch (cause) {
    if (cause instanceof StoreError) return "refused";
    throw cause;
  }
  const found = base.expected.check(contents);
  if (found.total === 0) return contents.damaged > 0 ? "set aside" : "unharmed";
  const isChanged = contents.changed.length > 0;
  if (!isChanged && found.total <= contents.damaged) return "set aside";
  if (!isChanged && found.total <= contents.damaged + contents.miscounted) return "miscounted";
  if (!isChanged && isInLastCommit(base, damage)) return "cut";
  for (const fault of found.list(JSON.stringify(damage)))
    faults.add(`${damage.kind}: silent`, fault);
  return "silent";
}

const headerBytes = 32;
const frameHeaderBytes = 24;

/** Whether the damage is within the last commit of the log, with everything before it whole. */
function isInLastCommit(base: Base, damage: Damage): boolean {
  if (damage.kind === "flip in file") return false;
  const at = damage.kind === "truncate log" ? damage.size : damage.bit >> 3;
  return at >= lastCommitStart(bytesOf(base, log));
}

function lastCommitStart(bytes: Uint8Array): number {
  const fields = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const { frames } = scanWalBytes(bytes);
  const frameBytes = frameHeaderBytes + fields.getUint32(8);
  let start = headerBytes;
  for (let frame = 0; frame < frames - 1; frame += 1) {
    const at = headerBytes + frame * frameBytes;
    if (fields.getUint32(at + 4) !== 0) start = at + frameBytes;
  }
  return start;
}
