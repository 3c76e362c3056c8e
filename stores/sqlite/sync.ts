// How a commit reaches the disk. Where a sync is quick it is part of the commit. Where it takes
// long, the commit only writes the log, another thread syncs it, and the thread of the shard has
// its time for the next turn.

import { closeSync, fdatasync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import { storeError } from "./connect.ts";

/** Who syncs: `commit` = SQLite, within it; `thread` = another thread, after it; `auto` = whoever the disk gains from. */
export type SyncSetting = "auto" | "commit" | "thread";

/** Milliseconds of a sync up to which the way to another thread and back would cost more. */
const quickMs = 0.5;
const probeCount = 5;
const probeBytes = 4_096;

/** `auto` syncs a small file beside the one at `path` to see how long that takes. */
export function syncedBy(path: string, setting: SyncSetting = "auto"): "commit" | "thread" {
  if (setting !== "auto") return setting;
  // Other systems need more than a sync for the drive's own memory; SQLite knows what.
  if (process.platform !== "linux") return "commit";
  const probe = `${path}-probe`;
  try {
    return syncMs(probe) > quickMs ? "thread" : "commit";
  } catch {
    // The disk is full: then speed is not what counts.
    return "commit";
  } finally {
    rmSync(probe, { force: true });
  }
}

/** The shortest of a few, because others use the disk too. */
function syncMs(probe: string): number {
  const file = openSync(probe, "w", 0o600);
  try {
    const times = Array.from({ length: probeCount }, () => {
      writeSync(file, new Uint8Array(probeBytes), 0, probeBytes, 0);
      const start = performance.now();
      fdatasyncSync(file);
      return performance.now() - start;
    });
    return Math.min(...times);
  } finally {
    closeSync(file);
  }
}

/** A file to be synced, which has to stay the same as long as it is open. */
export class FileSync {
  readonly #path: string;
  #file: number | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  get #opened(): number {
    this.#file ??= openSync(this.#path, "r");
    return this.#file;
  }

  syncNow(): void {
    fdatasyncSync(this.#opened);
  }

  /** By another thread; rejects with `StoreError`. */
  async sync(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    fdatasync(this.#opened, (cause) => {
      if (cause === null) resolve();
      else reject(storeError(cause));
    });
    return promise;
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }
}
