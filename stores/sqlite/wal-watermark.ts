// Records the synced length of SQLite's write-ahead log. A log that has lost its end looks like one
// that was never longer, so the log alone cannot show the loss. The mark is a separate file with
// the number of synced commits, and the least number of frames in the log's generation with these
// salts. It is written after the sync and is not synced itself. So a power cut may leave an older
// mark, which claims less, but never one that claims too much.

import {
  closeSync,
  constants,
  fsync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { promisify } from "node:util";
import { isNoRoom } from "./connect.ts";
import { isLogStart } from "./wal-scan.ts";

const markBytes = 24;
const logHeaderBytes = 32;
const saltsAt = 16;

interface Watermark {
  readonly salt1: number;
  readonly salt2: number;
  /** 0 = nothing is known about the log. */
  readonly frames: number;
  /** Synced commits since the store was created. */
  readonly commits: number;
}

/** `null`: the mark is missing or unreadable, which claims nothing. */
function readMark(path: string): Watermark | null {
  try {
    const bytes = readFileSync(path);
    if (bytes.length !== markBytes) return null;
    const isWhole = Bun.hash.crc32(bytes.subarray(0, 20)) === bytes.readUInt32LE(20);
    if (!isWhole) return null;
    return {
      salt1: bytes.readUInt32LE(0),
      salt2: bytes.readUInt32LE(4),
      frames: bytes.readUInt32LE(8),
      commits: bytes.readDoubleLE(12),
    };
  } catch {
    return null;
  }
}

const syncFile = promisify(fsync);
const header = Buffer.alloc(logHeaderBytes);

/** The salts in a log's header; `null` = no header, for example after it was invalidated. */
function readSalts(file: number): Pick<Watermark, "salt1" | "salt2"> | null {
  if (readSync(file, header, 0, logHeaderBytes, 0) < logHeaderBytes) return null;
  if (!isLogStart(header)) return null;
  return { salt1: header.readUInt32LE(saltsAt), salt2: header.readUInt32LE(saltsAt + 4) };
}

/**
 * A log compared with its watermark. `cut`: synced frames are missing. `missing`: there is no log, or it
 * is empty. The database file must then contain all `commits`, because the log is emptied or removed
 * only after a complete checkpoint.
 */
export type LogState =
  | { readonly is: "whole" }
  | { readonly is: "cut" | "missing"; readonly commits: number };

/** Synced commits by the watermark of a damaged log; 0 = unknown. */
export function markedCommits(markPath: string): number {
  return readMark(markPath)?.commits ?? 0;
}

/** `frames`: recoverable frames. The log's header must be intact, or the log empty. */
export function stateOfLog(log: string, markPath: string, frames: number): LogState {
  const mark = readMark(markPath);
  if (mark === null || mark.frames === 0) return { is: "whole" };
  let file: number;
  try {
    file = openSync(log, "r");
  } catch {
    return { is: "missing", commits: mark.commits };
  }
  try {
    const salts = readSalts(file);
    if (salts === null) return { is: "missing", commits: mark.commits };
    // The mark claims nothing about a later generation.
    const isSame = salts.salt1 === mark.salt1 && salts.salt2 === mark.salt2;
    const isCut = isSame && frames < mark.frames;
    return isCut ? { is: "cut", commits: mark.commits } : { is: "whole" };
  } finally {
    closeSync(file);
  }
}

/** The watermark of an open log, which is the same file for as long as the database is open. */
export class WalWatermark {
  readonly #path: string;
  readonly #logPath: string;
  readonly #bytes = Buffer.alloc(markBytes);
  #file: number | null = null;
  #log: number | null = null;

  constructor(path: string, logPath: string) {
    this.#path = path;
    this.#logPath = logPath;
  }

  /**
   * Call it once so many frames and commits are synced. If the write fails, the older mark remains.
   */
  set(frames: number, commits: number): void {
    if (frames === 0) return;
    try {
      this.#log ??= openSync(this.#logPath, "r");
      const salts = readSalts(this.#log);
      if (salts !== null) this.#write({ ...salts, frames, commits });
    } catch {
      // The older mark claims less, but nothing false.
    }
  }

  /** Forgets an accepted loss, durably. */
  async clear(): Promise<void> {
    try {
      await syncFile(this.#write({ salt1: 0, salt2: 0, frames: 0, commits: 0 }));
    } catch (cause) {
      if (!isNoRoom(cause)) throw cause;
      // Overwriting needs no room, so there was no mark before. An absent mark claims nothing.
      this.remove();
    }
  }

  #write({ salt1, salt2, frames, commits }: Watermark): number {
    this.#file ??= openSync(this.#path, constants.O_RDWR | constants.O_CREAT, 0o600);
    this.#bytes.writeUInt32LE(salt1, 0);
    this.#bytes.writeUInt32LE(salt2, 4);
    this.#bytes.writeUInt32LE(frames, 8);
    this.#bytes.writeDoubleLE(commits, 12);
    this.#bytes.writeUInt32LE(Bun.hash.crc32(this.#bytes.subarray(0, 20)), 20);
    writeSync(this.#file, this.#bytes, 0, markBytes, 0);
    return this.#file;
  }

  /** Call it once the log is removed. The next `set` recreates the file. */
  remove(): void {
    this.close();
    rmSync(this.#path, { force: true });
  }

  close(): void {
    for (const file of [this.#file, this.#log]) if (file !== null) closeSync(file);
    this.#file = null;
    this.#log = null;
  }
}
