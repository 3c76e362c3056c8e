// `bun bench/held-snapshot.ts [--minutes 10] [--only name]... [--note TEXT] [--out FILE]`: rates of
// queues in PostgreSQL while another session holds a snapshot, so that nothing which was removed can
// be cleaned up. Produce, then lease and complete, 100 items a call, on one queue, over and over; a
// rate for each tenth of the time, and the processor time of database and server for each item, which
// other work on the machine disturbs less; how large the tables are by then, and how many rows in
// them are dead. What matters is the last against the first: a queue that is slowed down by what is
// gone gets slower and slower.

import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { SQL } from "bun";
import { stopChildren } from "./peers/child-server.ts";
import { consumeAll, produceAll } from "./peers/measure.ts";
import type { Peer, Session } from "./peers/peer.ts";
import { onPostgres } from "./peers/peers.ts";
import { postgresSettings } from "./peers/postgres-server.ts";
import { cpuSecondsBelow } from "./process-usage.ts";
import { headOf, type Measurement, snapshotEnding, summarize, writeResults } from "./results.ts";
import type { Figures } from "./run-cell.ts";
import { markdownTable, rate } from "./table.ts";

const itemsPerCall = 100;
/** Of each round: many, because at its end consumers wait for more; that time is not counted. */
const itemsPerRound = 100_000;
const roundMsMax = 60_000;
const parts = 10;
/** Before the first figure: code is compiled, pools are filled, statements are prepared. */
const warmUpMs = 10_000;

async function round(sessions: readonly Session[]): Promise<{ items: number; seconds: number }> {
  const work = {
    queue: "",
    itemsPerCall,
    connections: sessions.length,
    items: itemsPerRound,
    produceMs: roundMsMax,
    consumeMs: roundMsMax,
  };
  const { items, seconds } = await produceAll(sessions, work);
  const { partly, perSecond } = await consumeAll(sessions, items, work);
  if (partly) throw new Error("a round was not consumed in time");
  return { items, seconds: seconds + items / perSecond };
}

interface Part {
  /** Through all three calls. */
  readonly itemsPerSecond: number;
  readonly serverMicros: number;
  /** Of all tables with their indexes, at the end of the part, as are the next. */
  readonly tableBytes: number;
  readonly deadRows: number;
  /** Of the machine, which says how much else there was to do. */
  readonly loadAverage: number;
}

interface Scene {
  readonly sessions: readonly Session[];
  /** One that sees the tables. */
  readonly watcher: SQL;
  readonly minutes: number;
}

async function partsOf({ sessions, watcher, minutes }: Scene): Promise<Part[]> {
  const partMs = (minutes * 60_000) / parts;
  const measured: Part[] = [];
  for (let part = 0; part < parts; part += 1) {
    const begin = performance.now();
    const sum = { items: 0, seconds: 0 };
    const cpuBefore = cpuSecondsBelow(process.pid);
    while (performance.now() - begin < partMs) {
      const { items, seconds } = await round(sessions);
      sum.items += items;
      sum.seconds += seconds;
    }
    const itemsPerSecond = sum.items / sum.seconds;
    const serverMicros = (1e6 * (cpuSecondsBelow(process.pid) - cpuBefore)) / sum.items;
    const [tables] = await watcher`
      SELECT sum(pg_total_relation_size(relid))::float8 AS bytes, sum(n_dead_tup)::float8 AS dead
      FROM pg_stat_user_tables`;
    const { bytes: tableBytes, dead: deadRows } = tables;
    const [loadAverage = 0] = loadavg();
    measured.push({ itemsPerSecond, serverMicros, tableBytes, deadRows, loadAverage });
    console.error(`part ${part + 1} of ${parts}: ${rate(itemsPerSecond)} items/s`);
  }
  return measured;
}

