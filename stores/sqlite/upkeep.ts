// What a shard's file needs beside its turns: the log goes to the file, free pages go
// back, a reserve is kept for the day the disk is full, and copies are made.

import type { Database, Statement } from "bun:sqlite";
import { closeSync, existsSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { copyFile, open } from "node:fs/promises";
import { basename, join } from "node:path";
import { StoreError } from "../store.ts";
import type { StoredCounts, StoreSize, Upkeep } from "../upkeep.ts";
import { bytesOf, checkedBytesMax, guard, storeError, transaction } from "./connect.ts";
import type { ItemTable } from "./item-table.ts";
import type { LogMark } from "./log-mark.ts";
import type { FileSync } from "./sync.ts";

export interface UpkeepOptions {
  readonly path: string;
  /** Bytes set aside so that leases and completes go on when the disk is full; 0 = none. */
  readonly ballastBytes: number;
  /** Only where commits are synced their end can be marked. */
  readonly marksLog: boolean;
}

/** What is kept up. */
interface Kept {
  readonly database: Database;
  readonly items: ItemTable;
  readonly mark: LogMark;
  readonly commits: number;
  /** Syncs what was committed; `null` = nothing is left to do. */
  readonly log: FileSync | null;
}

/** Pages given back to the file system in one piece of housekeeping: about 4 ms. */
const vacuumPages = 256;
/** The log is truncated, not only checkpointed, once it is longer than this when the shard is idle. */
const logBytesIdle = 1024 * 1024;
/** Pages in the log that are too many between two turns; a shard that is idle empties it before. */
const logPagesMax = 4_000;

export class SqliteUpkeep implements Upkeep {
  readonly #options: UpkeepOptions;
  readonly #database: Database;
  readonly #items: ItemTable;
  readonly #mark: LogMark;
  readonly #log: FileSync | null;
  /** The sync that runs. */
  #syncing: Promise<void> | null = null;
  readonly #ballastPath: string;
  #closed = false;
  readonly #logState: Statement;
  /** Those of turns and those of the catalog, since the store was made. */
  commits: number;

  constructor({ database, items, mark, commits, log }: Kept, options: UpkeepOptions) {
    this.#options = options;
    this.#database = database;
    this.#items = items;
    this.#mark = mark;
    this.#log = log;
    this.commits = commits;
    this.#ballastPath = `${options.path}-ballast`;
    this.#logState = database.prepare("PRAGMA wal_checkpoint(NOOP)");
    this.#fillBallast();
  }

  async relieve(): Promise<void> {
    if (guard(() => this.markLog()) < logPagesMax) return;
    await this.#syncing;
    guard(() => {
      try {
        this.#database.query("PRAGMA wal_checkpoint(PASSIVE)").values();
      } catch (cause) {
        // What is committed is in the log; it stays there until there is room.
        if (storeError(cause).fault !== "full") throw cause;
      }
    });
  }

  /** Remembers what has been synced; returns how many pages only the log has. */
  markLog(): number {
    const [[, logged = 0, moved = 0] = []] = this.#logState.values() as number[][];
    // Before the sync it would say too much.
    if (this.#options.marksLog && this.#syncing === null) this.#mark.set(logged, this.commits);
    return logged - moved;
  }

  async tidy(): Promise<boolean> {
    await this.#syncing;
    return guard(() => {
      if (this.#freePages() > vacuumPages) {
        this.#database.query(`PRAGMA incremental_vacuum(${vacuumPages})`).values();
        return true;
      }
      this.#fillBallast();
      if (this.size().logBytes > logBytesIdle) this.#emptyLog();
      return false;
    });
  }

  #freePages(): number {
    return Number(this.#database.query("PRAGMA freelist_count").values()[0]?.[0]);
  }

  #emptyLog(): void {
    this.#mark.clear();
    this.#database.query("PRAGMA wal_checkpoint(TRUNCATE)").values();
  }

  /** Written, not merely reserved, so that the bytes are there to be freed on a full disk. */
  #fillBallast(): void {
    const bytes = this.#options.ballastBytes;
    if (bytes === 0 || existsSync(this.#ballastPath)) return;
    if (!isWritten(this.#ballastPath, bytes)) rmSync(this.#ballastPath, { force: true });
  }

  /**
   * One commit, of a turn or of the catalog; the sync that is left to do, if one is. Where it finds
   * no room, the next will find what was set aside.
   */
  commit(work: () => void): Promise<void> | null {
    if (this.#closed) throw new StoreError("unusable", "store is closed");
    try {
      transaction(this.#database, work);
    } catch (cause) {
      const fault = storeError(cause);
      if (fault.fault === "full") rmSync(this.#ballastPath, { force: true });
      throw fault;
    }
    this.commits += 1;
    if (this.#log === null) return null;
    this.#syncing = this.#log.sync().then(() => {
      this.#syncing = null;
      guard(() => this.markLog());
    });
    return this.#syncing;
  }

  async backup(folder: string): Promise<number | null> {
    // Then all that is committed is in the one file, and nobody else writes to it.
    guard(() => this.#emptyLog());
    const copy = join(folder, basename(this.#options.path));
    try {
      // Beside the thread: one that is silent for as long as a large file takes would be replaced.
      await copyFile(this.#options.path, copy);
      await using file = await open(copy, "r+");
      await file.chmod(0o600);
      await file.sync();
      return (await file.stat()).size;
    } catch {
      return null;
    }
  }

  async countItems(): Promise<ReadonlyMap<number, StoredCounts> | null> {
    if (this.size().fileBytes > checkedBytesMax) return null;
    return guard(() => this.#items.counts());
  }

  size(): StoreSize {
    return {
      logBytes: bytesOf(`${this.#options.path}-wal`),
      fileBytes: bytesOf(this.#options.path),
      full: this.#options.ballastBytes > 0 && !existsSync(this.#ballastPath),
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    // Whether it failed is told to whoever waits for it.
    await this.#syncing?.catch(() => undefined);
    this.#logState.finalize();
    this.#log?.close();
  }
}

/** Where there is room for a part, the system writes that part and reports no fault. */
function isWritten(path: string, bytes: number): boolean {
  let file: number | null = null;
  try {
    file = openSync(path, "w", 0o600);
    const written = writeSync(file, new Uint8Array(bytes));
    fsyncSync(file);
    return written === bytes;
  } catch {
    return false;
  } finally {
    if (file !== null) closeSync(file);
  }
}
