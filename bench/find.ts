// `bun bench/find.ts [--items 10000000] [--seconds 5] [--rounds 6] [--out FILE]`: the cost of a
// find to other calls. One shard holds the dead items of one queue, while workers lease and
// complete items of another queue at a steady pace. Half of the time a client searches all dead
// items, page by page, without a match. Prints p50 and p99 of lease + complete without and with the
// search, and their ratio. Only the ratio is comparable between machines. The rounds alternate, so
// that both meet the same noise.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { FindItemsReply, LeaseReply } from "../openapi/schemas.ts";
import { Connection } from "../testing/http-client.ts";
import { createQueue } from "./load/calls.ts";
import { importDeadItems } from "./load/dead-items.ts";
import { payload } from "./load/delivery.ts";
import { inTurn } from "./load/in-turn.ts";
import { withServer } from "./load/loaded-server.ts";
import { type Figures, summarize, writeMeasurements } from "./report/results.ts";
import { Samples } from "./report/statistics.ts";
import { markdownTable, rate } from "./report/tables.ts";

const workers = 4;
const perLease = 10;
/** Pause of a worker between two leases: the machine must be busy, but not full. */
const paceMs = 10;

const searches = {
  reason: { reason: "no such account" },
  payload: { payload_contains: "no such text" },
} as const;
type Search = keyof typeof searches;

interface Load {
  readonly port: number;
  readonly until: number;
  readonly samples: Samples;
}

async function work({ port, until, samples }: Load, client_id: string): Promise<void> {
  const connection = await Connection.open(port);
  const queue = { queue_name: "work", request_timeout: "1m" };
  const items = Array.from({ length: perLease }, () => ({ utf8: payload }));
  while (performance.now() < until) {
    await connection.call("/v1/queue.produce", { ...queue, items });
    const begun = performance.now();
    const request = { ...queue, client_id, batch_size: perLease };
    const lease = (await connection.call("/v1/queue.lease", request)) as LeaseReply;
    const ids = lease.items.map(({ id }) => id);
    await connection.call("/v1/queue.complete", { ...queue, partition: lease.partition, ids });
    samples.add(performance.now() - begun);
    await Bun.sleep(paceMs);
  }
  connection.close();
}

/** Returns the number of items examined. */
async function searchUntil(port: number, until: number, search: Search): Promise<number> {
  const connection = await Connection.open(port);
  const filter = searches[search];
  let examined = 0;
  for (let pivot = ""; performance.now() < until; ) {
    const request = { queue_name: "dead", filter, pivot };
    const found = await connection.call("/v1/storage/items.find", request);
    const page = found as FindItemsReply;
    if (page.items.length > 0) throw new Error("a search found an item; expected none to match");
    examined += page.scanned;
    pivot = page.next_pivot;
  }
  connection.close();
  return examined;
}

async function measure(
  port: number,
  search: Search,
  { seconds, rounds }: { readonly seconds: number; readonly rounds: number },
): Promise<Figures> {
  const samples = { without: new Samples(), beside: new Samples() };
  const sides = ["without", "beside"] as const;
  const examined = await inTurn(sides, { warmUps: 0, turns: rounds }, async (side) => {
    const until = performance.now() + seconds * 1_000;
    const load = { port, until, samples: samples[side] };
    const all = Array.from({ length: workers }, (_, index) => work(load, `worker ${index}`));
    const count = side === "beside" ? await searchUntil(port, until, search) : 0;
    await Promise.all(all);
    return count;
  });
  const [without, beside] = [samples.without.times(), samples.beside.times()];
  const examinedCount = examined.beside.reduce((sum, count) => sum + count, 0);
  return {
    "search.itemsPerSecond": examinedCount / (rounds * seconds),
    "without.p50Ms": without.p50Ms,
    "beside.p50Ms": beside.p50Ms,
    "beside.overP50": beside.p50Ms / without.p50Ms,
    "without.p99Ms": without.p99Ms,
    "beside.p99Ms": beside.p99Ms,
    "beside.overP99": beside.p99Ms / without.p99Ms,
  };
}

function rowOf([search, figures]: [string, Figures]): string[] {
  const of = (name: string): number => figures[name] ?? Number.NaN;
  const times = (["50", "99"] as const).flatMap((name) => [
    `${of(`without.p${name}Ms`).toFixed(1)} ms`,
    `${of(`beside.p${name}Ms`).toFixed(1)} ms`,
    of(`beside.overP${name}`).toFixed(2),
  ]);
  return [search, rate(of("search.itemsPerSecond")), ...times];
}

const { values } = parseArgs({
  options: {
    items: { type: "string", default: "10000000" },
    seconds: { type: "string", default: "5" },
    rounds: { type: "string", default: "6" },
    out: { type: "string" },
  },
});
const [items = 0, seconds = 0, rounds = 0] = [values.items, values.seconds, values.rounds].map(
  Number,
);
const directory = mkdtempSync(join(tmpdir(), "holdfast-find-"));
try {
  const measured: [Search, Figures][] = [];
  await withServer({ directory, flags: ["--shards", "1"] }, async ({ port }) => {
    for (const queue of ["dead", "work"]) await createQueue(port, queue);
    const begun = performance.now();
    await importDeadItems(port, items);
    console.error(`${items} items in ${Math.round((performance.now() - begun) / 1_000)} s`);
    // Warm-up: compiles code and loads files into memory.
    await measure(port, "reason", { seconds: 2, rounds: 1 });
    for (const search of Object.keys(searches) as Search[]) {
      measured.push([search, await measure(port, search, { seconds, rounds })]);
    }
  });
  const head = ["find by", "examined/s", "p50", "beside", "ratio", "p99", "beside", "ratio"];
  console.log(markdownTable(head, measured.map(rowOf)));
  const results = {
    command: `bun bench/find.ts --items ${items} --seconds ${seconds} --rounds ${rounds}`,
    directory,
    settings: { items, seconds, rounds, workers },
    measurements: measured.map(([search, figures]) => {
      return { name: `find by ${search}`, figures: summarize([figures]) };
    }),
  };
  await writeMeasurements(results, { ending: "-find.json", path: values.out });
} finally {
  rmSync(directory, { recursive: true });
}
