// Distinguishes a torn end of SQLite's write-ahead log from damage within it. SQLite cannot: it
// treats the first frame with a wrong checksum as the end, and silently drops all later commits.
// Must run before SQLite opens the file.
//
// With durability `full` each commit is written only after the previous one is synced, so a crash
// can affect only the last commit. If a whole commit follows another one after the break, bytes
// that were synced before it have changed since. With `normal` that is true for a killed process,
// but not for a power cut.
//
//   header 32 | frame | frame | frame ...      frame = header 24 | page
//
// A frame's checksum continues that of the previous frame, so the whole log is one chain that
// starts at the header. After a checkpoint SQLite restarts at the front with new salts and leaves
// the old frames after the new ones. Before that, the store overwrites the header and the first
// frame's header with zeros and syncs them. So a log that starts with zeros is empty.
// Format: https://sqlite.org/fileformat2.html#walformat

import { closeSync, fstatSync, openSync, readSync } from "node:fs";

export interface WalScan {
  /**
   * `clean`: every commit is whole. `torn`: the last commit is incomplete, as after a crash.
   * `damaged`: synced commits cannot be read.
   */
  readonly verdict: "clean" | "torn" | "damaged";
  /** Frames that SQLite will recover, up to the last whole commit. */
  readonly frames: number;
  /** Commits among them. */
  readonly commits: number;
  /** Offset of the first frame that does not continue the chain; `null` if clean. */
  readonly brokenAtByte: number | null;
}

/** Fills `into` with the bytes at offset `at`. */
type ReadAt = (into: Uint8Array<ArrayBuffer>, at: number) => void;

const headerBytes = 32;
const frameHeaderBytes = 24;
/** Zeros here empty a log: without the first frame's salts, no header can appear damaged. */
export const logStartBytes = headerBytes + frameHeaderBytes;
const magicLittleEndian = 0x377f_0682;
const magicBigEndian = 0x377f_0683;
const version = 3_007_000;
const hostIsLittleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
/** Bytes per read: a log may be too long for memory. */
const chunkBytes = 1024 * 1024;

/** Whether the first bytes are a log's header. */
export function isLogStart(bytes: Buffer): boolean {
  const magic = bytes.readUInt32BE(0);
  return magic === magicLittleEndian || magic === magicBigEndian;
}

/** An empty file is a clean log. */
export function scanWal(path: string): WalScan {
  const file = openSync(path, "r");
  try {
    return scan(fstatSync(file).size, (into, at) => {
      for (let done = 0; done < into.length; ) {
        const count = readSync(file, into, done, into.length - done, at + done);
        if (count === 0) throw new Error(`the log became shorter while it was read; ${path}`);
        done += count;
      }
    });
  } finally {
    closeSync(file);
  }
}

export function scanWalBytes(bytes: Uint8Array): WalScan {
  return scan(bytes.length, (into, at) => into.set(bytes.subarray(at, at + into.length)));
}

const empty: WalScan = { verdict: "clean", frames: 0, commits: 0, brokenAtByte: null };

function scan(byteCount: number, readAt: ReadAt): WalScan {
  if (byteCount === 0) return empty;
  const start = new Uint8Array(new ArrayBuffer(headerBytes));
  if (byteCount < headerBytes) return { verdict: "torn", frames: 0, commits: 0, brokenAtByte: 0 };
  readAt(start, 0);
  const header = readHeader(start);
  return header === null
    ? scanWithoutHeader(start, byteCount, readAt)
    : new WalScanner(header).scan(byteCount, readAt);
}

interface WalHeader {
  readonly littleEndian: boolean;
  readonly pageBytes: number;
  readonly salt1: number;
  readonly salt2: number;
  readonly sum: Sum;
}

/** The halves of a checksum, as signed 32-bit integers: the fastest numbers in JavaScript. */
interface Sum {
  a: number;
  b: number;
}

