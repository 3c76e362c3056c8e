// Syncs the files of a store. On Linux the store syncs in Bun's thread pool and SQLite only writes,
// so a stalled disk never blocks the shard's thread. On other systems SQLite syncs in each commit
// and checkpoint, because only F_FULLFSYNC reaches the medium there.

import { close, closeSync, fdatasync, fsync, open, openSync, readSync, writeSync } from "node:fs";
import { promisify } from "node:util";
import { StoreError } from "../store.ts";
import { guard, isNoRoom } from "./connect.ts";
import { logStartBytes } from "./wal-scan.ts";

/** Syncs outside of the caller's thread. */
export interface Syncer {
  /** The content of an open file. */
  syncData(file: number): Promise<void>;
  /** The names in a folder. */
  syncFolder(path: string): Promise<void>;
}

const openFile = promisify(open);
const closeFile = promisify(close);
const syncContent = promisify(fdatasync);
const syncAll = promisify(fsync);
/** Buffer size of `syncAnew`. */
const rewrittenBytes = 1024 * 1024;

export const threadPoolSyncer: Syncer = {
  syncData: (file) => syncContent(file),
  async syncFolder(path) {
    const folder = await openFile(path, "r");
    try {
      await syncAll(folder);
    } finally {
      await closeFile(folder);
    }
  },
};

/** `null`: SQLite does the syncs. */
export const systemSyncer = process.platform === "linux" ? threadPoolSyncer : null;

/**
 * SQLite's write-ahead log, which is the same file for as long as the database is open. SQLite
 * holds no lock on it, so a descriptor of it may be closed at any time.
 */
export class LogFile {
  readonly #file: number;
  readonly #syncer: Syncer;

  constructor(path: string, syncer: Syncer) {
    this.#file = openSync(path, "r+");
    this.#syncer = syncer;
  }

  sync(): Promise<void> {
    return syncData(this.#syncer, this.#file);
  }

  /**
   * Syncs the writes of another process, or of this one before a failure. After a failed sync the
   * system reports the error once and treats the pages as synced, so they are rewritten first.
   */
  async syncAnew(): Promise<void> {
    const part = Buffer.allocUnsafe(rewrittenBytes);
    try {
      for (let at = 0; ; ) {
        const length = readSync(this.#file, part, 0, part.length, at);
        if (length === 0) break;
        at += writeSync(this.#file, part, 0, length, at);
      }
    } catch (cause) {
      // On file systems where an overwrite needs new space, a full disk has none.
      if (!isNoRoom(cause)) throw cause;
    }
    await this.sync();
  }

  /**
   * Invalidates all frames. SQLite restarts the log by overwriting its header and then its frames.
   * Without a sync between the two, a power cut could leave the old header with some old frames:
   * pages older than those in the database. The write is within one sector, so it is atomic.
   */
  async invalidate(): Promise<void> {
    guard(() => writeSync(this.#file, new Uint8Array(logStartBytes), 0, logStartBytes, 0));
    await this.sync();
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** Every error becomes `failed`: even for lack of room, the writes may or may not be durable. */
export async function syncData(syncer: Syncer, file: number): Promise<void> {
  try {
    await syncer.syncData(file);
  } catch (cause) {
    throw new StoreError("failed", "the store failed to sync", cause);
  }
}
