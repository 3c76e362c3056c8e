// One shard's items in one SQLite file. The file belongs to one connection,
// whose exclusive lock also keeps a second server out; a commit returns after
// the write-ahead log was synced (durability `full`).

import { Database, type Statement } from "bun:sqlite";
import { closeSync, existsSync, fsyncSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { copyFile, open } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Item, type ScheduledItem, wakeAt } from "../item.ts";
import {
  type Changes,
  type EarlyRef,
  type Image,
  type LeasedSeq,
  type Read,
  type ReadLimit,
  type Span,
  type Store,
  type StoredCounts,
  StoreError,
  type StoreSize,
} from "../store.ts";
import { lostTurns, refuseDamagedLog } from "./damaged-log.ts";
import { ItemTable } from "./item-table.ts";
import { LogMark, type LogState } from "./log-mark.ts";
import {
  catalogOf,
  catalogValues,
  identityOf,
  inboundOf,
  inboundValues,
  itemColumns,
  leaseOf,
  leaseValues,
  outboundOf,
  outboundValues,
  scheduledOf,
  scheduledValues,
  tallyOf,
  tallyValues,
  turnOf,
  turnValues,
} from "./rows.ts";
import { migrate } from "./schema.ts";
import { insertedItem, key, keyOf, place, placeAndItem } from "./sql-text.ts";

export type Durability = "full" | "normal";

export interface SqliteOptions {
  /** The file; its folder must exist. */
  readonly path: string;
  readonly durability: Durability;
  /** Makes the store's tag when the file is new: 12 characters `0-9A-Za-z`. */
  readonly newTag: () => string;
  /** Open although committed turns are missing from a damaged log. */
  readonly acceptLogLoss: boolean;
  /** Bytes set aside so that leases and completes go on when the disk is full; 0 = none. */
  readonly ballastBytes: number;
  /** The most the file may grow to, in pages; for tests of a full disk. */
  readonly pagesMax?: number;
}

/** Rows of the `turn` ring: more turns than can be unanswered at once. */
const turnRing = 64;
/** Pages given back to the file system in one piece of housekeeping: about 4 ms. */
const vacuumPages = 256;
/** The log is truncated, not only checkpointed, once it is longer than this when the shard is idle. */
const logBytesIdle = 1024 * 1024;
const cacheKibibytes = 65_536;
const cacheKibibytesChecking = 1_024;
/** Pages in the log that are too many between two turns: when someone waits, and when nobody does. */
const logPagesMax = 4_000;
const logPagesIdle = 500;
/** Files up to this size are looked through when they are opened, at about 2 GB a second. */
const checkedBytesMax = 256 * 1024 * 1024;
/** The first rows of a read; more follow only if the payload bound allows. */
const firstRead = 64;

const range = `key >= ${key} AND key < ${keyOf("?1", "?3")}`;

const statements = {
  begin: "BEGIN IMMEDIATE",
  commit: "COMMIT",
  logState: "PRAGMA wal_checkpoint(NOOP)",
  rollback: "ROLLBACK",
  schedule: `INSERT INTO scheduled (key, ${itemColumns}, due_at, retried, wake_at) VALUES (${key}, ${insertedItem}, ?14, ?15, ?16)`,
  unschedule: `DELETE FROM scheduled WHERE key = ${key}`,
  lease: `INSERT OR REPLACE INTO lease (key, last_seq, lease_deadline, leased_at, check_sum) VALUES (${key}, ?3, ?4, ?5, ?6)`,
  unlease: `DELETE FROM lease WHERE key = ${key}`,
  tally: "INSERT OR REPLACE INTO tally VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  send: `INSERT INTO outbound (key, ${itemColumns}, outbound_seq, target_shard, target_slot) VALUES (${key}, ${insertedItem}, ?14, ?15, ?16)`,
  unsend: "DELETE FROM outbound WHERE outbound_seq = ?1",
  receive: "INSERT OR REPLACE INTO inbound VALUES (?1, ?2, ?3)",
  catalogPut: "INSERT OR REPLACE INTO queue VALUES (?1, ?2, ?3)",
  catalogRemove: "DELETE FROM queue WHERE queue_id = ?1",
  turn: `INSERT OR REPLACE INTO turn VALUES (?1 % ${turnRing}, ?1, ?2, ?3, ?4, ?5)`,

  presentSource: `SELECT 1 FROM item WHERE source_id = ?2 AND key >> 45 = ?1 UNION ALL SELECT 1 FROM scheduled WHERE source_id = ?2 AND key >> 45 = ?1`,
  scheduled: `SELECT ${placeAndItem}, due_at, retried FROM scheduled WHERE ${range} ORDER BY key LIMIT ?4`,
  waking: `SELECT ${placeAndItem}, due_at, retried, wake_at, key FROM scheduled WHERE wake_at <= ?1 AND (wake_at, key) > (?2, ${keyOf("?3", "?4")}) ORDER BY wake_at, key LIMIT ?5`,
  nextWake: "SELECT min(wake_at) FROM scheduled",
  early: `SELECT expire_deadline, ${place} FROM item WHERE early = 1 AND (expire_deadline, key) > (?1, ${keyOf("?2", "?3")}) ORDER BY expire_deadline, key LIMIT ?4`,

  quarantineScheduled: `INSERT INTO quarantine (key, columns, payload) SELECT key, json_array(created_at, queued_at, expire_deadline, early, attempts, kind, encoding, reference, source_id, check_sum, due_at, retried), payload FROM scheduled WHERE key = ${key}`,
} as const;

