// Commits a shard's turns, and maintains its file: checkpoints, vacuum, a full disk and backups.

import type { Database, Statement } from "bun:sqlite";
import { basename, join } from "node:path";
import type { Maintenance, StoredCounts, StoreSize } from "../maintenance.ts";
import { StoreError, type Written } from "../store.ts";
import {
  bytesOf,
  checkedBytesMax,
  guard,
  letSync,
  namingNoRoom,
  noRoom,
  storeError,
  transaction,
  withSmallCache,
} from "./connect.ts";
import type { ItemTable } from "./item-table.ts";
import { prepare } from "./prepared.ts";
import type { Room } from "./room.ts";
import { type LogFile, type Syncer, syncData } from "./sync.ts";
import type { WalWatermark } from "./wal-watermark.ts";

export interface MaintenanceOptions {
  readonly path: string;
  /** Each commit is synced, by SQLite or by the store, so the log's end can be marked. */
  readonly syncsCommits: boolean;
  /** `null`: SQLite does the syncs. */
  readonly syncer: Syncer | null;
}

interface MaintenanceParts {
  readonly database: Database;
  readonly items: ItemTable;
  readonly mark: WalWatermark;
  readonly room: Room;
  readonly log: LogFile;
  readonly commits: number;
}

/** Pages returned to the file system in one piece of maintenance: about 4 ms. */
const vacuumPages = 256;
/** An idle shard truncates its log if it is longer than this. */
const logBytesIdle = 1024 * 1024;
/** With so many pages the log is checkpointed between two turns: copying them takes 6 to 8 ms. */
const logPagesMax = 2_000;

export class SqliteMaintenance implements Maintenance {
  readonly #options: MaintenanceOptions;
  readonly #database: Database;
  readonly #items: ItemTable;
  readonly #mark: WalWatermark;
  readonly #room: Room;
  readonly #log: LogFile;
  /** The current sync. No commit may follow before it ends, and none at all if it fails. */
  #syncing: Promise<void> | null = null;
  #closed = false;
  readonly #logState: Statement;
  /** Since the store was created. */
  #commits: number;

  constructor(
    { database, items, mark, room, commits, log }: MaintenanceParts,
    options: MaintenanceOptions,
  ) {
    this.#options = options;
    this.#database = database;
    this.#items = items;
    this.#mark = mark;
    this.#room = room;
    this.#log = log;
    this.#commits = commits;
    this.#logState = prepare(database, "PRAGMA wal_checkpoint(NOOP)");
  }

  async relieve(): Promise<void> {
    if (this.#logPages().missing >= logPagesMax) await this.#empty();
  }

  /**
   * Writes the log into the file and syncs it, so that the next commit may restart the log. Returns
   * `false` if the disk has no room, in which case the log keeps its content.
   */
  async #empty(): Promise<boolean> {
    while (this.#syncing !== null) await this.#syncing;
    if (this.#logPages().missing === 0) return true;
    let isEmpty = false;
    await this.#sync(async () => {
      isEmpty = await this.#emptied();
    });
    return isEmpty;
  }

