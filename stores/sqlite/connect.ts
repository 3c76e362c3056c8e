// Opens the file of a shard: a connection whose settings are those that durability and
// exclusivity rest on, on a file that is not damaged; and what its errors mean.

import { Database } from "bun:sqlite";
import { closeSync, openSync, rmSync, statSync, writeFileSync } from "node:fs";
import { StoreError } from "../store.ts";

export type Durability = "full" | "normal";

export interface ConnectOptions {
  /** The file; its folder must exist. */
  readonly path: string;
  readonly durability: Durability;
  /** Make the file if it is missing; default true. */
  readonly create?: boolean;
  /** The most the file may grow to, in pages; for tests of a full disk. */
  readonly pagesMax?: number;
}

/** A backlog is read from its head on, and the system has the file in its own cache: more only takes memory. */
const cacheKibibytes = 16_384;
const cacheKibibytesChecking = 1_024;
/** Files up to this size are looked through when they are opened, at about 2 GB a second. */
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

/** SQLite gives its log the rights that its file has. */
function createForOwner(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch {
    // It exists, or SQLite says better why it cannot be created.
  }
}

/**
 * Sets what durability and exclusivity rest on, and reads each setting back: a
 * build of SQLite that ignores one must not go unnoticed. The order counts:
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
    // Within a commit it would keep everyone waiting who is in that turn; see `relieve`.
    ["wal_autocheckpoint", 0, 0],
  ];
  for (const setting of settings) set(database, ...setting);
  if (pagesMax !== undefined) database.query(`PRAGMA max_page_count = ${pagesMax}`).values();
  refuseOldSqlite(database);
}

function set(database: Database, pragma: string, value: string | number, reads = value): void {
  const read = (): unknown => database.query(`PRAGMA ${pragma}`).values()[0]?.[0];
  // Some are part of the file, and a full disk has no room to write them again.
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
 * Whether SQLite syncs: log and file at a checkpoint, which includes the one when the database is
 * closed. Otherwise its caller has to, also before each commit that may begin the log anew.
 */
export function letSync(database: Database, isSynced: boolean): void {
  set(database, "synchronous", isSynced ? 1 : 0);
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
    return new StoreError("locked", "the data directory is in use by another server", cause);
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

/** The system's word for a full disk, a used-up quota, or a file that must not grow. */
export function isNoRoom(cause: unknown): boolean {
  return ["ENOSPC", "EDQUOT", "EFBIG"].includes(codeOf(cause));
}

/**
 * SQLite calls a used-up quota a failed write, and a file that has no room to be made one that
 * cannot be opened. Only the system can say which, so it is asked for a few bytes beside the file.
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

/** What the work throws is a `StoreError`. */
export function guard<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw storeError(cause);
  }
}

/** All that the work changes is committed, or nothing of it. */
export function transaction(database: Database, work: () => void): void {
  try {
    // `query` keeps what it has prepared.
    database.query("BEGIN IMMEDIATE").run();
    work();
    database.query("COMMIT").run();
  } catch (cause) {
    // SQLite has rolled back by itself after most failures, and then this one fails too.
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