type Statements = { readonly [name in keyof typeof statements]: Statement };

/**
 * Opens the file, or makes it. Throws `StoreError`: `locked` when another
 * process has it, `damaged` when its log lost committed turns.
 */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  return new SqliteStore(options);
}

class SqliteStore implements Store {
  readonly #options: SqliteOptions;
  readonly #database: Database;
  readonly #statements: Statements;
  readonly #items: ItemTable;
  readonly #ballastPath: string;
  readonly #mark: LogMark;
  #closed = false;
  /** The last turn that was committed here. */
  #turnLast = 0;

  constructor(options: SqliteOptions) {
    this.#options = options;
    this.#ballastPath = `${options.path}-ballast`;
    const paths = { log: `${options.path}-wal`, mark: `${options.path}-mark` };
    this.#mark = new LogMark(paths.mark, paths.log);
    // Without a sync per commit a power cut alone may leave such a log, and that was accepted.
    const isStrict = options.durability === "full";
    const log: LogState = isStrict ? refuseDamagedLog({ ...options, ...paths }) : { is: "whole" };
    if (log.is === "cut") this.#mark.clear();
    this.#database = connect(options);
    try {
      refuseDamagedFile(this.#database, this.size().fileBytes);
      migrate(this.#database, options.newTag);
      if (log.is === "gone") this.#refuseLostTurns(log.turn);
      const prepared: Partial<Record<keyof Statements, Statement>> = {};
      for (const [name, text] of Object.entries(statements)) {
        prepared[name as keyof Statements] = this.#database.prepare(text);
      }
      this.#statements = prepared as Statements;
      this.#items = new ItemTable(this.#database);
      this.#fillBallast();
    } catch (cause) {
      this.#database.close();
      throw storeError(cause);
    }
  }

  /** Without a log, all that was committed must be in the file. */
  #refuseLostTurns(turn: number): void {
    const last = Number(this.#database.query("SELECT max(turn) FROM turn").values()[0]?.[0]);
    if (last >= turn) return;
    if (!this.#options.acceptLogLoss) throw lostTurns();
    this.#mark.clear();
  }

  async load(): Promise<Image> {
    return this.#guard(() => {
      const db = this.#database;
      const rows = (text: string): unknown[][] => db.query(text).values();
      return {
        tag: identityOf(rows("SELECT tag, check_sum FROM identity")[0]),
        turns: rows("SELECT turn, at, op_last, refused, check_sum FROM turn ORDER BY turn").map(
          turnOf,
        ),
        tallies: rows("SELECT * FROM tally").map(tallyOf),
        leases: rows(
          `SELECT ${place}, last_seq, lease_deadline, leased_at, check_sum FROM lease ORDER BY key`,
        ).map(leaseOf),
        outbound: rows(
          `SELECT ${placeAndItem}, outbound_seq, target_shard, target_slot FROM outbound ORDER BY outbound_seq`,
        ).map(outboundOf),
        inbound: rows("SELECT source_shard, outbound_seq, check_sum FROM inbound").map(inboundOf),
        catalog: rows("SELECT entry, check_sum FROM queue ORDER BY queue_id").map(catalogOf),
        quarantinedCount: Number(rows("SELECT count(*) FROM quarantine")[0]?.[0]),
      };
    });
  }

  async countItems(): Promise<ReadonlyMap<number, StoredCounts> | null> {
    if (this.size().fileBytes > checkedBytesMax) return null;
    return this.#guard(() => this.#items.counts());
  }

  async items(slot: number, from: number, before: number, limit: ReadLimit): Promise<Read<Item>[]> {
    return this.#guard(() => this.#items.items(slot, from, before, limit));
  }

  async heads(spans: readonly Span[]): Promise<Map<number, Read<Item>[]>> {
    return this.#guard(() => this.#items.heads(spans));
  }

  async seqs(slot: number, from: number, before: number, limit: number): Promise<LeasedSeq[]> {
    return this.#guard(() => this.#items.seqs(slot, from, before, limit));
  }

  async present(slot: number, seqs: readonly number[]): Promise<number[]> {
    return this.#guard(() => seqs.filter((seq) => this.#items.isPresent(slot, seq)));
  }

  async presentSources(slot: number, sourceIds: readonly string[]): Promise<string[]> {
    return this.#guard(() =>
      sourceIds.filter((id) => this.#statements.presentSource.values(slot, id).length > 0),
    );
  }

  async scheduled(
    slot: number,
    from: number,
    before: number,
    limit: ReadLimit,
  ): Promise<Read<ScheduledItem>[]> {
    return this.#guard(() => {
      const items: Read<ScheduledItem>[] = [];
      read(limit, items, (count) => {
        const start = (items.at(-1)?.seq ?? from - 1) + 1;
        return this.#statements.scheduled.values(slot, start, before, count).map(scheduledOf);
      });
      return items;
    });
  }

  async waking(now: number, limit: ReadLimit): Promise<Read<ScheduledItem>[]> {
    return this.#guard(() => {
      const items: Read<ScheduledItem>[] = [];
      // Before 1970 is below 0; what were passed over would wake the shard again and again.
      let after: [number, number, number] = [Number.MIN_SAFE_INTEGER, 0, 0];
      read(limit, items, (count) => {
        const rows = this.#statements.waking.values(now, ...after, count);
        const last = rows.at(-1);
        if (last !== undefined) after = [last[15] as number, last[0] as number, last[1] as number];
        return rows.map(scheduledOf);
      });
      return items;
    });
  }

  async nextWake(): Promise<number | null> {
    return this.#guard(() => this.#statements.nextWake.values()[0]?.[0] as number | null);
  }

  async early(after: EarlyRef, limit: number): Promise<EarlyRef[]> {
    return this.#guard(() =>
      this.#statements.early
        .values(after.expireDeadline, after.slot, after.seq, limit)
        .map((row) => ({
          expireDeadline: row[0] as number,
          slot: row[1] as number,
          seq: row[2] as number,
        })),
    );
  }

  async commit(changes: Changes): Promise<void> {
    const run = this.#statements;
    try {
      run.begin.run();
      this.#write(changes);
      run.commit.run();
      this.#turnLast = changes.turn.turn;
    } catch (cause) {
      // SQLite has rolled back by itself after most failures, and then this one fails too.
      if (this.#database.inTransaction) {
        try {
          run.rollback.run();
        } catch {
          throw new StoreError("failed", "the store could neither commit nor roll back", cause);
        }
      }
      const fault = storeError(cause);
      if (fault.fault === "full") rmSync(this.#ballastPath, { force: true });
      throw fault;
    }
  }

  #write(changes: Changes): void {
    const run = this.#statements;
    for (const { slot, seqs } of changes.quarantine) {
      for (const seq of seqs) {
        this.#items.quarantine(slot, seq);
        run.quarantineScheduled.run(slot, seq);
        run.unschedule.run(slot, seq);
      }
    }
    for (const removed of changes.remove) this.#items.remove(removed);
    for (const { slot, seqs } of changes.unschedule) {
      for (const seq of seqs) run.unschedule.run(slot, seq);
    }
    this.#items.insert(changes.insert);
    for (const item of changes.schedule) {
      run.schedule.run(...scheduledValues(item), item.dueAt, item.retried ? 1 : 0, wakeAt(item));
    }
    for (const lease of changes.unlease) run.unlease.run(lease.slot, lease.first);
    for (const lease of changes.lease) run.lease.run(...leaseValues(lease));
    for (const tally of changes.tally) run.tally.run(...tallyValues(tally));
    for (const item of changes.send) {
      run.send.run(...outboundValues(item), item.outboundSeq, item.targetShard, item.targetSlot);
    }
    for (const outboundSeq of changes.unsend) run.unsend.run(outboundSeq);
    for (const inbound of changes.receive) run.receive.run(...inboundValues(inbound));
    for (const entry of changes.catalogPut) run.catalogPut.run(...catalogValues(entry));
    for (const queueId of changes.catalogRemove) run.catalogRemove.run(queueId);
    run.turn.run(...turnValues(changes.turn));
  }

  async relieve(idle: boolean): Promise<void> {
    this.#guard(() => {
      const [[, logged = 0, moved = 0] = []] = this.#statements.logState.values() as number[][];
      // Without a sync per commit it would say too much.
      if (this.#options.durability === "full") this.#mark.set(logged, this.#turnLast);
      if (logged - moved < (idle ? logPagesIdle : logPagesMax)) return;
      try {
        this.#database.query("PRAGMA wal_checkpoint(PASSIVE)").values();
      } catch (cause) {
        // What is committed is in the log; it stays there until there is room.
        if (storeError(cause).fault !== "full") throw cause;
      }
    });
  }

  async tidy(): Promise<boolean> {
    return this.#guard(() => {
      if (this.#freePages() > vacuumPages) {
        this.#database.query(`PRAGMA incremental_vacuum(${vacuumPages})`).values();
        return true;
      }
      this.#fillBallast();
      if (this.size().logBytes > logBytesIdle) {
        this.#mark.clear();
        this.#database.query("PRAGMA wal_checkpoint(TRUNCATE)").values();
      }
      return false;
    });
  }

  #freePages(): number {
    return Number(this.#database.query("PRAGMA freelist_count").values()[0]?.[0]);
  }

  /** Written, not merely reserved, so that the bytes are there to be freed on a full disk. */
  #fillBallast(): void {
    const bytes = this.#options.ballastBytes;
    if (bytes === 0 || existsSync(this.#ballastPath)) return;
    const file = openSync(this.#ballastPath, "w");
    try {
      writeSync(file, new Uint8Array(bytes));
      fsyncSync(file);
    } catch {
      rmSync(this.#ballastPath, { force: true });
    } finally {
      closeSync(file);
    }
  }

  async backup(folder: string): Promise<number | null> {
    this.#guard(() => {
      // Then all that is committed is in the one file, and nobody else writes to it.
      this.#mark.clear();
      this.#database.query("PRAGMA wal_checkpoint(TRUNCATE)").values();
    });
    const copy = join(folder, basename(this.#options.path));
    try {
      // Beside the thread: one that is silent for as long as a large file takes would be replaced.
      await copyFile(this.#options.path, copy);
      await using file = await open(copy, "r+");
      await file.sync();
      return (await file.stat()).size;
    } catch {
      return null;
    }
  }

  size(): StoreSize {
    const bytes = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    return {
      logBytes: bytes(`${this.#options.path}-wal`),
      fileBytes: bytes(this.#options.path),
      full: this.#options.ballastBytes > 0 && !existsSync(this.#ballastPath),
    };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const statement of Object.values(this.#statements)) statement.finalize();
    this.#items.close();
    try {
      this.#mark.clear();
    } finally {
      this.#database.close();
      this.#mark.remove();
    }
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      throw storeError(cause);
    }
  }
}

/** Reads in growing pieces, because payloads may be anything from nothing to megabytes. */
function read<T extends Item>(limit: ReadLimit, into: T[], more: (count: number) => T[]): void {
  let bytes = 0;
  let ask = Math.min(limit.items, firstRead);
  while (ask > 0) {
    const items = more(ask);
    for (const item of items) {
      into.push(item);
      bytes += item.payload.length;
      if (bytes >= limit.payloadBytes) return;
    }
    if (items.length < ask) return;
    const mean = Math.max(1, bytes / into.length);
    const fitting = Math.ceil((limit.payloadBytes - bytes) / mean);
    ask = Math.min(limit.items - into.length, Math.max(1, fitting));
  }
}

function connect(options: SqliteOptions): Database {
  let database: Database | undefined;
  try {
    database = new Database(options.path, { create: true, readwrite: true, strict: true });
    configure(database, options);
    return database;
  } catch (cause) {
    database?.close();
    throw storeError(cause, "unusable");
  }
}

/**
 * Sets what durability and exclusivity rest on, and reads each setting back: a
 * build of SQLite that ignores one must not go unnoticed. The order counts:
 * `auto_vacuum` before the first table, the lock before the log.
 */
function configure(database: Database, { durability, pagesMax }: SqliteOptions): void {
  const synchronous = durability === "full" ? 2 : 1;
  const settings: [pragma: string, value: string | number, reads: string | number][] = [
    ["locking_mode", "EXCLUSIVE", "exclusive"],
    ["auto_vacuum", "INCREMENTAL", 2],
    ["journal_mode", "WAL", "wal"],
    ["synchronous", synchronous, synchronous],
    ["fullfsync", 1, 1],
    ["checkpoint_fullfsync", 1, 1],
    ["busy_timeout", 0, 0],
    ["cell_size_check", 1, 1],
    ["trusted_schema", 0, 0],
    ["foreign_keys", 0, 0],
    ["temp_store", "MEMORY", 2],
    ["journal_size_limit", 67_108_864, 67_108_864],
    ["cache_size", -cacheKibibytes, -cacheKibibytes],
    // Within a commit it would keep everyone waiting who is in that turn; see `relieve`.
    ["wal_autocheckpoint", 0, 0],
  ];
  for (const [pragma, value, expected] of settings) {
    database.query(`PRAGMA ${pragma} = ${value}`).values();
    const got = database.query(`PRAGMA ${pragma}`).values()[0]?.[0];
    if (got !== expected) {
      throw new StoreError(
        "unusable",
        `SQLite refused a setting; ${pragma} is ${got}, expected ${expected}`,
      );
    }
  }
  if (pagesMax !== undefined) database.query(`PRAGMA max_page_count = ${pagesMax}`).values();
  refuseOldSqlite(database);
}

/**
 * A checksum per row tells nothing of rows that can no longer be found: a bit that flips in a key,
 * or in what leads to a row, hides it. SQLite knows how its own pages have to hang together.
 */
function refuseDamagedFile(database: Database, bytes: number): void {
  if (bytes > checkedBytesMax) return;
  // Otherwise all that was looked through stays in memory.
  database.query(`PRAGMA cache_size = -${cacheKibibytesChecking}`).values();
  const found = database.query("PRAGMA integrity_check(1)").values()[0]?.[0];
  database.query(`PRAGMA cache_size = -${cacheKibibytes}`).values();
  if (found !== "ok") throw damagedFile(found);
}

/** Before 3.51.3 two connections could corrupt a log that is being reset. */
function refuseOldSqlite(database: Database): void {
  const version = String(database.query("SELECT sqlite_version()").values()[0]?.[0]);
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  const rank = major * 1_000_000 + minor * 1_000 + patch;
  if (rank < 3_051_003) {
    throw new StoreError("unusable", `SQLite is too old; expected 3.51.3 or later, got ${version}`);
  }
}

function damagedFile(cause: unknown): StoreError {
  return new StoreError("damaged", "the store's file is damaged; restore a backup", cause);
}

function storeError(cause: unknown, otherwise: "failed" | "unusable" = "failed"): StoreError {
  if (cause instanceof StoreError) return cause;
  const code = String((cause as { code?: unknown } | null)?.code ?? "");
  if (code.startsWith("SQLITE_FULL")) {
    return new StoreError("full", "there is no space left for the store", cause);
  }
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) {
    return new StoreError("locked", "the data directory is in use by another server", cause);
  }
  if (code.startsWith("SQLITE_CORRUPT") || code.startsWith("SQLITE_NOTADB")) {
    return damagedFile(cause);
  }
  return new StoreError(otherwise, "the store failed", cause);
}