  async #emptied(): Promise<boolean> {
    const { syncer, syncsCommits } = this.#options;
    // Otherwise a power cut could leave pages of a commit in the file but lose its frames.
    if (syncer !== null && !syncsCommits) await this.#log.sync();
    if (!this.#checkpoint()) return false;
    if (syncer !== null) await syncData(syncer, this.#room.file);
    await this.#log.invalidate();
    return true;
  }

  /** Commits wait for the end of the work. */
  #sync(work: () => Promise<void>): Promise<void> {
    this.#syncing = work().then(() => {
      this.#syncing = null;
    });
    return this.#syncing;
  }

  /** Not in steps: SQLite copies all pages of the log, and starts again if it is interrupted. */
  #checkpoint(): boolean {
    try {
      const [[, logged, moved] = []] = this.#database
        .query("PRAGMA wal_checkpoint(PASSIVE)")
        .values() as number[][];
      return logged === moved;
    } catch (cause) {
      return this.#refused(cause);
    }
  }

  /** Returns `false` for lack of room; throws any other fault. */
  #refused(cause: unknown): false {
    const fault = this.#faultOf(cause);
    if (fault.fault !== "full") throw fault;
    return false;
  }

  #faultOf(cause: unknown): StoreError {
    return storeError(namingNoRoom(cause, this.#options.path));
  }

  /** Pages of the log, and how many of them the file does not have yet. */
  #logPages(): { readonly logged: number; readonly missing: number } {
    const [[, logged = 0, moved = 0] = []] = guard(() => this.#logState.values() as number[][]);
    return { logged, missing: logged - moved };
  }

  async tidy(): Promise<boolean> {
    await this.#syncing;
    if (this.#room.isInUse) await this.#empty();
    await this.#room.look().catch((cause) => {
      throw storeError(cause);
    });
    const isMore = guard(() => this.#freePages()) > vacuumPages + this.#room.keptPages;
    if (isMore) return this.#vacuum();
    // On a full disk, space released from the log could be lost to other programs.
    if (!this.#room.isInUse && this.size().logBytes > logBytesIdle) await this.#truncateLog();
    return false;
  }

  #freePages(): number {
    return Number(this.#database.query("PRAGMA freelist_count").values()[0]?.[0]);
  }

  /** Moves pages by way of the log, which may lack room. */
  async #vacuum(): Promise<boolean> {
    try {
      this.#database.query(`PRAGMA incremental_vacuum(${vacuumPages})`).values();
    } catch (cause) {
      return this.#refused(cause);
    }
    await this.#syncCommit();
    return true;
  }

  async #truncateLog(): Promise<void> {
    if (!(await this.#empty())) return;
    guard(() => this.#database.query("PRAGMA wal_checkpoint(TRUNCATE)").values());
  }

  async commit(work: () => void): Promise<Written> {
    while (this.#syncing !== null) await this.#syncing;
    if (this.#closed) throw new StoreError("unusable", "store is closed");
    await this.#transact(() => {
      work();
      this.#room.hold();
    });
    this.#commits += 1;
    return { synced: this.#syncCommit() };
  }

  /** Syncs the log unless SQLite has done so, then marks its end. */
  #syncCommit(): Promise<void> | null {
    const { syncer, syncsCommits } = this.#options;
    if (!syncsCommits) return null;
    const mark = (): void => this.#mark.set(this.#logPages().logged, this.#commits);
    if (syncer !== null) return this.#sync(() => this.#log.sync().then(mark));
    mark();
    return null;
  }

  /** For lack of room, releases the reserve, so that the next commit may succeed. */
  async #transact(work: () => void): Promise<void> {
    for (let isAgain = false; ; isAgain = true) {
      try {
        transaction(this.#database, work);
        return;
      } catch (cause) {
        const fault = this.#faultOf(cause);
        if (fault.fault !== "full") throw fault;
        const wasWhole = this.#room.isWhole;
        // Only the log may lack room, and it restarts once it is empty.
        const isTooLong = !wasWhole && !isAgain && this.#logPages().missing > 0;
        if (isTooLong && (await this.#empty())) continue;
        this.#room.ranOut();
        if (wasWhole) await this.#empty();
        throw fault;
      }
    }
  }

  async backup(folder: string): Promise<number | null> {
    // All committed data is then in the one file, and nothing else writes to it.
    if (!(await this.#empty())) throw noRoom();
    try {
      // In the thread pool: copying a large file must not block this thread.
      return await this.#room.copyTo(join(folder, basename(this.#options.path)));
    } catch {
      return null;
    }
  }

  async countItems(): Promise<ReadonlyMap<number, StoredCounts> | null> {
    if (this.size().fileBytes > checkedBytesMax) return null;
    return guard(() => withSmallCache(this.#database, () => this.#items.counts()));
  }

  size(): StoreSize {
    return {
      logBytes: bytesOf(`${this.#options.path}-wal`),
      fileBytes: bytesOf(this.#options.path),
      full: this.#room.isFull,
    };
  }

  /** Call it before the database is closed. Returns whether the log is no longer needed. */
  async close(): Promise<boolean> {
    this.#closed = true;
    // The caller of the failed sync has the error already.
    const isEmpty = await this.#empty().catch(() => false);
    this.#log.close();
    // Even if it is empty: a full disk may have no room for a new log.
    if (!isEmpty || this.#room.isInUse) this.#room.keepLog();
    // SQLite checkpoints the log when it closes.
    if (!isEmpty) letSync(this.#database, true);
    return isEmpty;
  }
}
