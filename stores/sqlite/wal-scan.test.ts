// All logs are written by SQLite, and SQLite decides how many commits it recovers from a damaged
// one.

import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seeded } from "../conformance/values.ts";
import { scanWal, scanWalBytes } from "./wal-scan.ts";

const trials = 200;
const folder = mkdtempSync(join(tmpdir(), "wal-scan-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Files {
  readonly database: Uint8Array;
  readonly log: Uint8Array;
}

let fileCount = 0;
function newPath(): string {
  fileCount += 1;
  return join(folder, `${fileCount}.db`);
}

function open(path: string): Database {
  const db = new Database(path, { create: true, readwrite: true, strict: true });
  for (const pragma of ["locking_mode=EXCLUSIVE", "journal_mode=WAL", "synchronous=FULL"]) {
    db.query(`PRAGMA ${pragma}`).all();
  }
  db.query("PRAGMA wal_autocheckpoint=0").all();
  return db;
}

/** Makes `count` commits of one or more frames. Each adds one row to `done`. */
function commits(db: Database, count: number, below: (bound: number) => number): void {
  for (let number = 0; number < count; number += 1) {
    db.transaction(() => {
      db.run("INSERT INTO done DEFAULT VALUES");
      for (let rows = below(30); rows >= 0; rows -= 1) {
        db.run("INSERT INTO item (payload) VALUES (randomblob(?))", [below(900)]);
      }
    }).immediate();
  }
}

function copy(path: string): Files {
  return { database: readFileSync(path), log: readFileSync(`${path}-wal`) };
}

interface Made extends Files {
  /** The ends of the commits in the log's current generation. */
  readonly ends: readonly number[];
  /** Rows of `done` in the database file itself. */
  readonly checkpointed: number;
}

/** A log of `count` commits, written over the frames of `stale` earlier ones. */
function makeLog(seed: number, { count, stale }: { count: number; stale: number }): Made {
  const below = seeded(seed);
  const path = newPath();
  const db = open(path);
  db.run("CREATE TABLE item (id INTEGER PRIMARY KEY, payload BLOB)");
  db.run("CREATE TABLE done (id INTEGER PRIMARY KEY)");
  commits(db, stale, below);
  db.query(`PRAGMA wal_checkpoint(${stale === 0 ? "TRUNCATE" : "PASSIVE"})`).all();
  const ends: number[] = [];
  let last = 0;
  for (let number = 0; number < count; number += 1) {
    commits(db, 1, below);
    last = commitEnd(readFileSync(`${path}-wal`), last);
    ends.push(last);
  }
  const files = copy(path);
  db.close();
  return { ...files, ends, checkpointed: stale };
}

/** The end of the commit that starts at `from`: the next frame with a commit mark. */
function commitEnd(log: Uint8Array, from: number): number {
  const fields = new DataView(log.buffer, log.byteOffset, log.length);
  const frameBytes = 24 + fields.getUint32(8);
  let at = from === 0 ? 32 : from;
  while (fields.getUint32(at + 4) === 0) at += frameBytes;
  return at + frameBytes;
}

/** Commits that SQLite recovers from the log. */
function recovered({ database, log, checkpointed }: Files & { checkpointed: number }): number {
  const path = newPath();
  writeFileSync(path, database);
  writeFileSync(`${path}-wal`, log);
  const db = open(path);
  // Closing checkpoints the log, and nothing has to be durable.
  db.query("PRAGMA synchronous=OFF").all();
  try {
    const { count } = db.query("SELECT count(*) AS count FROM done").get() as { count: number };
    return count - checkpointed;
  } finally {
    db.close();
    rmSync(path);
  }
}

function flipped(log: Uint8Array, bit: number): Uint8Array {
  const bytes = new Uint8Array(log);
  bytes[bit >>> 3] = (bytes[bit >>> 3] ?? 0) ^ (1 << (bit & 7));
  return bytes;
}

/** A flip here may create a commit mark, which no crash does, so any verdict is right. */
const isInMark = (byte: number): boolean => ((byte - 32) % (24 + 4096)) >>> 2 === 1;

const atLast = (made: Made, before: number): number => made.ends.at(-1 - before) ?? 0;

const fresh = makeLog(1, { count: 40, stale: 0 });
const restarted = makeLog(2, { count: 15, stale: 60 });
const logs = [fresh, restarted];

test("whole log: clean, with every commit", () => {
  const frames = (fresh.log.length - 32) / (24 + 4096);
  expect(scanWalBytes(fresh.log)).toEqual({
    verdict: "clean",
    frames,
    commits: 40,
    brokenAtByte: null,
  });
  expect(recovered(fresh)).toBe(40);
});

test("frames of an earlier generation behind the end: clean", () => {
  const frames = (atLast(restarted, 0) - 32) / (24 + 4096);
  expect(restarted.log.length).toBeGreaterThan(atLast(restarted, 0));
  expect(scanWalBytes(restarted.log)).toEqual({
    verdict: "clean",
    frames,
    commits: 15,
    brokenAtByte: null,
  });
  expect(recovered(restarted)).toBe(15);
});

test("empty log: clean", () => {
  expect(scanWalBytes(new Uint8Array())).toEqual({
    verdict: "clean",
    frames: 0,
    commits: 0,
    brokenAtByte: null,
  });
});

test("file: the same verdict as for its bytes", () => {
  for (const { log } of [...logs, { log: flipped(fresh.log, 8 * 5_000) }]) {
    const path = newPath();
    writeFileSync(path, log);
    expect(scanWal(path)).toEqual(scanWalBytes(log));
  }
});

test("log that is read in several pieces: every commit, and a flip in any piece is found", () => {
  const long = makeLog(3, { count: 300, stale: 0 });
  expect(long.log.length).toBeGreaterThan(3 * 1024 * 1024);
  expect(scanWalBytes(long.log)).toMatchObject({ verdict: "clean", commits: 300 });
  const below = seeded(4);
  for (let trial = 0; trial < 20; trial += 1) {
    const bit = below(8 * atLast(long, 1));
    expect([bit, scanWalBytes(flipped(long.log, bit)).verdict]).toEqual([bit, "damaged"]);
  }
});

test("truncated anywhere: never damaged, and as many commits as SQLite recovers", () => {
  const below = seeded(5);
  for (const made of logs) {
    for (let trial = 0; trial < trials; trial += 1) {
      // Half of the cuts are close to the end of a commit, where mistakes are likely.
      const near = (made.ends[below(made.ends.length)] ?? 0) + below(80) - 40;
      const length = trial % 2 === 0 ? below(made.log.length) : Math.min(near, made.log.length);
      const log = made.log.subarray(0, length);
      const scan = scanWalBytes(log);
      expect([length, scan.verdict]).not.toEqual([length, "damaged"]);
      expect([length, scan.commits]).toEqual([length, recovered({ ...made, log })]);
    }
  }
});

test("truncated, then zeros or garbage: never damaged", () => {
  const below = seeded(6);
  for (const made of logs) {
    for (let trial = 0; trial < trials; trial += 1) {
      const length = below(made.log.length);
      const log = new Uint8Array(length + below(20_000));
      if (trial % 2 === 0) for (let at = length; at < log.length; at += 1) log[at] = below(256);
      log.set(made.log.subarray(0, length));
      const { verdict, commits } = scanWalBytes(log);
      expect([length, verdict]).not.toEqual([length, "damaged"]);
      expect([length, commits]).toEqual([length, made.ends.filter((end) => end <= length).length]);
    }
  }
});

test("last commit written in part, in any order of its pages: torn, nothing more lost", () => {
  const below = seeded(7);
  for (const made of logs) {
    for (let trial = 0; trial < trials; trial += 1) {
      const log = new Uint8Array(made.log);
      const [start, end] = [atLast(made, 1), atLast(made, 0)];
      const corrupted = start + below(end - start);
      for (let at = start; at < end; at += 512) {
        const kept = below(2) === 0 && (corrupted < at || corrupted >= at + 512);
        if (!kept) log.fill(trial % 2 === 0 ? 0 : below(256), at, Math.min(at + 512, end));
      }
      const { verdict, commits } = scanWalBytes(log);
      expect([trial, verdict]).not.toEqual([trial, "damaged"]);
      expect([trial, commits]).toEqual([trial, made.ends.length - 1]);
    }
  }
});

test("bit flipped before the last commit: damaged, where SQLite sees nothing wrong", () => {
  const below = seeded(8);
  for (const made of logs) {
    for (let trial = 0; trial < trials; trial += 1) {
      const bit = below(8 * atLast(made, 1));
      const log = flipped(made.log, bit);
      const scan = scanWalBytes(log);
      expect([bit, scan.verdict]).toEqual([bit, "damaged"]);
      expect([bit, scan.commits]).toEqual([bit, recovered({ ...made, log })]);
      expect(scan.brokenAtByte).toBeLessThanOrEqual(bit >>> 3);
    }
  }
});

test("any bit flipped in the header, or in a frame header of the last commit but one: damaged", () => {
  for (const made of logs) {
    const bits = Array.from({ length: 32 * 8 }, (_, bit) => bit);
    for (let at = atLast(made, 2); at < atLast(made, 1); at += 24 + 4096) {
      // Bits 32 to 63 are the commit mark. Without its only bit, it looks like a torn commit.
      for (let bit = 0; bit < 24 * 8; bit += 1) {
        const flip = flipped(made.log, at * 8 + bit);
        const mark = new DataView(flip.buffer).getUint32(at + 4);
        if (mark !== 0 || bit < 32 || bit > 63) bits.push(at * 8 + bit);
      }
    }
    for (const bit of bits) {
      expect([bit, scanWalBytes(flipped(made.log, bit)).verdict]).toEqual([bit, "damaged"]);
    }
  }
});

test("any bit flipped in the header before a single commit: damaged", () => {
  const { log } = makeLog(16, { count: 1, stale: 0 });
  for (const single of [log, otherByteOrder(log)]) {
    expect(scanWalBytes(single)).toMatchObject({ verdict: "clean", commits: 1 });
    for (let bit = 0; bit < 8 * 32; bit += 1) {
      expect([bit, scanWalBytes(flipped(single, bit)).verdict]).toEqual([bit, "damaged"]);
    }
  }
});

test("bit flipped in the last commit: torn, because a crash may leave the same", () => {
  const below = seeded(9);
  for (const made of logs) {
    for (let trial = 0; trial < trials; trial += 1) {
      const bit = 8 * atLast(made, 1) + below(8 * (atLast(made, 0) - atLast(made, 1)));
      if (isInMark(bit >>> 3)) continue;
      const { verdict, commits } = scanWalBytes(flipped(made.log, bit));
      expect([bit, verdict, commits]).toEqual([bit, "torn", made.ends.length - 1]);
    }
  }
});

test("bit flipped behind the present generation: clean", () => {
  const below = seeded(10);
  const end = atLast(restarted, 0);
  for (let trial = 0; trial < trials; trial += 1) {
    const bit = 8 * end + below(8 * (restarted.log.length - end));
    const { verdict, commits } = scanWalBytes(flipped(restarted.log, bit));
    expect([bit, verdict, commits]).toEqual([bit, "clean", 15]);
  }
});

test("sectors zeroed before the last two commits: damaged", () => {
  const below = seeded(11);
  for (let trial = 0; trial < trials; trial += 1) {
    const log = new Uint8Array(fresh.log);
    const sector = below(Math.floor(atLast(fresh, 2) / 512));
    const bytes = log.subarray(sector * 512, (sector + 1) * 512);
    if (bytes.every((byte) => byte === 0)) continue;
    bytes.fill(0);
    expect([sector, scanWalBytes(log).verdict]).toEqual([sector, "damaged"]);
  }
});

test("second crash over the rest of a first torn commit: torn", () => {
  const path = newPath();
  const db = open(path);
  db.run("CREATE TABLE item (id INTEGER PRIMARY KEY, payload BLOB)");
  db.run("CREATE TABLE done (id INTEGER PRIMARY KEY)");
  commits(db, 5, seeded(12));
  const durable = readFileSync(`${path}-wal`).length;
  db.run("INSERT INTO item (payload) VALUES (randomblob(100000))");
  const files = copy(path);
  db.close();

  const firstCrash = flipped(files.log, 8 * (durable + 100));
  // One of the second commits leaves only the last frame of the first, which has the mark.
  for (let bytes = 4_000; bytes < 100_000; bytes += 4_000) {
    const again = newPath();
    writeFileSync(again, files.database);
    writeFileSync(`${again}-wal`, firstCrash);
    const reopened = open(again);
    reopened.run("INSERT INTO item (payload) VALUES (randomblob(?))", [bytes]);
    const { log } = copy(again);
    reopened.close();

    expect(scanWalBytes(log)).toMatchObject({ verdict: "torn", commits: 8 });
    const end = commitEnd(log, durable);
    for (let at = durable; at < end; at += 512) {
      const secondCrash = flipped(log, 8 * at);
      expect([bytes, at, scanWalBytes(secondCrash).verdict]).toEqual([bytes, at, "torn"]);
    }
  }
});

test("transaction that was spilled to the log and rolled back: torn, no commit lost", () => {
  const path = newPath();
  const db = open(path);
  db.query("PRAGMA cache_size=10").all();
  db.run("CREATE TABLE item (id INTEGER PRIMARY KEY, payload BLOB)");
  db.run("CREATE TABLE done (id INTEGER PRIMARY KEY)");
  commits(db, 5, seeded(13));
  db.run("BEGIN IMMEDIATE");
  for (let row = 0; row < 100; row += 1)
    db.run("INSERT INTO item (payload) VALUES (randomblob(4000))");
  const files = copy(path);
  db.run("ROLLBACK");
  expect(scanWalBytes(files.log)).toMatchObject({ verdict: "torn", commits: 7 });
  commits(db, 1, seeded(14));
  expect(scanWalBytes(copy(path).log)).toMatchObject({ verdict: "torn", commits: 8 });
  db.close();
});

test("log of a machine with the other order of bytes: the same verdicts", () => {
  const log = otherByteOrder(fresh.log);
  expect(recovered({ ...fresh, log })).toBe(40);
  expect(scanWalBytes(log)).toEqual(scanWalBytes(fresh.log));
  const below = seeded(15);
  for (let trial = 0; trial < trials; trial += 1) {
    const bit = below(8 * atLast(fresh, 1));
    expect([bit, scanWalBytes(flipped(log, bit)).verdict]).toEqual([bit, "damaged"]);
  }
});

/** The log with checksums in the other byte order, computed in the simplest way. */
function otherByteOrder(log: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(log);
  const fields = new DataView(bytes.buffer);
  const toLittle = fields.getUint32(0) === 0x377f_0683;
  fields.setUint32(0, toLittle ? 0x377f_0682 : 0x377f_0683);
  let [a, b] = [0, 0];
  const add = (from: number, to: number): void => {
    for (let at = from; at < to; at += 8) {
      a = (a + fields.getUint32(at, toLittle) + b) >>> 0;
      b = (b + fields.getUint32(at + 4, toLittle) + a) >>> 0;
    }
  };
  add(0, 24);
  fields.setUint32(24, a);
  fields.setUint32(28, b);
  for (let at = 32; at < bytes.length; at += 24 + 4096) {
    add(at, at + 8);
    add(at + 24, at + 24 + 4096);
    fields.setUint32(at + 16, a);
    fields.setUint32(at + 20, b);
  }
  return bytes;
}