/** `null` if the header's checksum does not match, in which case SQLite treats the log as empty. */
function readHeader(bytes: Uint8Array<ArrayBuffer>): WalHeader | null {
  const view = new DataView(bytes.buffer);
  const magic = view.getUint32(0);
  const littleEndian = magic === magicLittleEndian;
  if (!littleEndian && magic !== magicBigEndian) return null;
  const sum: Sum = { a: 0, b: 0 };
  addWords(sum, checksumWords(bytes.buffer, littleEndian), 0, 6);
  if (sum.a !== view.getInt32(24) || sum.b !== view.getInt32(28)) return null;
  const pageBytes = view.getUint32(8);
  if (view.getUint32(4) !== version || !isPageSize(pageBytes)) return null;
  return { littleEndian, pageBytes, salt1: view.getInt32(16), salt2: view.getInt32(20), sum };
}

function isPageSize(bytes: number): boolean {
  return bytes >= 512 && bytes <= 65_536 && (bytes & (bytes - 1)) === 0;
}

/** The buffer as words in the log's byte order, from which checksums are computed. */
function checksumWords(buffer: ArrayBuffer, littleEndian: boolean): Int32Array {
  if (littleEndian === hostIsLittleEndian) return new Int32Array(buffer);
  const swapped = Buffer.from(buffer.slice(0)).swap32();
  return new Int32Array(swapped.buffer, swapped.byteOffset, swapped.length / 4);
}

function addWords(sum: Sum, words: Int32Array, from: number, to: number): void {
  let { a, b } = sum;
  for (let at = from; at < to; at += 2) {
    a = (a + (words[at] as number) + b) | 0;
    b = (b + (words[at + 1] as number) + a) | 0;
  }
  sum.a = a;
  sum.b = b;
}

/** Scans the frames once: the unbroken chain first, then the rest for evidence of damage. */
class WalScanner {
  readonly #header: WalHeader;
  /** Checksum of the chain so far; after the break, the one stored in the previous frame. */
  readonly #sum: Sum;
  /** Computed checksum of the broken frame, in case only the stored one has changed. */
  #sumAtBreak: Sum | null = null;
  #frames = 0;
  #commits = 0;
  #chained = 0;
  #brokenAt: number | null = null;
  #torn = false;
  #damaged = false;
  /** After the break: a commit mark was seen, and every frame since continues the one before. */
  #followsCommit = false;

  constructor(header: WalHeader) {
    this.#header = header;
    this.#sum = { ...header.sum };
  }

  scan(byteCount: number, readAt: ReadAt): WalScan {
    const frameBytes = frameHeaderBytes + this.#header.pageBytes;
    const frameCount = Math.floor((byteCount - headerBytes) / frameBytes);
    const framesPerChunk = Math.max(1, Math.floor(chunkBytes / frameBytes));
    const chunk = new ArrayBuffer(Math.min(framesPerChunk, frameCount) * frameBytes);
    for (let first = 0; first < frameCount && !this.#damaged; first += framesPerChunk) {
      const count = Math.min(framesPerChunk, frameCount - first);
      const at = headerBytes + first * frameBytes;
      readAt(new Uint8Array(chunk, 0, count * frameBytes), at);
      this.#readChunk(chunk, count, at);
    }
    const end = headerBytes + frameCount * frameBytes;
    if (this.#brokenAt === null && byteCount > end) {
      this.#brokenAt = end;
      this.#torn = true;
    }
    return this.#result(end);
  }

  #result(end: number): WalScan {
    const unfinished = this.#chained > this.#frames;
    const verdict = this.#damaged ? "damaged" : this.#torn || unfinished ? "torn" : "clean";
    return {
      verdict,
      frames: this.#frames,
      commits: this.#commits,
      brokenAtByte: verdict === "clean" ? null : (this.#brokenAt ?? end),
    };
  }

