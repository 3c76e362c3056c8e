// `bun bench/find.ts [--items 10000000] [--seconds 5] [--rounds 6] [--out FILE]`: what a find costs others. One
// shard holds so many dead items of one queue, and workers lease and complete items of another at a
// steady pace; half of the time somebody looks through all of the dead ones, page after page, for what
// is not there. Printed are p50 and p99 of lease + complete without and with that, and their ratio,
// which is all that can be compared between machines. The rounds alternate, so that both meet the same
// noise.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Connection } from "./http-client.ts";
import { findEnding, headOf, summarize, writeResults } from "./results.ts";
import type { Figures } from "./run-cell.ts";
import { startServer } from "./server-process.ts";
import { Samples } from "./statistics.ts";
import { markdownTable, rate } from "./table.ts";

const batch = 1_000;
const fillers = 4;
const workers = 4;
const perLease = 10;
/** Of a worker between two leases: the machine is to be busy, not full. */
const paceMs = 10;
const timed = { request_timeout: "1m" };

const searches = {
  reason: { reason: "no such account" },
  payload: { payload_contains: "no such text" },
} as const;
type Search = keyof typeof searches;

async function call(connection: Connection, path: string, body: object) {
  const { status, body: text } = await connection.post(`/v1/${path}`, JSON.stringify(body));
  if (status !== 200) throw new Error(`${path} was answered ${status}; ${text}`);
  return JSON.parse(text);
}

interface Filling {
  readonly items: number;
  /** Of an item by its number. */
  readonly kindOf?: (at: number) => string;
}

/** Dead ones, by import, each with where it came from and why it failed. */
export async function fill(port: number, { items, kindOf }: Filling): Promise<void> {
  let left = items;
  const one = async (): Promise<void> => {
    const connection = await Connection.open(port);
    while (left > 0) {
      const count = Math.min(batch, left);
      left -= count;
      const dead = Array.from({ length: count }, (_, index) => ({
        ...{
          payload: btoa(`{"order":${left + index}}`),
          origin_queue: "orders",
          origin_attempts: 3,
        },
        ...{ death: "failed", reason: `card ${index} declined` },
        ...(kindOf && { kind: kindOf(left + index) }),
      }));
      await call(connection, "storage/items.import", {
        queue_name: "dead",
        partition: 0,
        items: dead,
      });
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: fillers }, one));
}

interface Load {
  readonly port: number;
  readonly until: number;
  readonly samples: Samples;
}

async function work({ port, until, samples }: Load, client_id: string): Promise<void> {
  const connection = await Connection.open(port);
  const queue = { queue_name: "work", ...timed };
  const items = Array.from({ length: perLease }, () => ({ utf8: "x".repeat(100) }));
  while (performance.now() < until) {
    await call(connection, "queue.produce", { ...queue, items });
    const begun = performance.now();
    const lease = await call(connection, "queue.lease", {
      ...queue,
      client_id,
      batch_size: perLease,
    });
    const ids = lease.items.map(({ id }: { id: string }) => id);
    await call(connection, "queue.complete", { ...queue, partition: lease.partition, ids });
    samples.add(performance.now() - begun);
    await Bun.sleep(paceMs);
  }
  connection.close();
}

/** How many items it looked at. */
async function look(port: number, until: number, search: Search): Promise<number> {
  const connection = await Connection.open(port);
  const filter = searches[search];
  let looked = 0;
  for (let pivot = ""; performance.now() < until; ) {
    const request = { queue_name: "dead", filter, pivot };
    const page = await call(connection, "storage/items.find", request);
    if (page.items.length > 0) throw new Error("it found what is not there");
    looked += page.looked_at;
    pivot = page.next_pivot;
  }
  connection.close();
  return looked;
}

async function measure(
  port: number,
  search: Search,
  options: { seconds: number; rounds: number },
): Promise<Figures> {
  const samples = { without: new Samples(), beside: new Samples() };
  let looked = 0;
  for (let round = 0; round < options.rounds; round += 1) {
    for (const kind of round % 2 === 0
      ? (["without", "beside"] as const)
      : (["beside", "without"] as const)) {
      const until = performance.now() + options.seconds * 1_000;
      const load = { port, until, samples: samples[kind] };
      const all = Array.from({ length: workers }, (_, index) => work(load, `worker ${index}`));
      if (kind === "beside") looked += await look(port, until, search);
      await Promise.all(all);
    }
  }
  const [without, beside] = [samples.without.times(), samples.beside.times()];
  return {
    "looked.itemsPerSecond": looked / (options.rounds * options.seconds),
    "without.p50Ms": without.p50Ms,
    "beside.p50Ms": beside.p50Ms,
    "beside.overP50": beside.p50Ms / without.p50Ms,
    "without.p99Ms": without.p99Ms,
    "beside.p99Ms": beside.p99Ms,
    "beside.overP99": beside.p99Ms / without.p99Ms,
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      items: { type: "string", default: "10000000" },
      seconds: { type: "string", default: "5" },
      rounds: { type: "string", default: "6" },
      out: { type: "string" },
    },
  });
  const [items, seconds, rounds] = [values.items, values.seconds, values.rounds].map(Number);
  const folder = mkdtempSync(join(tmpdir(), "holdfast-find-"));
  const flags = ["--log-level", "error", "--shards", "1"];
  const server = await startServer({ data: join(folder, "data"), flags });
  try {
    const { port } = server;
    const connection = await Connection.open(port);
    for (const queue_name of ["dead", "work"]) {
      const timeouts = { lease_timeout: "1m", expire_timeout: "24h" };
      await call(connection, "queues.create", { queue_name, ...timeouts });
    }
    connection.close();
    const begun = performance.now();
    await fill(port, { items: items ?? 0 });
    console.error(`${items} items in ${Math.round((performance.now() - begun) / 1_000)} s`);
    // Code is compiled, files are in memory.
    const warmUp = { seconds: 2, rounds: 1 };
    await measure(port, "reason", warmUp);
    const measured: { readonly search: Search; readonly figures: Figures }[] = [];
    for (const search of Object.keys(searches) as Search[]) {
      const figures = await measure(port, search, { seconds: seconds ?? 0, rounds: rounds ?? 0 });
      measured.push({ search, figures });
    }
    const head = ["find by", "looks/s", "p50", "beside", "ratio", "p99", "beside", "ratio"];
    console.log(markdownTable(head, measured.map(rowOf)));
    const command = `bun bench/find.ts --items ${items} --seconds ${seconds} --rounds ${rounds}`;
    const results = {
      ...(await headOf(command, folder)),
      settings: { items: items ?? 0, seconds: seconds ?? 0, rounds: rounds ?? 0, workers },
      measurements: measured.map(({ search, figures }) => {
        return { name: `find by ${search}`, figures: summarize([figures]) };
      }),
    } as const;
    console.log(writeResults(results, { ending: findEnding, path: values.out ?? null }));
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

function rowOf({
  search,
  figures,
}: {
  readonly search: Search;
  readonly figures: Figures;
}): string[] {
  const of = (name: string): number => figures[name] ?? Number.NaN;
  const told = (name: "50" | "99"): string[] => [
    `${of(`without.p${name}Ms`).toFixed(1)} ms`,
    `${of(`beside.p${name}Ms`).toFixed(1)} ms`,
    of(`beside.overP${name}`).toFixed(2),
  ];
  return [search, rate(of("looked.itemsPerSecond")), ...told("50"), ...told("99")];
}

if (import.meta.main) await main();
