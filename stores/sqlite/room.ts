// Room on the disk that a shard has for itself, so that leases and completes continue when the disk
// is full. While there is room, a file is set aside for that day: the ballast. When there is none,
// its bytes become room in the store's own files, which no other program can take: the database
// gets the pages that the log has for it, so that the log can always be emptied and used again, the
// log gets room for some turns, and the rest is for what a full store still writes. Once the disk
// has room, the ballast is made whole again.

import type { Database, Statement } from "bun:sqlite";
import { closeSync, fstatSync, openSync, read, statfsSync, truncateSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { bytesOf, isNoRoom, noRoom } from "./connect.ts";
import { prepare } from "./prepared.ts";

/** Copied at a time. */
const copiedBytes = 1024 * 1024;
/**
 * Written at a time, and taken from the ballast: another program that waits for room gets no more
 * than a piece before it is written elsewhere.
 */
const piece = new Uint8Array(256 * 1024);
/** SQLITE_FCNTL_PERSIST_WAL: closing leaves the log's file where it is. */
const persistLog = 10;

const readAt = promisify(read);

export class Room {
  readonly #database: Database;
  readonly #path: string;
  readonly #ballastBytes: number;
  readonly #pageBytes: number;
  readonly #pageCount: Statement;
  readonly #freeCount: Statement;
  /**
   * The database's own file. Whichever descriptor of it a process closes first, the process loses its
   * locks on the file, so this one stays open for as long as SQLite's.
   */
  readonly file: number;
  /** Bytes of the ballast that are left. */
  #ballastLeft = 0;
  #isInUse = false;
  #isFull = false;

  constructor(
    database: Database,
    { path, ballastBytes }: { readonly path: string; readonly ballastBytes: number },
  ) {
    this.#database = database;
    this.#path = path;
    this.#ballastBytes = ballastBytes;
    this.#pageBytes = Number(database.query("PRAGMA page_size").values()[0]?.[0]);
    this.#pageCount = prepare(database, "PRAGMA page_count");
    this.#freeCount = prepare(database, "PRAGMA freelist_count");
    this.#isFull = ballastBytes > 0;
    this.file = openSync(path, "r+");
  }

  /** Calls that only add are refused. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** The ballast is whole, and the disk was not full lately. */
  get isWhole(): boolean {
    return this.#ballastBytes > 0 && !this.#isInUse;
  }

  /** What was set aside is becoming part of the store's own files. */
  get isInUse(): boolean {
    return this.#isInUse;
  }

  /** Free pages that are not given back to a disk that may be full. */
  get keptPages(): number {
    return this.#isInUse ? 2 * this.#stepPages : 0;
  }

  /** Half of the ballast is for pages that only the log has. */
  get #coveredPages(): number {
    return Math.floor(this.#ballastBytes / this.#pageBytes / 2);
  }

  get #logBytes(): number {
    return Math.floor((this.#ballastBytes * 3) / 8);
  }

  /** Only a full store uses so much of it. */
  get #reserveBytes(): number {
    return Math.floor(this.#ballastBytes / 8);
  }

  /** The file grows by so much, and there is room again once so much is free within it. */
  get #stepPages(): number {
    return Math.floor(this.#reserveBytes / this.#pageBytes);
  }

  get #ballastPath(): string {
    return `${this.#path}-ballast`;
  }

  get #logPath(): string {
    return `${this.#path}-wal`;
  }

  #pages(): number {
    return Number(this.#pageCount.values()[0]?.[0]);
  }

  #filePages(): number {
    return Math.floor(fstatSync(this.file).size / this.#pageBytes);
  }

  #freePages(): number {
    return Number(this.#freeCount.values()[0]?.[0]) + this.#filePages() - this.#pages();
  }

  get #hasReserve(): boolean {
    return this.#ballastLeft + this.#freePages() * this.#pageBytes >= this.#reserveBytes;
  }

  /**
   * To be called at the end of each transaction: whatever it adds to the database, there is room to
   * write it there. Throws `full`.
   */
  hold(): void {
    if (this.#ballastBytes === 0) return;
    const needed = this.#pages() - (this.#isInUse ? 0 : this.#coveredPages);
    // Nearly every commit ends here, so the file is looked at once.
    if (!this.#isInUse && this.#filePages() >= needed) return;
    if (this.#filePages() < needed) this.#growFile(needed + this.#stepPages);
    const isReserved = this.#isInUse && !this.#isFull;
    if (this.#isFull) this.#growFile(needed, "by the ballast");
    if (this.#filePages() < needed || (isReserved && !this.#hasReserve)) throw noRoom();
  }

  /** A commit found no room. What was set aside goes to where it is needed. */
  ranOut(): void {
    if (this.#ballastBytes === 0) return;
    this.#isFull = true;
    this.#isInUse = true;
    // In this order: without the first, the log can never be used again.
    this.#growFile(this.#pages(), "by the ballast");
    this.#growLog("by the ballast");
  }

  /** To be called at first, and then now and again. Looks whether there is room: on the disk for all of the ballast, or in the store's own files. */
  async look(): Promise<void> {
    if (this.#ballastBytes === 0) return;
    this.#ballastLeft = bytesOf(this.#ballastPath);
    const missing = this.#ballastBytes - this.#ballastLeft;
    // With some more, or it would take what others need, and be in use again at once.
    const isRoomy = freeBytes(dirname(this.#path)) >= missing + this.#ballastBytes / 2;
    if (isRoomy && (await this.#growBallast(this.#ballastBytes))) {
      this.#isInUse = false;
      this.#isFull = false;
      return;
    }
    this.#isInUse = true;
    this.#growLog();
    await this.#growBallast(this.#reserveBytes);
    this.#growFile(this.#filePages() + this.#stepPages - this.#freePages());
    const hasLog = bytesOf(this.#logPath) >= this.#logBytes;
    if (hasLog && this.#hasReserve && this.#freePages() >= this.#stepPages) this.#isFull = false;
  }

  /** SQLite reads nothing behind the last page of its database. */
  #growFile(pages: number, how?: "by the ballast"): void {
    this.#grow(this.file, pages * this.#pageBytes, how);
  }

  /** SQLite takes zeros behind the log for its end. */
  #growLog(how?: "by the ballast"): void {
    if (bytesOf(this.#logPath) >= this.#logBytes) return;
    const file = openSync(this.#logPath, "r+");
    try {
      this.#grow(file, this.#logBytes, how);
    } finally {
      closeSync(file);
    }
  }

  /** Whether it has so many bytes now. They are written, not merely reserved. */
  async #growBallast(bytes: number): Promise<boolean> {
    if (this.#ballastLeft >= bytes) return true;
    try {
      await using ballast = await open(this.#ballastPath, "a", 0o600);
      this.#grow(ballast.fd, bytes);
      await ballast.sync();
    } catch {
      // What there is of it is counted below.
    }
    this.#ballastLeft = bytesOf(this.#ballastPath);
    return this.#ballastLeft >= bytes;
  }

  /** As far as there is room, or the ballast has some left. */
  #grow(file: number, bytes: number, how?: "by the ballast"): void {
    for (let at = fstatSync(file).size; at < bytes; ) {
      const written = writtenOf(file, at, Math.min(piece.length, bytes - at));
      at += written;
      if (written === 0 && (how === undefined || !this.#isShorter())) return;
    }
  }

  /** Whether the ballast had a piece to give. */
  #isShorter(): boolean {
    if (this.#ballastLeft === 0) return false;
    this.#ballastLeft = Math.max(0, this.#ballastLeft - piece.length);
    try {
      truncateSync(this.#ballastPath, this.#ballastLeft);
      return true;
    } catch {
      // As if it had been used up.
      this.#ballastLeft = 0;
      return false;
    }
  }

  /** Writes what the database's file has, which must be all of it, to another one; the bytes. */
  async copyTo(path: string): Promise<number> {
    const bytes = this.#pages() * this.#pageBytes;
    await using copy = await open(path, "w", 0o600);
    const part = new Uint8Array(Math.min(copiedBytes, bytes));
    for (let at = 0; at < bytes; ) {
      const length = Math.min(part.length, bytes - at);
      const { bytesRead } = await readAt(this.file, part, 0, length, at);
      if (bytesRead === 0) throw new Error("the file is shorter than its database");
      await copy.writeFile(part.subarray(0, bytesRead));
      at += bytesRead;
    }
    await copy.sync();
    return bytes;
  }

  /** To be called before the database is closed: SQLite leaves the log's file as it is. */
  keepLog(): void {
    this.#database.query("PRAGMA journal_size_limit = -1").values();
    this.#database.fileControl(persistLog, 1);
  }

  /** To be called when the database is closed. */
  closed(): void {
    closeSync(this.file);
  }
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** The bytes of zeros for which there was room. */
function writtenOf(file: number, at: number, bytes: number): number {
  try {
    return writeSync(file, piece, 0, bytes, at);
  } catch (cause) {
    if (isNoRoom(cause)) return 0;
    throw cause;
  }
}
