// `bun bench/held-snapshot.ts [--minutes 10] [--only name]... [--note TEXT] [--out FILE]`: rates of
// queues in PostgreSQL while another session holds a snapshot, so that removed rows cannot be
// cleaned up. It produces, then leases and completes, 100 items per call, on one queue, repeatedly.
// For each tenth of the time it reports the rate, the processor time of database and server per
// item (which other work on the machine disturbs less), the size of the tables and their dead rows.
// Compare the last tenth with the first: a queue that dead rows slow down becomes ever slower.

import { mkdirSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { SQL } from "bun";
import { postgresSettings } from "../testing/postgres-server.ts";
import { cpuSecondsBelow } from "../testing/process-usage.ts";
import { consumeAll, produceAll } from "./peers/measure.ts";
import type { Peer, Session } from "./peers/peer.ts";
import { chosenFrom, onPostgres } from "./peers/peers.ts";
import { withScratch } from "./peers/scratch.ts";
import { type Figures, type Measurement, summarize, writeMeasurements } from "./report/results.ts";
import { partsTable, rate } from "./report/tables.ts";

const itemsPerCall = 100;
/** Items per round: many, because consumers wait at its end; that time is not counted. */
const itemsPerRound = 100_000;
const roundMsMax = 60_000;
const parts = 10;
/** Warm-up: code is compiled, pools are filled, statements are prepared. */
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

/** `watcher` is a session that can read the tables. */
async function measurePart(
  sessions: readonly Session[],
  watcher: SQL,
  ms: number,
): Promise<Figures> {
  const begin = performance.now();
  const sum = { items: 0, seconds: 0 };
  const cpuBefore = cpuSecondsBelow(process.pid);
  while (performance.now() - begin < ms) {
    const { items, seconds } = await round(sessions);
    sum.items += items;
    sum.seconds += seconds;
  }
  const serverMicros = (1e6 * (cpuSecondsBelow(process.pid) - cpuBefore)) / sum.items;
  const [tables] = await watcher`
    SELECT sum(pg_total_relation_size(relid))::float8 AS bytes, sum(n_dead_tup)::float8 AS dead
    FROM pg_stat_user_tables`;
  return {
    itemsPerSecond: sum.items / sum.seconds,
    serverMicros,
    tableBytes: tables.bytes,
    deadRows: tables.dead,
    // Other load on the machine.
    loadAverage: loadavg()[0] ?? 0,
  };
}

async function measure(peer: Peer, minutes: number, scratch: string): Promise<Figures[]> {
  await peer.install(scratch);
  const running = await peer.start(scratch);
  try {
    const connections = peer.connections(itemsPerCall);
    const sessions = await running.open({ queue: "steady", connections, itemsPerCall });
    for (const begin = performance.now(); performance.now() - begin < warmUpMs; ) {
      await round(sessions);
    }
    const holder = new SQL(running.databaseUrl ?? "", { max: 1 });
    const watcher = new SQL(running.databaseUrl ?? "", { max: 1 });
    await holder.unsafe("BEGIN ISOLATION LEVEL REPEATABLE READ");
    await holder.unsafe("SELECT count(*) FROM pg_class");
    const measured: Figures[] = [];
    for (let part = 0; part < parts; part += 1) {
      const figures = await measurePart(sessions, watcher, (minutes * 60_000) / parts);
      measured.push(figures);
      const itemsPerSecond = rate(figures["itemsPerSecond"] ?? 0);
      console.error(`part ${part + 1} of ${parts}: ${itemsPerSecond} items/s`);
    }
    await watcher.close();
    await holder.unsafe("COMMIT");
    await holder.close();
    await Promise.allSettled(sessions.map((session) => session.close()));
    return measured;
  } finally {
    await running.stop();
  }
}

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    only: { type: "string", multiple: true, default: [] },
    note: { type: "string", default: "" },
    out: { type: "string" },
  },
});
const measurements: Measurement[] = [];
await withScratch(async (scratch) => {
  for (const [index, peer] of chosenFrom(onPostgres, values.only).entries()) {
    console.error(peer.name);
    const own = join(scratch, String(index));
    mkdirSync(own);
    const measured = await measure(peer, Number(values.minutes), own).catch((cause: Error) => {
      // The queue may have become too slow for a round.
      console.error(`${peer.name}: ${cause.message}`);
      return [];
    });
    console.log(partsTable(`${peer.name}, 100 items per call`, measured));
    for (const [part, figures] of measured.entries()) {
      measurements.push({
        name: `${peer.name}: part ${part + 1}`,
        figures: summarize([figures]),
      });
    }
  }
});
const only = values.only.map((name) => ` --only '${name}'`).join("");
const results = {
  command: `bun bench/held-snapshot.ts --minutes ${values.minutes}${only}`,
  directory: tmpdir(),
  settings: {
    ...{ minutes: Number(values.minutes), parts, itemsPerCall, database: postgresSettings },
    note: values.note,
  },
  measurements,
};
await writeMeasurements(results, { ending: "-snapshot.json", path: values.out });
process.exit(0);
