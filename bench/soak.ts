// `bun bench/soak.ts [--minutes 60] [--out <file>]`: does a server get slower or larger while it
// works? The highest rate is found first, then half of it is kept up: produce, lease and complete of
// 100 items a call at once, on one queue. Figures for each tenth of the time; what matters is the
// last against the first. Whether each item was delivered once is for the proof's soak to say.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createQueue } from "./calls.ts";
import { Connection } from "./http-client.ts";
import { LoadProcess } from "./load-process.ts";
import type { Work } from "./orders.ts";
import { usageOf } from "./process-usage.ts";
import { headOf, soakEnding, summarize, writeResults } from "./results.ts";
import { type Figures, folderBytes } from "./run-cell.ts";
import { type ServerProcess, startServer } from "./server-process.ts";
import { median } from "./statistics.ts";
import { markdownTable, rate } from "./table.ts";

const parts = 10;
/** As fast as it can: code is compiled in the first ones, and the best of all is the highest rate. */
const fullRuns = 10;
const fullItems = 200_000;
/** Of the load, so that it is even over each second. */
const sliceMs = 250;
const work = { queue: "soak", itemsPerCall: 100, payloadBytes: 100, connections: 64, backlog: 0 };

interface Soaked {
  readonly server: ServerProcess;
  readonly load: LoadProcess;
  readonly data: string;
}

async function highestRate({ server, load }: Soaked): Promise<number> {
  await load.prepare(server.port, { ...work, items: fullItems });
  let highest = 0;
  for (let run = 0; run < fullRuns; run += 1) {
    highest = Math.max(highest, fullItems / (await load.run("together")).seconds);
  }
  return highest;
}

async function soakPart(
  { server, load, data }: Soaked,
  { ms, items }: { readonly ms: number; readonly items: number },
): Promise<Figures> {
  const before = usageOf(server.pid);
  const begin = performance.now();
  const p99Ms: Record<"produce" | "lease" | "complete", number[]> = {
    produce: [],
    lease: [],
    complete: [],
  };
  let slices = 0;
  for (; performance.now() - begin < ms; slices += 1) {
    const next = performance.now() + sliceMs;
    const result = await load.run("together");
    for (const verb of ["produce", "lease", "complete"] as const) {
      p99Ms[verb].push(result[verb].p99Ms);
    }
    await Bun.sleep(Math.max(0, next - performance.now()));
  }
  const seconds = (performance.now() - begin) / 1_000;
  const { cpuSeconds, memoryBytes } = usageOf(server.pid);
  return {
    itemsPerSecond: (slices * items) / seconds,
    "produce.p99Ms": median(p99Ms.produce),
    "lease.p99Ms": median(p99Ms.lease),
    "complete.p99Ms": median(p99Ms.complete),
    cpuShare: (cpuSeconds - before.cpuSeconds) / seconds,
    memoryBytes,
    diskBytes: folderBytes(data),
  };
}

function tableOf(measured: readonly Figures[]): string {
  const names = Object.keys(measured[0] ?? {});
  const rows = names.map((name) => {
    const figures = measured.map((part) => part[name] ?? 0);
    const ratio = (figures.at(-1) ?? 0) / (figures[0] ?? 1);
    return [name, ...figures.map((figure) => rate(figure)), ratio.toFixed(2)];
  });
  const head = ["part", ...measured.map((_, part) => String(part + 1)), "last of first"];
  return markdownTable(head, rows);
}

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "60" }, out: { type: "string" } },
});
const minutes = Number(values.minutes);
if (!(minutes > 0))
  throw new Error(`--minutes is invalid; expected above 0, got '${values.minutes}'`);

const directory = mkdtempSync(join(tmpdir(), "holdfast-soak-"));
const data = join(directory, "data");
mkdirSync(data);
const server = await startServer({ data, flags: ["--log-level", "error"] });
const load = await LoadProcess.start();
try {
  const connection = await Connection.open(server.port);
  await createQueue(connection, { queue: work.queue, partitions: 1 });
  connection.close();
  const soaked = { server, load, data };
  const highest = await highestRate(soaked);
  const calls = Math.round((highest * sliceMs) / 2_000 / work.itemsPerCall);
  const items = calls * work.itemsPerCall;
  const order: Work = { ...work, items };
  await load.prepare(server.port, order);
  console.error(`highest rate ${rate(highest)} items/s; half of it for ${minutes} minutes`);
  const measured: Figures[] = [];
  for (let part = 0; part < parts; part += 1) {
    const figures = await soakPart(soaked, { ms: (minutes * 60_000) / parts, items });
    measured.push(figures);
    console.error(`part ${part + 1} of ${parts}: ${rate(figures["itemsPerSecond"] ?? 0)} items/s`);
  }
  console.log(tableOf(measured));
  const results = {
    ...(await headOf(`bun bench/soak.ts --minutes ${minutes}`, directory)),
    settings: { minutes, parts, highest: Math.round(highest), durability: "full" },
    measurements: measured.map((figures, part) => ({
      name: `part ${part + 1}`,
      figures: summarize([figures]),
    })),
  };
  const path = writeResults(results, { ending: soakEnding, path: values.out ?? null });
  console.log(`written to ${path}`);
} finally {
  await load.stop();
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
}