async function measure(peer: Peer, minutes: number, scratch: string): Promise<Part[]> {
  await peer.install(scratch);
  const running = await peer.start(scratch);
  try {
    const connections = peer.connections(itemsPerCall);
    const sessions = await running.open({ queue: "steady", connections, itemsPerCall });
    for (const begin = performance.now(); performance.now() - begin < warmUpMs; ) {
      await round(sessions);
    }
    const holder = new SQL(running.databaseUrl ?? "", { max: 1 });
    await holder.unsafe("BEGIN ISOLATION LEVEL REPEATABLE READ");
    await holder.unsafe("SELECT count(*) FROM pg_class");
    const watcher = new SQL(running.databaseUrl ?? "", { max: 1 });
    const measured = await partsOf({ sessions, watcher, minutes });
    await watcher.close();
    await holder.unsafe("COMMIT");
    await holder.close();
    await Promise.allSettled(sessions.map((session) => session.close()));
    return measured;
  } finally {
    await running.stop();
  }
}

/** Each part, and the last of each figure against the first. */
function measurementsOf(name: string, measured: readonly Part[]): Measurement[] {
  const [first, last] = [measured[0], measured.at(-1)];
  if (first === undefined || last === undefined) return [];
  const ratios = Object.entries(last).map(([key, value]) => [
    key,
    value / first[key as keyof Part],
  ]);
  return [
    ...measured.map((part, index) => ({
      name: `${name}: part ${index + 1}`,
      figures: summarize([{ ...part } as Figures]),
    })),
    {
      name: `${name}: last of first`,
      figures: summarize([Object.fromEntries(ratios) as Figures]),
    },
  ];
}

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    only: { type: "string", multiple: true, default: [] },
    // What else the machine had to do.
    note: { type: "string", default: "" },
    out: { type: "string" },
  },
});
const wanted = values.only.map((name) => name.toLowerCase());
const peers = onPostgres.filter(
  ({ name }) => wanted.length === 0 || wanted.some((part) => name.toLowerCase().includes(part)),
);
const scratch = mkdtempSync(join(tmpdir(), "holdfast-snapshot-"));
chmodSync(scratch, 0o755);
const rows: string[][] = [];
const measurements: Measurement[] = [];
const removeScratch = (): void => rmSync(scratch, { recursive: true, force: true });
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    void stopChildren().finally(() => {
      removeScratch();
      process.exit(130);
    });
  });
}
try {
  for (const [index, peer] of peers.entries()) {
    console.error(peer.name);
    const own = join(scratch, String(index));
    mkdirSync(own);
    const measured = await measure(peer, Number(values.minutes), own).catch((cause: Error) => {
      // It may have become too slow for a round.
      console.error(`${peer.name}: ${cause.message}`);
      return [];
    });
    const add = (name: string, figures: readonly number[]): void => {
      const ratio = (figures.at(-1) ?? 0) / (figures[0] ?? 1);
      rows.push([`${peer.name}, ${name}`, ...figures.map(rate), ratio.toFixed(2)]);
    };
    for (const [title, key] of [
      ["items/s", "itemsPerSecond"],
      ["server µs", "serverMicros"],
      ["table bytes", "tableBytes"],
      ["dead rows", "deadRows"],
    ] as const) {
      add(
        title,
        measured.map((part) => part[key]),
      );
    }
    measurements.push(...measurementsOf(peer.name, measured));
  }
} finally {
  await stopChildren();
  removeScratch();
}
const head = ["100 items a call", ...Array.from({ length: parts }, (_, part) => String(part + 1))];
console.log(markdownTable([...head, "last of first"], rows));
const only = values.only.map((name) => ` --only '${name}'`).join("");
const results = {
  ...(await headOf(`bun bench/held-snapshot.ts --minutes ${values.minutes}${only}`, tmpdir())),
  settings: {
    ...{ minutes: Number(values.minutes), parts, itemsPerCall, database: postgresSettings },
    note: values.note,
  },
  measurements,
};
const path = writeResults(results, { ending: snapshotEnding, path: values.out ?? null });
console.log(`written to ${path}`);
process.exit(0);
