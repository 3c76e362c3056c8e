// Room on the disk that a shard has for itself, so that leases and completes continue when the disk
// is full. While there is room, a file is set aside for that day. When there is none, the file is
// removed, and its bytes become room in the store's own files, which no other program can take: the
// database gets the pages that the log has for it, so that the log can always be emptied and used
// again, and the log gets room for a turn. Once the disk has room, the file is made again.

import type { Database, Statement } from "bun:sqlite";
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  read,
  rmSync,
  statfsSync,
  writeSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { bytesOf, isNoRoom, noRoom } from "./connect.ts";

/** Written or read at a time. */
const pieceBytes = 1024 * 1024;
/** SQLite takes a log for empty whose beginning is zero. */
const logStartBytes = 4_096;
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
  readonly #file: number;
  #hasBallast = false;
  #isFull = false;
  /**
   * Free pages, within the database or behind its last one, that only a full store uses. Those behind
   * it are cut off by each checkpoint.
   */
  #reservePages: number;
  #keepsLog = false;

  constructor(
    database: Database,
    { path, ballastBytes }: { readonly path: string; readonly ballastBytes: number },
  ) {
    this.#database = database;
    this.#path = path;
    this.#ballastBytes = ballastBytes;
    this.#pageBytes = Number(database.query("PRAGMA page_size").values()[0]?.[0]);
    this.#pageCount = database.prepare("PRAGMA page_count");
    this.#freeCount = database.prepare("PRAGMA freelist_count");
    this.#file = openSync(path, "r+");
    this.#reservePages = Math.max(
      this.#stepPages,
      Math.min(5 * this.#stepPages, this.#freePages()),
    );
    this.#restore();
    this.#isFull = !this.#hasRoom;
  }

  /** Calls that only add are refused, and what has been set aside is in use. */
  get isFull(): boolean {
    return this.#isFull;
  }

  get hasBallast(): boolean {
    return this.#hasBallast;
  }

  /** What was set aside is part of the store's own files. */
  get isInUse(): boolean {
    return this.#ballastBytes > 0 && !this.#hasBallast;
  }

  /** Free pages that are not given back to the disk, as they are the reserve. */
  get keptPages(): number {
    return this.isInUse ? this.#reservePages + this.#stepPages : 0;
  }

  /** Half of the ballast is for pages that only the log has. */
  get #coveredPages(): number {
    return Math.floor(this.#ballastBytes / this.#pageBytes / 2);
  }

  /** The file grows by so much, and there is room again once so much more than the reserve is free. */
  get #stepPages(): number {
    return Math.floor(this.#coveredPages / 4);
  }

  get #logBytes(): number {
    return Math.floor((this.#ballastBytes * 3) / 8);
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
    return Math.floor(fstatSync(this.#file).size / this.#pageBytes);
  }

  #freePages(): number {
    return Number(this.#freeCount.values()[0]?.[0]) + this.#filePages() - this.#pages();
  }

  /**
   * To be called at the end of each transaction: whatever it adds to the database, there is room to
   * write it there. Throws `full`.
   */
  hold(): void {
    if (this.#ballastBytes === 0) return;
    const pages = this.#pages();
    const covered = this.#hasBallast ? this.#coveredPages : 0;
    const missing = pages - covered - this.#filePages();
    const isReserved = this.isInUse && !this.#isFull;
    const isShort = (): boolean => isReserved && this.#freePages() < this.#reservePages;
    if (missing <= 0 && !isShort()) return;
    this.#growFile(pages - covered + this.#stepPages + (isReserved ? this.#reservePages : 0));
    if (pages - covered > this.#filePages() || isShort()) throw noRoom();
  }

  /** A commit found no room. What was set aside goes to where it is needed. */
  ranOut(): void {
    if (this.#ballastBytes === 0) return;
    this.#isFull = true;
    if (!this.#hasBallast) return;
    this.#hasBallast = false;
    const pages = this.#pages();
    const missing =
      Math.max(0, pages - this.#filePages()) * this.#pageBytes +
      Math.max(0, this.#logBytes - bytesOf(this.#logPath));
    this.#reservePages = Math.floor((this.#ballastBytes - missing) / this.#pageBytes);
    rmSync(this.#ballastPath, { force: true });
    // In this order: without the first, the log can never be used again.
    this.#growFile(pages);
    this.#growLog();
    this.emptied();
  }

  /** To be called when the log has been emptied: SQLite has cut off what its database does not use. */
  emptied(): void {
    if (!this.isInUse) return;
    this.#growBy(this.#reservePages - this.#freePages());
  }

  /** Looks whether there is room again. */
  look(): void {
    this.#restore();
    if (this.#hasRoom) this.#isFull = false;
  }

  #restore(): void {
    if (this.#ballastBytes === 0) return;
    this.#hasBallast = existsSync(this.#ballastPath) || this.#makeBallast();
    if (this.#hasBallast) return;
    this.#growLog();
    this.#growBy(this.#reservePages + this.#stepPages - this.#freePages());
  }

  /** Either on the disk, or in the store's own files. */
  get #hasRoom(): boolean {
    if (!this.isInUse) return true;
    const isFree = this.#freePages() >= this.#reservePages + this.#stepPages;
    return isFree && bytesOf(this.#logPath) >= this.#logBytes;
  }

  /** Written, not merely reserved, so that the bytes are there to be freed on a full disk. */
  #makeBallast(): boolean {
    // Or it would take, again and again, what others need for a moment.
    if (freeBytes(dirname(this.#path)) < 1.5 * this.#ballastBytes) return false;
    try {
      const file = openSync(this.#ballastPath, "w", 0o600);
      try {
        if (isGrown(file, 0, this.#ballastBytes)) {
          fsyncSync(file);
          return true;
        }
      } finally {
        closeSync(file);
      }
    } catch {
      // As if it were not whole.
    }
    rmSync(this.#ballastPath, { force: true });
    return false;
  }

  #growBy(pages: number): void {
    if (pages > 0) this.#growFile(this.#filePages() + pages);
  }

  /** As far as there is room. SQLite reads nothing behind the last page of its database. */
  #growFile(pages: number): void {
    const { size } = fstatSync(this.#file);
    if (size < pages * this.#pageBytes) isGrown(this.#file, size, pages * this.#pageBytes);
  }

  /** As far as there is room. SQLite takes zeros behind the log for its end. */
  #growLog(): void {
    const bytes = bytesOf(this.#logPath);
    if (bytes >= this.#logBytes) return;
    const file = openSync(this.#logPath, "r+");
    try {
      isGrown(file, bytes, this.#logBytes);
    } finally {
      closeSync(file);
    }
  }

  /** Writes what the database's file has, which must be all of it, to another one; the bytes. */
  async copyTo(path: string): Promise<number> {
    const bytes = this.#pages() * this.#pageBytes;
    await using copy = await open(path, "w", 0o600);
    const piece = new Uint8Array(Math.min(pieceBytes, bytes));
    for (let at = 0; at < bytes; ) {
      const { bytesRead } = await readAt(
        this.#file,
        piece,
        0,
        Math.min(piece.length, bytes - at),
        at,
      );
      if (bytesRead === 0) throw new Error("the file is shorter than its database");
      await copy.writeFile(piece.subarray(0, bytesRead));
      at += bytesRead;
    }
    await copy.sync();
    return bytes;
  }

  /** To be called before the database is closed, with whether the log is empty: a full disk may have no room for a new one. */
  closing(isLogEmpty: boolean): void {
    this.#keepsLog = isLogEmpty && this.isInUse;
    this.#pageCount.finalize();
    this.#freeCount.finalize();
    if (!this.#keepsLog) return;
    this.#database.query("PRAGMA journal_size_limit = -1").values();
    this.#database.fileControl(persistLog, 1);
  }

  /** To be called when the database is closed. */
  closed(): void {
    closeSync(this.#file);
    if (!this.#keepsLog || bytesOf(this.#logPath) < logStartBytes) return;
    const log = openSync(this.#logPath, "r+");
    try {
      // Its pages are older than any that come into the file by another way.
      writeSync(log, new Uint8Array(logStartBytes), 0, logStartBytes, 0);
      fsyncSync(log);
    } finally {
      closeSync(log);
    }
  }
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Whether the file now has so many bytes. Where there is room for a part, that part is written. */
function isGrown(file: number, from: number, to: number): boolean {
  try {
    for (let at = from; at < to; ) {
      const bytes = Math.min(pieceBytes, to - at);
      at += writeSync(file, new Uint8Array(bytes), 0, bytes, at);
    }
    return true;
  } catch (cause) {
    if (isNoRoom(cause)) return false;
    throw cause;
  }
}
