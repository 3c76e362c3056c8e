// The exact bytes of a plain item on disk, which show the cost of a new column.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { alike, item, nothing } from "../conformance/values.ts";
import type { Item } from "../item.ts";
import { openSqliteStore } from "./store.ts";

/** The size of each record of the table, from its only page. A cell begins with its size. */
async function recordsOf(insert: readonly Item[]): Promise<number[]> {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-bytes-"));
  try {
    const path = join(directory, "shard-0.db");
    const options = { durability: "full", acceptLogLoss: false, ballastBytes: 0 } as const;
    const { store } = await openSqliteStore({ path, newTag: () => "0123456789Ab", ...options });
    const turn = { turn: 1, at: 1_000, tag: "" };
    await store.commit({ ...nothing, insert, turn });
    await store.close();
    using database = new Database(path);
    const value = (sql: string): number => Number(database.query(sql).values()[0]?.[0]);
    const pageBytes = value("PRAGMA page_size");
    const root = value("SELECT rootpage FROM sqlite_schema WHERE name = 'item'");
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    const page = readFileSync(path).subarray((root - 1) * pageBytes, root * pageBytes);
    expect(page[0]).toBe(0x0d);
    return Array.from({ length: page.readUInt16BE(3) }, (_, cell) =>
      numberAt(page, page.readUInt16BE(8 + 2 * cell)),
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** SQLite's varint: seven bits per byte, the highest first; the last byte has no eighth bit. */
function numberAt(page: Buffer, at: number): number {
  const byte = page[at] as number;
  return byte < 0x80 ? byte : (byte & 0x7f) * 0x80 + numberAt(page, at + 1);
}

const now = 1_772_369_580_000;
const plain = { createdAt: now, queuedAt: now, expireDeadline: now + 86_400_000, payload: "x" };

test("bytes: a plain item with a payload of one byte is a record of 37 bytes", async () => {
  expect(await recordsOf([item(0, 1, plain)])).toEqual([37]);
});

test("bytes: a plain item in a pack costs its payload and eight bytes", async () => {
  // The second checksum is a smaller number, which takes two bytes less.
  expect(await recordsOf(alike(0, 1, 11, plain))).toEqual([128]);
  expect(await recordsOf(alike(0, 1, 21, plain))).toEqual([216]);
});

test("bytes: a history in a pack costs its characters, and the end of its line", async () => {
  const past = "of a".repeat(2);
  const [bytes = 0] = await recordsOf(alike(0, 1, 11, { ...plain, past }));
  expect(bytes - 128).toBe(10 * (past.length + 1));
});

test("bytes: only items with headers pay for them", async () => {
  const headers = '{"of":"a"}';
  expect(await recordsOf([item(0, 1, { ...plain, headers })])).toEqual([37 + headers.length]);
});
