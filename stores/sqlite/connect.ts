// Opens the file of a shard: checks it for damage and verifies the settings that durability and
// exclusivity depend on. Maps SQLite's errors to `StoreError`.

import { Database } from "bun:sqlite";
import { closeSync, openSync, rmSync, statSync, writeFileSync } from "node:fs";
import { StoreError } from "../store.ts";

export type Durability = "full" | "normal";

export interface ConnectOptions {
  /** The file; its folder must exist. */
  readonly path: string;
  readonly durability: Durability;
  /** Create the file if it is missing; default true. */
  readonly create?: boolean;
  /** Maximum size of the file in pages; for tests of a full disk. */
  readonly pagesMax?: number;
}

/** A backlog is read sequentially, and the system caches the file: more would only use memory. */
const cacheKibibytes = 16_384;
const cacheKibibytesChecking = 1_024;
/** Files up to this size are checked when they are opened, at about 2 GB per second. */
export const checkedBytesMax = 256 * 1024 * 1024;
const probeBytes = 4_096;

export function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

export function connect(options: ConnectOptions): Database {
  let database: Database | undefined;
  try {
    const { path, create = true } = options;
    if (create) createForOwner(path);
    database = new Database(path, { create, readwrite: true, strict: true });
    configure(database, options);
  } catch (cause) {
    database?.close();
    throw storeError(namingNoRoom(cause, options.path), "unusable");
  }
  try {
    refuseDamagedFile(database, bytesOf(options.path));
    return database;
  } catch (cause) {
    database.close();
    throw storeError(cause);
  }
}

/** SQLite gives the log the same permissions as the file. */
function createForOwner(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch {
    // It exists, or SQLite reports more precisely why it cannot be created.
  }
}

/**
 * Reads each setting back, because a build of SQLite may silently ignore it. The order matters:
 * `auto_vacuum` before the first table, the lock before the log.
 */
function configure(database: Database, { durability, pagesMax }: ConnectOptions): void {
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
    // Within a commit, a checkpoint would delay all answers of the turn; see `relieve`.
    ["wal_autocheckpoint", 0, 0],
  ];
  for (const setting of settings) set(database, ...setting);
  if (pagesMax !== undefined) database.query(`PRAGMA max_page_count = ${pagesMax}`).values();
  refuseOldSqlite(database);
}

function set(database: Database, pragma: string, value: string | number, reads = value): void {
  const read = (): unknown => database.query(`PRAGMA ${pragma}`).values()[0]?.[0];
  // Some settings are stored in the file, and a full disk has no room to rewrite them.
  if (read() === reads) return;
  database.query(`PRAGMA ${pragma} = ${value}`).values();
  const got = read();
  if (got !== reads) {
    throw new StoreError(
      "unusable",
      `SQLite refused a setting; ${pragma} is ${got}, expected ${reads}`,
    );
  }
}

/**
 * If `isSynced`, SQLite syncs log and file at each checkpoint, including the one when the database
 * is closed. Otherwise the caller must, and also before each commit that may restart the log.
 */
export function letSync(database: Database, isSynced: boolean): void {
  set(database, "synchronous", isSynced ? 1 : 0);
}

/** Before 3.51.3, two connections could corrupt a log that is being reset. */
function refuseOldSqlite(database: Database): void {
  const version = String(database.query("SELECT sqlite_version()").values()[0]?.[0]);
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  const rank = major * 1_000_000 + minor * 1_000 + patch;
  if (rank < 3_051_003) {
    throw new StoreError("unusable", `SQLite is too old; expected 3.51.3 or later, got ${version}`);
  }
}

/**
 * Checksums per row cannot detect missing rows: a flipped bit in a key, or in a page that leads to
 * a row, hides the row. SQLite's check of its own pages finds that.
 */
function refuseDamagedFile(database: Database, bytes: number): void {
  if (bytes > checkedBytesMax) return;
  const check = (): unknown => database.query("PRAGMA integrity_check(1)").values()[0]?.[0];
  const found = withSmallCache(database, check);
  if (found !== "ok") throw damagedFile(found);
}

/** For reading the whole file: otherwise its pages stay in memory. */
export function withSmallCache<T>(database: Database, read: () => T): T {
  database.query(`PRAGMA cache_size = -${cacheKibibytesChecking}`).values();
  try {
    return read();
  } finally {
    database.query(`PRAGMA cache_size = -${cacheKibibytes}`).values();
  }
}

function damagedFile(cause: unknown): StoreError {
  return new StoreError("damaged", "the store's file is damaged; restore a backup", cause);
}

export function storeError(
  cause: unknown,
  otherwise: "failed" | "unusable" = "failed",
): StoreError {
  if (cause instanceof StoreError) return cause;
  const code = codeOf(cause);
  if (code === "SQLITE_FULL" || isNoRoom(cause)) return noRoom(cause);
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) {
    return new StoreError("locked", "the data folder is in use by another server", cause);
  }
  if (code.startsWith("SQLITE_CORRUPT") || code.startsWith("SQLITE_NOTADB")) {
    return damagedFile(cause);
  }
  return new StoreError(otherwise, "the store failed", cause);
}

function codeOf(cause: unknown): string {
  return String((cause as { code?: unknown } | null)?.code ?? "");
}

export function noRoom(cause?: unknown): StoreError {
  return new StoreError("full", "there is no space left for the store", cause);
}

/** A full disk, an exhausted quota, or a limit on the file's size. */
export function isNoRoom(cause: unknown): boolean {
  return ["ENOSPC", "EDQUOT", "EFBIG"].includes(codeOf(cause));
}

/**
 * SQLite reports an exhausted quota as a failed write, and lack of room for a new file as a file
 * that cannot be opened. A probe write beside the file shows the system's own error.
 */
export function namingNoRoom(cause: unknown, path: string): unknown {
  if (!["SQLITE_IOERR_WRITE", "SQLITE_CANTOPEN"].includes(codeOf(cause))) return cause;
  const probe = `${path}-probe`;
  try {
    writeFileSync(probe, new Uint8Array(probeBytes), { mode: 0o600 });
    return cause;
  } catch (refused) {
    return isNoRoom(refused) ? noRoom(cause) : cause;
  } finally {
    rmSync(probe, { force: true });
  }
}

/** Converts errors of the work to `StoreError`. */
export function guard<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw storeError(cause);
  }
}

/** Commits all changes of the work, or none. */
export function transaction(database: Database, work: () => void): void {
  try {
    // `query` caches prepared statements.
    database.query("BEGIN IMMEDIATE").run();
    work();
    database.query("COMMIT").run();
  } catch (cause) {
    // After most failures SQLite has rolled back already, and a second rollback would fail.
    if (database.inTransaction) {
      try {
        database.run("ROLLBACK");
      } catch {
        throw new StoreError("failed", "the store could neither commit nor roll back", cause);
      }
    }
    throw storeError(cause);
  }
}
