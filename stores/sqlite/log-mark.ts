// Remembers how long SQLite's write-ahead log was when it was synced last. A log
// that has lost its end looks like one that was never longer, so nothing in the
// log itself can tell. The mark stands in a file of its own and says: so many
// commits were synced, and of the log's generation with these salts at least so many
// frames. It is written only after the sync and is itself not synced, so a power
// cut may leave an older mark, which says less, and never one that says too much.

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

interface Mark {
  readonly salt1: number;
  readonly salt2: number;
  /** 0 = nothing is known of the log. */
  readonly frames: number;
  /** Those that were synced, since the store was made. */
  readonly commits: number;
}

/** `null` when there is none, or none that can be read: then it says nothing. */
function readMark(path: string): Mark | null {
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

/** The salts in the header of a log; `null` when it has no header, as when it was invalidated. */
function readSalts(file: number): Pick<Mark, "salt1" | "salt2"> | null {
  if (readSync(file, header, 0, logHeaderBytes, 0) < logHeaderBytes) return null;
  if (!isLogStart(header)) return null;
  return { salt1: header.readUInt32LE(saltsAt), salt2: header.readUInt32LE(saltsAt + 4) };
}

/**
 * What a mark says of a log. `cut`: it has lost frames that were synced. `gone`: it does not exist, or
 * is empty; then the file itself must have `commits`, because a log is emptied or removed only once
 * the file has all of it.
 */
export type LogState =
  | { readonly is: "whole" }
  | { readonly is: "cut" | "gone"; readonly commits: number };

/** Of a log that is known to be damaged; 0 = unknown. */
export function markedCommits(markPath: string): number {
  return readMark(markPath)?.commits ?? 0;
}

/** `frames`: those that can be recovered from the log. Its header must be whole, or the log empty. */
export function stateOfLog(log: string, markPath: string, frames: number): LogState {
  const mark = readMark(markPath);
  if (mark === null || mark.frames === 0) return { is: "whole" };
  let file: number;
  try {
    file = openSync(log, "r");
  } catch {
    return { is: "gone", commits: mark.commits };
  }
  try {
    const salts = readSalts(file);
    if (salts === null) return { is: "gone", commits: mark.commits };
    // Of a later generation the mark knows nothing.
    const isSame = salts.salt1 === mark.salt1 && salts.salt2 === mark.salt2;
    const isCut = isSame && frames < mark.frames;
    return isCut ? { is: "cut", commits: mark.commits } : { is: "whole" };
  } finally {
    closeSync(file);
  }
}

/** The mark of a log that is in use. Its log stays one file as long as it is open. */
export class LogMark {
  readonly #path: string;
  readonly #logPath: string;
  readonly #bytes = Buffer.alloc(markBytes);
  #file: number | null = null;
  #log: number | null = null;

  constructor(path: string, logPath: string) {
    this.#path = path;
    this.#logPath = logPath;
  }

  /** To be called when so many frames and commits have been synced. Where it cannot be written, the older one stays. */
  set(frames: number, commits: number): void {
    if (frames === 0) return;
    try {
      this.#log ??= openSync(this.#logPath, "r");
      const salts = readSalts(this.#log);
      if (salts !== null) this.#write({ ...salts, frames, commits });
    } catch {
      // It says less than it could, and nothing that is wrong.
    }
  }

  /** Forgets a loss that was accepted; a power cut does not bring it back. */
  async clear(): Promise<void> {
    try {
      await syncFile(this.#write({ salt1: 0, salt2: 0, frames: 0, commits: 0 }));
    } catch (cause) {
      if (!isNoRoom(cause)) throw cause;
      // What was never written says nothing, and what was is written over without more room.
      this.remove();
    }
  }

  #write({ salt1, salt2, frames, commits }: Mark): number {
    this.#file ??= openSync(this.#path, constants.O_RDWR | constants.O_CREAT, 0o600);
    this.#bytes.writeUInt32LE(salt1, 0);
    this.#bytes.writeUInt32LE(salt2, 4);
    this.#bytes.writeUInt32LE(frames, 8);
    this.#bytes.writeDoubleLE(commits, 12);
    this.#bytes.writeUInt32LE(Bun.hash.crc32(this.#bytes.subarray(0, 20)), 20);
    writeSync(this.#file, this.#bytes, 0, markBytes, 0);
    return this.#file;
  }

  /** To be called when the log is gone. The next `set` makes it again. */
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
