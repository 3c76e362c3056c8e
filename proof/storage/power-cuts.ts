// Replays power cuts. A program with the real engine and store runs once under strace. From the
// trace, the files are rebuilt as a cut at any moment may have left them. Each time the store is
// opened, and must hold everything acknowledged before. The control is the same with durability
// `normal`, which must be seen to lose items; otherwise the method would be blind.
//
// The engine runs in one thread, not behind HTTP: the subject is what the store syncs before an
// answer, and one thread gives the trace one order. Other threads only sync. The server's part is
// to pass on the answer, which `kills.ts` covers.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Random } from "../../engine/model/random.ts";
import { createShards } from "../../engine/simulation/all-shards.ts";
import { seededRandom } from "../../engine/simulation/seeded-random.ts";
import { memoryFolder } from "../../testing/memory-folder.ts";
import { whyUntraceable } from "../processes/strace.ts";
import { Faults, type Log, type ProofResult, skippedResult, stopwatch } from "../result.ts";
import { CutDisk, type Survival } from "./cut-disk.ts";
import { Expected } from "./expected.ts";
import { readStores } from "./store-contents.ts";
import type { Note } from "./store-load.ts";
import { readTrace, type TracedCall, traceCommand } from "./trace.ts";

export interface PowerCutOptions {
  readonly cuts: number;
  readonly traces: number;
  /** Calls of the traced load. */
  readonly calls: number;
  readonly seed: number;
  readonly log: Log;
}

type Durability = "full" | "normal";

const method = "power cuts";
const program = join(import.meta.dir, "traced-load.ts");
const shards = 2;
/** One cut in this many is also opened by an engine, not only by the store. */
const engineEvery = 40;

export async function provePowerCuts(options: PowerCutOptions): Promise<ProofResult> {
  const { cuts, traces, seed, log } = options;
  const elapsed = stopwatch();
  const skipped = whyUntraceable();
  if (skipped !== null) return skippedResult(method, seed, skipped);
  const faults = new Faults();
  const full: Tally = { cuts: 0, atRisk: 0, writes: 0, syncs: 0, lossy: 0 };
  const normal: Tally = { cuts: 0, atRisk: 0, writes: 0, syncs: 0, lossy: 0 };
  for (let trace = 0; trace < traces; trace += 1) {
    const share = Math.round(cuts / traces);
    const shared = { ...options, seed: seed + trace, cuts: share, faults } as const;
    await replay({ ...shared, durability: "full", tally: full });
    await replay({ ...shared, durability: "normal", tally: normal, cuts: Math.ceil(share / 10) });
    log(
      `${full.cuts} power cuts, ${full.lossy} with a loss; control ${normal.lossy} of ${normal.cuts}`,
    );
  }
  if (normal.lossy === 0) {
    faults.add("the control lost nothing", "durability normal; so this method cannot see a loss");
  }
  return {
    method,
    seconds: elapsed(),
    seed,
    figures: {
      cuts: full.cuts,
      cutsWithUnsynced: full.atRisk,
      traces,
      writesTraced: full.writes,
      syncsTraced: full.syncs,
      lossyCuts: full.lossy,
      controlCuts: normal.cuts,
      controlLossyCuts: normal.lossy,
    },
    faults: faults.list(`--only 'power cuts' --seed ${seed}`),
  };
}

interface Tally {
  cuts: number;
  /** Cuts with unsynced writes. */
  atRisk: number;
  writes: number;
  syncs: number;
  /** Cuts after which acknowledged state was lost. */
  lossy: number;
}

interface ReplayOptions extends PowerCutOptions {
  readonly durability: Durability;
  readonly tally: Tally;
  readonly faults: Faults;
}

async function replay(options: ReplayOptions): Promise<void> {
  const { tally, faults, cuts, seed } = options;
  const folder = mkdtempSync(join(memoryFolder(), "holdfast-cuts-"));
  try {
    const traced = await record(folder, options);
    tally.writes += traced.filter(({ kind }) => kind === "write").length;
    tally.syncs += traced.filter(({ kind }) => kind === "sync").length;
    const random = seededRandom(seed);
    const moments = Array.from({ length: cuts }, () => 1 + random.below(traced.length)).sort(
      (a, b) => a - b,
    );
    const disk = new CutDisk();
    const expected = new Expected();
    const decoder = new TextDecoder();
    let next = 0;
    for (const [index, call] of traced.entries()) {
      if (basename(call.path) === "notes") {
        if (call.kind === "append") expected.take(JSON.parse(decoder.decode(call.bytes)) as Note);
      } else {
        disk.apply(call);
      }
      for (; moments[next] === index + 1; next += 1) {
        tally.cuts += 1;
        if (disk.unsyncedCount > 0) tally.atRisk += 1;
        const withEngine = tally.cuts % engineEvery === 0;
        const found = await cutHere({ ...options, folder, disk, expected, random, withEngine });
        if (found.total > 0) tally.lossy += 1;
        if (options.durability === "full") {
          for (const fault of found.list(`trace ${seed}, call ${index + 1} of ${traced.length}`)) {
            const [kind = "", ...detail] = fault.split("; ");
            faults.add(kind, detail.join("; "));
          }
        }
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function record(
  folder: string,
  { durability, seed, calls }: ReplayOptions,
): Promise<TracedCall[]> {
  const file = join(folder, "trace");
  const traced = join(folder, "traced");
  mkdirSync(join(traced, "data"), { recursive: true });
  const command = [process.execPath, program, traced, durability, `${seed}`, `${calls}`];
  const child = Bun.spawn([...traceCommand(file), ...command], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = await new Response(child.stderr).text();
  const code = await child.exited;
  if (code !== 0) throw new Error(`the traced program ended with ${code}; ${said.slice(0, 500)}`);
  const read = readTrace(readFileSync(file), traced);
  rmSync(file);
  return read;
}

interface CutOptions {
  readonly folder: string;
  readonly disk: CutDisk;
  readonly expected: Expected;
  readonly durability: Durability;
  readonly random: Random;
  readonly withEngine: boolean;
}

async function cutHere(options: CutOptions): Promise<Faults> {
  const { folder, disk, expected, durability, random, withEngine } = options;
  const survivals: readonly Survival[] = ["all", "none", "some", "some", "some", "some"];
  const files = disk.cut(random, survivals[random.below(survivals.length)] ?? "some");
  const directory = join(folder, "found");
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory);
  for (const [path, bytes] of files) writeFileSync(join(directory, basename(path)), bytes);
  try {
    if (withEngine) await openAndClose(directory, durability);
    return expected.check(await readStores({ directory, shards, durability }));
  } catch (cause) {
    const faults = new Faults();
    const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause.message : "";
    faults.add("the store does not open after a power cut", `${cause} ${inner}`);
    return faults;
  }
}

/** The work of an engine at its start must leave all items in place. */
async function openAndClose(directory: string, durability: Durability): Promise<void> {
  const store = { kind: "sqlite", directory, durability, ballastBytes: 0 } as const;
  const engine = await createShards({ store, shards });
  await engine.close();
}
