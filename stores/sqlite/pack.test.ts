import { Database } from "bun:sqlite";
import { expect, spyOn, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  alike,
  all,
  end,
  grouped,
  leaving,
  moveOf,
  nothing,
  numbers,
  readOf,
  seqsOf,
  toItems,
} from "../conformance/values.ts";
import type { Item } from "../item.ts";
import { packItemsMax, packsOf } from "../packs.ts";
import { readItems } from "../single-reads.ts";
import { type Changes, noReads, type Read, type Store } from "../store.ts";
import { PackReader, packBytesMax } from "./pack.ts";
import { openSqliteStore } from "./store.ts";

function setup() {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-pack-"));
  const path = join(directory, "shard-0.db");
  let turn = 0;
  return {
    path,
    open: async (): Promise<Store> => {
      const newTag = () => "0123456789Ab";
      const options = {
        durability: "full",
        newTag,
        acceptLogLoss: false,
        ballastBytes: 0,
      } as const;
      return (await openSqliteStore({ path, ...options })).store;
    },
    commit: async (store: Store, changes: Partial<Changes>): Promise<void> => {
      turn += 1;
      const { synced } = await store.commit({
        ...nothing,
        ...changes,
        turn: { turn, at: turn, tag: "" },
      });
      await synced;
    },
    /** The rows of a table on disk; the store must be closed. */
    rows: (table: string): Record<string, unknown>[] => {
      using database = new Database(path);
      return database.query(`SELECT * FROM ${table} ORDER BY key`).all() as never;
    },
    corrupt: (sql: string): void => {
      using database = new Database(path);
      database.run(sql);
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

async function items(store: Store, from = 0, before = end): Promise<readonly Read<Item>[]> {
  return (await readItems(store, { slot: 1, from, before }, all)).found;
}

const counts = (items: readonly Item[]): number[] =>
  packsOf(items, packBytesMax).map(({ length }) => length);

test("packsOf: neighbours with equal instants and attempts share a pack, whatever their texts", () => {
  expect(counts(alike(1, 0, 10))).toEqual([10]);
  expect(counts([...alike(1, 0, 2, { kind: "a" }), ...alike(1, 2, 4, { reference: "b" })])).toEqual(
    [4],
  );
  expect(counts([...alike(1, 0, 2), ...alike(1, 2, 4, { attempts: 1 })])).toEqual([2, 2]);
  expect(counts([...alike(1, 0, 2), ...alike(1, 2, 4, { createdAt: 4 })])).toEqual([2, 2]);
  expect(counts([...alike(1, 0, 2), ...alike(1, 2, 4, { queuedAt: 6 })])).toEqual([2, 2]);
  expect(counts([...alike(1, 0, 2), ...alike(1, 2, 4, { expireDeadline: 6 })])).toEqual([2, 2]);
  expect(counts([...alike(1, 0, 2), ...alike(1, 3, 5)])).toEqual([2, 2]);
});

test("packsOf: interleaved items of several slots are packed by slot", () => {
  const other = alike(1, 0, 5).map((one) => ({ ...one, slot: 2 }));
  const mixed = alike(1, 0, 5).flatMap((one, index) => [one, other[index] as Item]);
  expect(packsOf(mixed, packBytesMax)).toEqual([alike(1, 0, 5), other]);
});

test("packsOf: items that an index covers stay alone", () => {
  expect(
    counts([...alike(1, 0, 2), ...alike(1, 2, 4, { early: true }), ...alike(1, 4, 6)]),
  ).toEqual([2, 1, 1, 2]);
  expect(
    counts([...alike(1, 0, 2), ...alike(1, 2, 3, { sourceId: "x" }), ...alike(1, 3, 5)]),
  ).toEqual([2, 1, 2]);
});

test("packsOf: items with a history share a pack, which it helps to fill", () => {
  const past = '{"group":"a"}';
  expect(counts([...alike(1, 0, 2), ...alike(1, 2, 4, { past })])).toEqual([4]);
  const lines = alike(1, 2, 4, { past: "a\nb" });
  expect(counts([...alike(1, 0, 2), ...lines, ...alike(1, 4, 6)])).toEqual([2, 1, 1, 2]);
  const half = "x".repeat(packBytesMax / 2);
  expect(counts(alike(1, 0, 5, { past: half, payload: "" }))).toEqual([2, 2, 1]);
});

test("packsOf: a pack is bounded by items and by payload bytes", () => {
  expect(counts(alike(1, 0, 2 * packItemsMax + 3))).toEqual([packItemsMax, packItemsMax, 3]);
  const half = new Uint8Array(packBytesMax / 2);
  expect(counts(alike(1, 0, 5, { payload: half }))).toEqual([2, 2, 1]);
  expect(counts(alike(1, 0, 3, { payload: new Uint8Array(packBytesMax + 1) }))).toEqual([1, 1, 1]);
});

test("commit: items written together are one row, and leave it one by one", async () => {
  using files = setup();
  let store = await files.open();
  await files.commit(store, { insert: alike(1, 0, 20) });
  await files.commit(store, { remove: [{ slot: 1, seqs: [3, 4, 5, 19] }] });
  await store.close();
  expect(files.rows("item")).toMatchObject([{ count: 20 }]);
  expect(files.rows("hole")).toHaveLength(1);
  store = await files.open();
  const left = numbers(0, 19).filter((seq) => seq < 3 || seq > 5);
  expect(seqsOf(await items(store))).toEqual(left);
  expect(seqsOf(await items(store, 4, 18))).toEqual(numbers(6, 18));
  await files.commit(store, { remove: [{ slot: 1, seqs: left }] });
  await store.close();
  expect(files.rows("item")).toEqual([]);
  expect(files.rows("hole")).toEqual([]);
});

test("commit: a number of a pack is never written again, even if its item has left", async () => {
  using files = setup();
  const store = await files.open();
  await files.commit(store, { insert: alike(1, 0, 20) });
  await files.commit(store, { remove: [{ slot: 1, seqs: [7] }] });
  for (const seq of [7, 8, 19]) {
    expect(files.commit(store, { insert: alike(1, seq, seq + 1) })).rejects.toMatchObject({
      fault: "failed",
    });
  }
  expect(seqsOf(await items(store))).toEqual(numbers(0, 20).filter((seq) => seq !== 7));
  await store.close();
});

test("items: each item of a pack gets its own texts and payload", async () => {
  using files = setup();
  const store = await files.open();
  const insert = alike(1, 0, 12).map((one, index) => ({
    ...one,
    kind: index % 3 === 0 ? "" : `kind ${index}`,
    encoding: index % 2 === 0 ? "json" : "",
    reference: `référence "${index}"`,
    payload: index % 4 === 0 ? "é".repeat(index) : new Uint8Array(index).fill(index),
  }));
  await files.commit(store, { insert });
  expect(await items(store)).toEqual(insert.map(readOf));
  expect(await items(store, 5, 9)).toEqual(insert.slice(5, 9).map(readOf));
  await store.close();
});

test.each([
  ["ASCII", (index: number) => "a".repeat(index)],
  ["one that is not", (index: number) => (index === 5 ? "é€😀" : "a".repeat(index))],
  ["halves of a pair", (index: number) => (index % 2 === 0 ? "a\ud83d" : "\ude00b")],
])("items: text payloads are returned as their bytes; %s", async (_what, payloadOf) => {
  using files = setup();
  const store = await files.open();
  const insert = alike(1, 0, 12).map((one, index) => ({ ...one, payload: payloadOf(index) }));
  await files.commit(store, { insert });
  const written = insert.map((one) => ({ ...one, payload: Buffer.from(one.payload) }));
  expect(await items(store)).toEqual(written.map(readOf));
  await store.close();
});

// `substr` counts from 1; each item's payload is 9 bytes.
test.each([
  [
    "a byte of a payload",
    "payload = CAST(substr(payload, 1, 21) || 'X' || substr(payload, 23) AS BLOB)",
    [2],
  ],
  ["a text", `texts = replace(texts, 'kind 3', 'kind 9')`, [3]],
  ["an instant", "created_at = created_at + 1", [0, 1, 2, 3, 4]],
  ["the checksum of the row", "check_sum = check_sum + 1", []],
  [
    "the checksum of an item",
    "sizes = CAST(substr(sizes, 1, 12) || x'00000000' || substr(sizes, 17) AS BLOB)",
    [1],
  ],
  ["the count", "count = 4", []],
  ["the length of the sizes", "sizes = CAST(substr(sizes, 1, 32) AS BLOB)", [4]],
  ["the texts, all of them", "texts = '['", [0, 1, 2, 3, 4]],
  ["a history", "past = replace(past, 'past 3', 'past 9')", [3]],
  ["the lines of the histories", "past = substr(past, 2)", [0, 1, 2, 3, 4]],
])("items: %s changed on disk damages only its own items", async (_what, change, corrupted) => {
  using files = setup();
  let store = await files.open();
  const insert = alike(1, 0, 5).map((one, index) => ({
    ...{ ...one, kind: `kind ${index}` },
    past: index === 0 ? "" : `past ${index}`,
  }));
  await files.commit(store, { insert });
  await store.close();
  files.corrupt(`UPDATE item SET ${change}`);
  store = await files.open();
  const read = await items(store);
  expect(seqsOf(read)).toEqual([0, 1, 2, 3, 4]);
  const damaged = seqsOf(read.filter((one) => one.damaged));
  expect(damaged).toEqual(corrupted);
  await files.commit(store, { quarantine: [{ slot: 1, seqs: damaged }] });
  expect((await store.load()).quarantinedCount).toBe(corrupted.length);
  expect(seqsOf(await items(store))).toEqual(
    [0, 1, 2, 3, 4].filter((seq) => !damaged.includes(seq)),
  );
  await store.close();
});

test("items: a damaged row about items that left a pack stops the store", async () => {
  using files = setup();
  let store = await files.open();
  await files.commit(store, { insert: alike(1, 0, 5) });
  await files.commit(store, { remove: [{ slot: 1, seqs: [1] }] });
  await store.close();
  files.corrupt("UPDATE hole SET gone = x'00'");
  store = await files.open();
  expect(items(store)).rejects.toMatchObject({ fault: "damaged" });
  await store.close();
});

test("groups: each pack is decoded once, in whatever order its items are read", async () => {
  using files = setup();
  const store = await files.open();
  const insert = alike(1, 0, 300);
  const group = insert.map(({ seq }) => grouped(`${seq}`, seq));
  await files.commit(store, { insert, group });
  const groups = insert.map((_, index) => {
    const [partition, name] = [1, `${(index * 101) % 300}`];
    return { partition, group: name, from: 0, items: 1 };
  });
  const piece = spyOn(PackReader.prototype, "piece");
  try {
    const read = (await store.read({ ...noReads, groups, headBytes: 1_000_000 })).groups;
    expect(read.flatMap(({ found }) => found.map(({ item }) => item?.seq))).toEqual(
      insert.map((_, index) => (index * 101) % 300),
    );
    expect(piece).toHaveBeenCalledTimes(300);
  } finally {
    piece.mockRestore();
  }
  await store.close();
});

test("commit: neighbours that move to neighbouring places form packs again", async () => {
  using files = setup();
  const store = await files.open();
  await files.commit(store, { insert: alike(1, 0, 300) });
  await files.commit(store, { remove: [{ slot: 1, seqs: [0, 299] }] });
  const moved = alike(1, 1_001, 1_299, { attempts: 1 });
  const moves = moved.map((one) => moveOf({ slot: 1, seq: one.seq - 1_000 }, toItems(one)));
  await files.commit(store, leaving(moves));
  await store.close();
  expect(files.rows("item")).toMatchObject([
    { count: packItemsMax, attempts: 1 },
    { count: packItemsMax, attempts: 1 },
    { count: 298 - 2 * packItemsMax, attempts: 1 },
  ]);
  expect(files.rows("hole")).toEqual([]);
});
