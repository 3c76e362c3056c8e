// What a shard's file needs beside its turns: the log goes to the file, free pages go
// back, a full disk is lived with, and copies are made.

import type { Database, Statement } from "bun:sqlite";
import { basename, join } from "node:path";
import { StoreError } from "../store.ts";
import type { StoredCounts, StoreSize, Upkeep } from "../upkeep.ts";
import {
  bytesOf,
  checkedBytesMax,
  guard,
  namingNoRoom,
  noRoom,
  storeError,
  transaction,
} from "./connect.ts";
import type { ItemTable } from "./item-table.ts";
import type { LogMark } from "./log-mark.ts";
import { prepare } from "./prepared.ts";
import type { Room } from "./room.ts";
import type { FileSync } from "./sync.ts";

export interface UpkeepOptions {
  readonly path: string;
  /** Only where commits are synced their end can be marked. */
  readonly marksLog: boolean;
}

/** What is kept up. */
interface Kept {
  readonly database: Database;
  readonly items: ItemTable;
  readonly mark: LogMark;
  readonly room: Room;
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
  readonly #room: Room;
  readonly #log: FileSync | null;
  /** The sync that runs. */
  #syncing: Promise<void> | null = null;
  #closed = false;
  readonly #logState: Statement;
  /** Those of turns and those of the catalog, since the store was made. */
  commits: number;

  constructor({ database, items, mark, room, commits, log }: Kept, options: UpkeepOptions) {
    this.#options = options;
    this.#database = database;
    this.#items = items;
    this.#mark = mark;
    this.#room = room;
    this.#log = log;
    this.commits = commits;
    this.#logState = prepare(database, "PRAGMA wal_checkpoint(NOOP)");
  }

  async relieve(): Promise<void> {
    if (guard(() => this.markLog()) < logPagesMax) return;
    await this.#syncing;
    this.#empty();
  }

  /**
   * Whether all that was committed is in the file now. Where the disk has no room for that, it stays
   * in the log.
   */
  #empty(): boolean {
    return guard(() => {
      try {
        const [[, logged, moved] = []] = this.#database
          .query("PRAGMA wal_checkpoint(PASSIVE)")
          .values() as number[][];
        return logged === moved;
      } catch (cause) {
        if (this.#faultOf(cause).fault !== "full") throw cause;
        return false;
      }
    });
  }

  #faultOf(cause: unknown): StoreError {
    return storeError(namingNoRoom(cause, this.#options.path));
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
    if (this.#room.isInUse) this.#empty();
    return guard(() => {
      this.#room.look();
      const isMore = this.#freePages() > vacuumPages + this.#room.keptPages;
      if (isMore) return this.#isVacuumed();
      // On a full disk the log's room might be gone for good.
      if (!this.#room.isInUse && this.size().logBytes > logBytesIdle) this.#truncateLog();
      return false;
    });
  }

  #freePages(): number {
    return Number(this.#database.query("PRAGMA freelist_count").values()[0]?.[0]);
  }

  /** Pages that are given back are moved by the log, which may have no room. */
  #isVacuumed(): boolean {
    try {
      this.#database.query(`PRAGMA incremental_vacuum(${vacuumPages})`).values();
      return true;
    } catch (cause) {
      if (this.#faultOf(cause).fault !== "full") throw cause;
      return false;
    }
  }

  #truncateLog(): void {
    if (!this.#empty()) return;
    this.#mark.clear();
    this.#database.query("PRAGMA wal_checkpoint(TRUNCATE)").values();
  }

  /** One commit, of a turn or of the catalog; the sync that is left to do, if one is. */
  commit(work: () => void): Promise<void> | null {
    if (this.#closed) throw new StoreError("unusable", "store is closed");
    this.#transact(() => {
      work();
      this.#room.hold();
    });
    this.commits += 1;
    if (this.#log === null) return null;
    this.#syncing = this.#log.sync().then(() => {
      this.#syncing = null;
      guard(() => this.markLog());
    });
    return this.#syncing;
  }

  /** Where it finds no room, the next may find what was set aside. */
  #transact(work: () => void): void {
    for (let isAgain = false; ; isAgain = true) {
      try {
        transaction(this.#database, work);
        return;
      } catch (cause) {
        const fault = this.#faultOf(cause);
        if (fault.fault !== "full") throw fault;
        const wasWhole = this.#room.isWhole;
        // The log may be all that has no room, and begins anew once it is empty.
        const isTooLong = !wasWhole && !isAgain && guard(() => this.markLog()) > 0;
        if (isTooLong && this.#empty()) continue;
        this.#room.ranOut();
        if (wasWhole) this.#empty();
        throw fault;
      }
    }
  }

  async backup(folder: string): Promise<number | null> {
    // Then all that is committed is in the one file, and nobody else writes to it.
    if (!this.#empty()) throw noRoom();
    try {
      // By the thread pool: a large file must not stop the thread.
      return await this.#room.copyTo(join(folder, basename(this.#options.path)));
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
      full: this.#room.isFull,
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    // Whether it failed is told to whoever waits for it.
    await this.#syncing?.catch(() => undefined);
    this.#room.closing(this.#room.isInUse && this.#isEmptied());
    this.#log?.close();
  }

  /** As far as can be told: whoever closes a store may do so because it failed. */
  #isEmptied(): boolean {
    try {
      return this.#empty();
    } catch {
      return false;
    }
  }
}
