// Reserves disk space for a shard, so that leases and completes continue when the disk is full.
// While there is space, a file holds the reserve: the ballast. On a full disk its bytes become
// space within the store's own files, which no other program can take. The database gets space for
// the pages in the log, so that the log can always be checkpointed and reused. The log gets space
// for some turns, and the rest is for writes of the full store. Once the disk has space, the
// ballast is restored.

import type { Database, Statement } from "bun:sqlite";
import { closeSync, fstatSync, openSync, read, statfsSync, truncateSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { bytesOf, isNoRoom, noRoom } from "./connect.ts";
import { prepare } from "./prepared.ts";

/** Buffer size of a copy. */
const copiedBytes = 1024 * 1024;
/**
 * The ballast is released one piece at a time, and each piece is written elsewhere at once. So
 * other programs can take at most one piece.
 */
const piece = new Uint8Array(256 * 1024);
/** SQLITE_FCNTL_PERSIST_WAL: closing does not delete the log. */
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
   * The database file. A process that closes any descriptor of a file loses its locks on it, so
   * this one stays open as long as SQLite's.
   */
  readonly file: number;
  /** Bytes left in the ballast. */
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

  /** Requests that only add items are refused. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** The ballast is complete, and none of it is in use. */
  get isWhole(): boolean {
    return this.#ballastBytes > 0 && !this.#isInUse;
  }

  /** The reserve is being moved into the store's own files. */
  get isInUse(): boolean {
    return this.#isInUse;
  }

  /** Free pages to keep, while the disk may be full. */
  get keptPages(): number {
    return this.#isInUse ? 2 * this.#stepPages : 0;
  }

  /** Half of the ballast is for pages that are still only in the log. */
  get #coveredPages(): number {
    return Math.floor(this.#ballastBytes / this.#pageBytes / 2);
  }

  get #logBytes(): number {
    return Math.floor((this.#ballastBytes * 3) / 8);
  }

  /** The last part of the ballast, which only a full store uses. */
  get #reserveBytes(): number {
    return Math.floor(this.#ballastBytes / 8);
  }

  /** The file grows in such steps; the store is no longer full once one step is free within it. */
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
   * Ensures that there is room to write the transaction's pages into the database file. Call it at
   * the end of each transaction. Throws `full`.
   */
  hold(): void {
    if (this.#ballastBytes === 0) return;
    const needed = this.#pages() - (this.#isInUse ? 0 : this.#coveredPages);
    // Nearly every commit returns here, so the file's size is read only once.
    if (!this.#isInUse && this.#filePages() >= needed) return;
    if (this.#filePages() < needed) this.#growFile(needed + this.#stepPages);
    const isReserved = this.#isInUse && !this.#isFull;
    if (this.#isFull) this.#growFile(needed, "by the ballast");
    if (this.#filePages() < needed || (isReserved && !this.#hasReserve)) throw noRoom();
  }

  /** A commit ran out of room: moves the ballast to the files that need it. */
  ranOut(): void {
    if (this.#ballastBytes === 0) return;
    this.#isFull = true;
    this.#isInUse = true;
    // The order matters: without room in the file, the log can never be reused.
    this.#growFile(this.#pages(), "by the ballast");
    this.#growLog("by the ballast");
  }

  /**
   * Checks for room on the disk for all of the ballast, or else within the store's own files. Call
   * it at the start, and from time to time.
   */
  async look(): Promise<void> {
    if (this.#ballastBytes === 0) return;
    this.#ballastLeft = bytesOf(this.#ballastPath);
    const missing = this.#ballastBytes - this.#ballastLeft;
    // With a margin: otherwise the ballast would starve other programs and be used again at once.
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

  /** SQLite ignores bytes after the last page of its database. */
  #growFile(pages: number, how?: "by the ballast"): void {
    this.#grow(this.file, pages * this.#pageBytes, how);
  }

  /** SQLite treats zeros after the log's frames as its end. */
  #growLog(how?: "by the ballast"): void {
    if (bytesOf(this.#logPath) >= this.#logBytes) return;
    const file = openSync(this.#logPath, "r+");
    try {
      this.#grow(file, this.#logBytes, how);
    } finally {
      closeSync(file);
    }
  }

  /** Returns whether it has so many bytes now. They are written, not merely allocated. */
  async #growBallast(bytes: number): Promise<boolean> {
    if (this.#ballastLeft >= bytes) return true;
    try {
      await using ballast = await open(this.#ballastPath, "a", 0o600);
      this.#grow(ballast.fd, bytes);
      await ballast.sync();
    } catch {
      // The bytes written so far are counted below.
    }
    this.#ballastLeft = bytesOf(this.#ballastPath);
    return this.#ballastLeft >= bytes;
  }

  /** Appends zeros for as long as the disk, or the ballast, has room. */
  #grow(file: number, bytes: number, how?: "by the ballast"): void {
    for (let at = fstatSync(file).size; at < bytes; ) {
      const written = writtenOf(file, at, Math.min(piece.length, bytes - at));
      at += written;
      if (written === 0 && (how === undefined || !this.#isShorter())) return;
    }
  }

  /** Releases a piece of the ballast; returns whether there was one. */
  #isShorter(): boolean {
    if (this.#ballastLeft === 0) return false;
    this.#ballastLeft = Math.max(0, this.#ballastLeft - piece.length);
    try {
      truncateSync(this.#ballastPath, this.#ballastLeft);
      return true;
    } catch {
      // Treat the ballast as used up.
      this.#ballastLeft = 0;
      return false;
    }
  }

  /** Copies the database file, which must be checkpointed, and returns its size in bytes. */
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

  /** Call it before the database is closed: SQLite then neither truncates nor deletes the log. */
  keepLog(): void {
    this.#database.query("PRAGMA journal_size_limit = -1").values();
    this.#database.fileControl(persistLog, 1);
  }

  /** Call it once the database is closed. */
  closed(): void {
    closeSync(this.file);
  }
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Writes zeros, and returns how many bytes there was room for. */
function writtenOf(file: number, at: number, bytes: number): number {
  try {
    return writeSync(file, piece, 0, bytes, at);
  } catch (cause) {
    if (isNoRoom(cause)) return 0;
    throw cause;
  }
}
