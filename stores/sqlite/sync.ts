// Who syncs the files of a store. On Linux the store does, in Bun's thread pool: SQLite only writes,
// so a disk that stalls never stops the thread that runs the shard. On other systems SQLite syncs
// within each commit and each checkpoint, because only F_FULLFSYNC reaches the medium there.

import {
  close,
  closeSync,
  fdatasync,
  fsync,
  open,
  openSync,
  read,
  write,
  writeSync,
} from "node:fs";
import { promisify } from "node:util";
import { StoreError } from "../store.ts";
import { guard, isNoRoom } from "./connect.ts";
import { logStartBytes } from "./wal-scan.ts";

/** Syncs outside of the thread of its caller. */
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
const readAt = promisify(read);
const writeAt = promisify(write);
/** Written again at a time. */
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

/** `null`: SQLite syncs. */
export const systemSyncer = process.platform === "linux" ? threadPoolSyncer : null;

/**
 * SQLite's write-ahead log, which stays one file for as long as the database is open. SQLite takes no
 * lock on it, so a descriptor of it may be closed at any time.
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
   * Syncs what another process, or this one before a failure, has written. The system reports a failed
   * sync once and then takes the pages for synced, so they are written again first.
   */
  async syncAnew(): Promise<void> {
    const part = Buffer.allocUnsafe(rewrittenBytes);
    try {
      for (let at = 0; ; ) {
        const { bytesRead } = await readAt(this.#file, part, 0, part.length, at);
        if (bytesRead === 0) break;
        at += (await writeAt(this.#file, part, 0, bytesRead, at)).bytesWritten;
      }
    } catch (cause) {
      // Where each write takes new room, a full disk has none.
      if (!isNoRoom(cause)) throw cause;
    }
    await this.sync();
  }

  /**
   * Invalidates all frames. SQLite begins the log anew by overwriting its header and then its frames,
   * and without a sync between the two a power cut could leave the old header before some of the old
   * frames: pages older than those in the database. One sector, so it is written whole or not at all.
   */
  async invalidate(): Promise<void> {
    guard(() => writeSync(this.#file, new Uint8Array(logStartBytes), 0, logStartBytes, 0));
    await this.sync();
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** Whatever the cause, what was written may be lost: even if there is no room, the outcome is unknown. */
export async function syncData(syncer: Syncer, file: number): Promise<void> {
  try {
    await syncer.syncData(file);
  } catch (cause) {
    throw new StoreError("failed", "the store failed to sync", cause);
  }
}
