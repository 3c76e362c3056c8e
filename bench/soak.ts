// `bun bench/soak.ts [--minutes 60] [--out <file>]`: checks whether a server becomes slower or
// larger while it works. It finds the highest rate first, then holds half of it: produce, lease and
// complete at once, 100 items per call, on one queue. It reports each tenth of the time; compare
// the last with the first. The proof's soak checks that each item is delivered once.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { usageOf } from "../testing/process-usage.ts";
import { folderBytes } from "./cells/run-cell.ts";
import { createQueue } from "./load/calls.ts";
import type { PhaseResult } from "./load/commands.ts";
import { type Loaded, withServer } from "./load/loaded-server.ts";
import { type Figures, summarize, writeMeasurements } from "./report/results.ts";
import { median } from "./report/statistics.ts";
import { partsTable, rate } from "./report/tables.ts";

const parts = 10;
/** Runs at full speed: the first ones compile code, and the best one is the highest rate. */
const fullRuns = 10;
const fullItems = 200_000;
/** Slice of the load, so that it is even over each second. */
const sliceMs = 250;
const work = { queue: "soak", itemsPerCall: 100, connections: 64 };
const verbs = ["produce", "lease", "complete"] as const;

async function highestRate({ port, load }: Loaded): Promise<number> {
  await load.prepare(port, { ...work, items: fullItems });
  let highest = 0;
  for (let run = 0; run < fullRuns; run += 1) {
    highest = Math.max(highest, fullItems / (await load.run("together")).seconds);
  }
  return highest;
}

async function soakPart(
  { server, load, data }: Loaded,
  { ms, items }: { readonly ms: number; readonly items: number },
): Promise<Figures> {
  const before = usageOf(server.pid);
  const begin = performance.now();
  const slices: PhaseResult[] = [];
  while (performance.now() - begin < ms) {
    const next = performance.now() + sliceMs;
    slices.push(await load.run("together"));
    await Bun.sleep(Math.max(0, next - performance.now()));
  }
  const seconds = (performance.now() - begin) / 1_000;
  const { cpuSeconds, memoryBytes } = usageOf(server.pid);
  const p99s = verbs.map((verb) => [
    `${verb}.p99Ms`,
    median(slices.map((slice) => slice[verb].p99Ms)),
  ]);
  return {
    itemsPerSecond: (slices.length * items) / seconds,
    ...Object.fromEntries(p99s),
    cpuShare: (cpuSeconds - before.cpuSeconds) / seconds,
    memoryBytes,
    diskBytes: folderBytes(data),
  };
}

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "60" }, out: { type: "string" } },
});
const minutes = Number(values.minutes);
if (!(minutes > 0))
  throw new Error(`--minutes is invalid; expected above 0, got '${values.minutes}'`);

const directory = mkdtempSync(join(tmpdir(), "holdfast-soak-"));
const measured: Figures[] = [];
try {
  const highest = await withServer({ directory }, async (loaded) => {
    await createQueue(loaded.port, work.queue);
    const found = await highestRate(loaded);
    const calls = Math.round((found * sliceMs) / 2_000 / work.itemsPerCall);
    const items = calls * work.itemsPerCall;
    await loaded.load.prepare(loaded.port, { ...work, items });
    console.error(`highest rate ${rate(found)} items/s; half of it for ${minutes} minutes`);
    for (let part = 0; part < parts; part += 1) {
      const figures = await soakPart(loaded, { ms: (minutes * 60_000) / parts, items });
      measured.push(figures);
      const itemsPerSecond = rate(figures["itemsPerSecond"] ?? 0);
      console.error(`part ${part + 1} of ${parts}: ${itemsPerSecond} items/s`);
    }
    return found;
  });
  console.log(partsTable("part", measured));
  const results = {
    command: `bun bench/soak.ts --minutes ${minutes}`,
    directory,
    settings: { minutes, parts, highest: Math.round(highest), durability: "full" },
    measurements: measured.map((figures, part) => ({
      name: `part ${part + 1}`,
      figures: summarize([figures]),
    })),
  };
  await writeMeasurements(results, { ending: "-soak.json", path: values.out });
} finally {
  rmSync(directory, { recursive: true, force: true });
}
