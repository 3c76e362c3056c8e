// Measures what the machine can do without a queue, in the same run: E, HTTP that answers at once;
// S, a bare loop over bun:sqlite; D, the disk's sync; W, a lease woken by a produce, with one write
// and one sync between. Figures are given as ratios to floors: machines differ and are noisy,
// ratios less so.

import { Database } from "bun:sqlite";
import { closeSync, fdatasyncSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { usageOf } from "../../testing/process-usage.ts";
import { type ServerProcess, startListening } from "../../testing/server-process.ts";
import type { Phase, PhaseResult, Work } from "../load/commands.ts";
import { payload } from "../load/delivery.ts";
import { LoadProcess } from "../load/load-process.ts";
import { type CallTimes, Samples } from "../report/statistics.ts";

type FloorPhase = PhaseResult & { readonly serverCpuSeconds: number };

/** Floor E, or floor W with a file. */
export function startFloor(...file: readonly [] | readonly [string]): Promise<ServerProcess> {
  return startListening([join(import.meta.dir, "floor-server.ts"), ...file]);
}

/** Floor E: both phases of the work, against a server that stores nothing. */
export async function httpFloor(
  work: Work,
  warmUp: Work,
): Promise<{ produce: FloorPhase; consume: FloorPhase }> {
  const server = await startFloor();
  try {
    await using load = await LoadProcess.start();
    await load.prepare(server.port, warmUp);
    await load.run("produce");
    await load.run("consume");
    await load.prepare(server.port, work);
    const measured = async (phase: Phase): Promise<FloorPhase> => {
      const before = usageOf(server.pid).cpuSeconds;
      const result = await load.run(phase);
      return { ...result, serverCpuSeconds: usageOf(server.pid).cpuSeconds - before };
    };
    return { produce: await measured("produce"), consume: await measured("consume") };
  } finally {
    await server.stop("SIGKILL");
  }
}

/** Floor W: the latency of a waiting lease if a produce is only one write and one sync. */
export async function wakeFloor(
  directory: string,
  { warmUp, times }: { warmUp: number; times: number },
): Promise<CallTimes> {
  const file = join(directory, "wake-floor");
  const server = await startFloor(file);
  try {
    await using load = await LoadProcess.start();
    const target = { port: server.port, queue: "floor" };
    await load.wake({ ...target, times: warmUp });
    return await load.wake({ ...target, times });
  } finally {
    await server.stop("SIGKILL");
    rmSync(file, { force: true });
  }
}

// The columns of the item and of the lease; no index, and nothing that only a queue needs.
const tables = `
CREATE TABLE item (
  key INTEGER PRIMARY KEY, created_at INTEGER NOT NULL, queued_at INTEGER,
  expire_deadline INTEGER NOT NULL, early INTEGER NOT NULL, attempts INTEGER NOT NULL,
  kind TEXT, encoding TEXT, reference TEXT, source_id TEXT,
  payload BLOB NOT NULL, check_sum INTEGER NOT NULL
) STRICT;
CREATE TABLE lease (
  key INTEGER PRIMARY KEY, last_seq INTEGER NOT NULL, lease_deadline INTEGER NOT NULL,
  leased_at INTEGER NOT NULL, check_sum INTEGER NOT NULL
) STRICT;`;

/** The store's pragmas, which determine the cost of a commit. */
const pragmas = [
  "locking_mode = EXCLUSIVE",
  "journal_mode = WAL",
  "synchronous = FULL",
  "cache_size = -65536",
  "temp_store = MEMORY",
  "journal_size_limit = 67108864",
];

interface SqliteFloorOptions {
  readonly directory: string;
  readonly items: number;
}

/**
 * Floor S: inserts the same rows, leases them by range and removes them by range, with a sync per
 * commit. The compared run provides the number of items per commit. The phases run one after the
 * other on one file; returns the seconds of each.
 */
export function sqliteFloor(
  options: SqliteFloorOptions,
  phases: readonly { readonly phase: Phase; readonly itemsPerCommit: number }[],
): number[] {
  const directory = join(options.directory, "sqlite-floor");
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const database = new Database(join(directory, "floor.db"), { create: true, strict: true });
  try {
    for (const pragma of pragmas) database.query(`PRAGMA ${pragma}`).values();
    database.run(tables);
    return phases.map(({ phase, itemsPerCommit }) =>
      runPhase(database, { ...options, phase, size: Math.max(1, Math.round(itemsPerCommit)) }),
    );
  } finally {
    database.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

interface LoopOptions extends SqliteFloorOptions {
  readonly phase: Phase;
  /** Items inserted, leased and removed in a commit. */
  readonly size: number;
}

/**
 * A commit does the work of a busy turn: it inserts a batch, leases the previous one and removes the
 * one before.
 */
function runPhase(database: Database, { phase, items, size }: LoopOptions): number {
  const batch = batchOf(database);
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const produces = phase !== "consume";
  const consumes = phase !== "produce";
  const lag = produces ? size : 0;
  const end = items + (consumes ? lag + size : 0);
  const within = (from: number, act: (from: number, before: number) => void): void => {
    if (from >= 0 && from < items) act(from, Math.min(items, from + size));
  };
  const started = performance.now();
  for (let from = 0; from < end; from += size) {
    begin.run();
    if (produces) within(from, batch.insert);
    if (consumes) within(from - lag, batch.lease);
    if (consumes) within(from - lag - size, batch.remove);
    commit.run();
  }
  return (performance.now() - started) / 1_000;
}

const now = 1_800_000_000_000;
const hour = 3_600_000;

function batchOf(database: Database) {
  const insert = database.prepare(
    "INSERT INTO item VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, CAST(?11 AS BLOB), ?12)",
  );
  const read = database.prepare("SELECT * FROM item WHERE key >= ?1 AND key < ?2 ORDER BY key");
  const lease = database.prepare("INSERT OR REPLACE INTO lease VALUES (?1, ?2, ?3, ?4, ?5)");
  const unlease = database.prepare("DELETE FROM lease WHERE key = ?1");
  const remove = database.prepare("DELETE FROM item WHERE key >= ?1 AND key < ?2");
  return {
    insert(from: number, before: number): void {
      for (let key = from; key < before; key += 1) {
        insert.run(key, now, null, now + hour, 0, 0, null, null, null, null, payload, key);
      }
    },
    lease(from: number, before: number): void {
      read.values(from, before);
      lease.run(from, before - 1, now + hour, now, from);
    },
    remove(from: number, before: number): void {
      remove.run(from, before);
      unlease.run(from);
    },
  };
}

const pageBytes = 4_096;
/** Pages of the file, which is overwritten cyclically, as SQLite does with its log. */
const filePages = 1_000;

/** Floor D: writes and syncs 4 KiB, repeatedly. */
export function diskFloor(directory: string, milliseconds = 300) {
  using file = syncFile(directory);
  const times = new Samples();
  const started = performance.now();
  let last = started;
  let count = 0;
  while (last - started < milliseconds) {
    file.sync();
    const at = performance.now();
    times.add(at - last);
    last = at;
    count += 1;
  }
  const { p50Ms, p99Ms } = times.times();
  return { syncsPerSecond: count / ((last - started) / 1_000), p50Ms, p99Ms };
}

function syncFile(directory: string) {
  const path = join(directory, "disk-floor");
  const page = new Uint8Array(pageBytes).fill(0x5a);
  const file = openSync(path, "w");
  for (let index = 0; index < filePages; index += 1) writeSync(file, page);
  fdatasyncSync(file);
  let next = 0;
  return {
    sync(): void {
      writeSync(file, page, 0, pageBytes, (next % filePages) * pageBytes);
      fdatasyncSync(file);
      next += 1;
    },
    [Symbol.dispose](): void {
      closeSync(file);
      rmSync(path);
    },
  };
}