  #readChunk(chunk: ArrayBuffer, count: number, at: number): void {
    const frameBytes = frameHeaderBytes + this.#header.pageBytes;
    const fields = new DataView(chunk);
    const words = checksumWords(chunk, this.#header.littleEndian);
    for (let frame = 0; frame < count && !this.#damaged; frame++) {
      const offset = frame * frameBytes;
      const isCommit = fields.getUint32(offset + 4) !== 0;
      const salt1 = fields.getInt32(offset + 8) === this.#header.salt1;
      const salt2 = fields.getInt32(offset + 12) === this.#header.salt2;
      if (this.#brokenAt === null) {
        const whole = this.#continues(fields, words, offset, this.#sum) && salt1 && salt2;
        if (whole) this.#take(isCommit);
        else this.#breakAt(at + offset, { isCommit, current: salt1 || salt2 });
      } else if (salt1 || salt2) {
        // One salt is enough: earlier generations have neither.
        this.#look(fields, words, offset, isCommit);
      } else {
        this.#followsCommit = false;
      }
      if (this.#brokenAt !== null) {
        this.#sum.a = fields.getInt32(offset + 16);
        this.#sum.b = fields.getInt32(offset + 20);
      }
    }
  }

  /** Whether the frame's checksum continues `sum`. Stores the computed checksum in `sum`. */
  #continues(fields: DataView, words: Int32Array, offset: number, sum: Sum): boolean {
    const word = offset / 4;
    const pageWord = word + frameHeaderBytes / 4;
    addWords(sum, words, word, word + 2);
    addWords(sum, words, pageWord, pageWord + this.#header.pageBytes / 4);
    return sum.a === fields.getInt32(offset + 16) && sum.b === fields.getInt32(offset + 20);
  }

  #take(isCommit: boolean): void {
    this.#chained++;
    if (!isCommit) return;
    this.#frames = this.#chained;
    this.#commits++;
  }

  #breakAt(at: number, frame: { isCommit: boolean; current: boolean }): void {
    this.#brokenAt = at;
    this.#torn = frame.current;
    this.#followsCommit = frame.current && frame.isCommit;
    this.#sumAtBreak = { ...this.#sum };
  }

  /**
   * Counting commit marks is not enough. After two crashes in one generation, the rest of the first
   * torn commit, with its mark, may follow the second one. But it does not continue the checksum of
   * the second one.
   */
  #look(fields: DataView, words: Int32Array, offset: number, isCommit: boolean): void {
    this.#torn = true;
    const computed = this.#sumAtBreak;
    this.#sumAtBreak = null;
    const linked =
      this.#continues(fields, words, offset, this.#sum) ||
      (computed !== null && this.#continues(fields, words, offset, computed));
    this.#damaged = linked && isCommit && this.#followsCommit;
    this.#followsCommit = (linked && this.#followsCommit) || isCommit;
  }
}

/**
 * The header is synced with the first commit at the latest. So a chain of frames after an
 * unreadable header contains lost commits. Whichever part of the header has changed, one of these
 * guesses finds the chain.
 */
function scanWithoutHeader(
  start: Uint8Array<ArrayBuffer>,
  byteCount: number,
  readAt: ReadAt,
): WalScan {
  const broken = { frames: 0, commits: 0, brokenAtByte: 0 };
  const fields = new DataView(start.buffer);
  const stored: Sum = { a: fields.getInt32(24), b: fields.getInt32(28) };
  const frame = new Uint8Array(new ArrayBuffer(frameHeaderBytes));
  if (byteCount < headerBytes + frameHeaderBytes) return { verdict: "torn", ...broken };
  readAt(frame, headerBytes);
  if ([...start, ...frame].every((byte) => byte === 0)) return empty;
  const frameFields = new DataView(frame.buffer);
  const salts = { salt1: frameFields.getInt32(8), salt2: frameFields.getInt32(12) };
  for (const littleEndian of [true, false]) {
    const computed: Sum = { a: 0, b: 0 };
    addWords(computed, checksumWords(start.buffer, littleEndian), 0, 6);
    for (const sum of [stored, computed]) {
      for (let pageBytes = 512; pageBytes <= 65_536; pageBytes *= 2) {
        const scanner = new WalScanner({ littleEndian, pageBytes, ...salts, sum });
        const { verdict, commits } = scanner.scan(byteCount, readAt);
        if (verdict === "damaged" || commits > 0) return { verdict: "damaged", ...broken };
      }
    }
  }
  return { verdict: "torn", ...broken };
}
