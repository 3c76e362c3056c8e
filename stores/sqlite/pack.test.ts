import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { all, bytesOf, end, item, nothing, numbers, readOf, seqsOf } from "../conformance-model.ts";
import type { Item } from "../item.ts";
import type { Changes, Store } from "../store.ts";
import format1 from "./format-1.sql" with { type: "text" };
import fromFormat1 from "./from-format-1.sql" with { type: "text" };
import fromFormat2 from "./from-format-2.sql" with { type: "text" };
import { packBytesMax, packItemsMax, packsOf } from "./pack.ts";
import { itemValues } from "./rows.ts";
import schema from "./schema.sql" with { type: "text" };
import { openSqliteStore } from "./store.ts";

/** Items as one call writes them. */
function alike(from: number, before: number, fields: Partial<Item> = {}): Item[] {
  const shared = { createdAt: 5, queuedAt: 5 };
  return numbers(from, before).map((seq) => item(1, seq, { ...shared, ...fields }));
}

function setup() {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-pack-"));
  const path = join(directory, "shard-0.db");
  let turn = 0;
  return {
    path,
    open: (): Promise<Store> =>
      openSqliteStore({
        path,
        durability: "full",
        newTag: () => "0123456789Ab",
        acceptLogLoss: false,
        ballastBytes: 0,
      }),
    commit: (store: Store, changes: Partial<Changes>): Promise<void> => {
      turn += 1;
      return store.commit({
        ...nothing,
        ...changes,
        turn: { turn, at: turn, opLast: turn, refused: "[]" },
      });
    },
    /** What a table holds on disk; the store must be closed. */
    rows: (table: string): Record<string, unknown>[] => {
      using database = new Database(path);
      return database.query(`SELECT * FROM ${table} ORDER BY key`).all() as never;
    },
    spoil: (sql: string): void => {
      using database = new Database(path);
      database.run(sql);
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

const counts = (items: readonly Item[]): number[] => packsOf(items).map(({ length }) => length);

test("packsOf: neighbours that share instants and attempts go together, whatever their texts", () => {
  expect(counts(alike(0, 10))).toEqual([10]);
  expect(counts([...alike(0, 2, { kind: "a" }), ...alike(2, 4, { reference: "b" })])).toEqual([4]);
  expect(counts([...alike(0, 2), ...alike(2, 4, { attempts: 1 })])).toEqual([2, 2]);
  expect(counts([...alike(0, 2), ...alike(2, 4, { createdAt: 4 })])).toEqual([2, 2]);
  expect(counts([...alike(0, 2), ...alike(2, 4, { queuedAt: 6 })])).toEqual([2, 2]);
  expect(counts([...alike(0, 2), ...alike(2, 4, { expireDeadline: 6 })])).toEqual([2, 2]);
  expect(counts([...alike(0, 2), ...alike(3, 5)])).toEqual([2, 2]);
});

test("packsOf: items of several slots that take turns go with their own", () => {
  const other = alike(0, 5).map((one) => ({ ...one, slot: 2 }));
  const mixed = alike(0, 5).flatMap((one, index) => [one, other[index] as Item]);
  expect(packsOf(mixed)).toEqual([alike(0, 5), other]);
});

test("packsOf: what an index finds stays alone", () => {
  expect(counts([...alike(0, 2), ...alike(2, 4, { early: true }), ...alike(4, 6)])).toEqual([
    2, 1, 1, 2,
  ]);
  expect(counts([...alike(0, 2), ...alike(2, 3, { sourceId: "x" }), ...alike(3, 5)])).toEqual([
    2, 1, 2,
  ]);
});

test("packsOf: a pack is bounded by items and by payload bytes", () => {
  expect(counts(alike(0, 2 * packItemsMax + 3))).toEqual([packItemsMax, packItemsMax, 3]);
  const half = new Uint8Array(packBytesMax / 2);
  expect(counts(alike(0, 5, { payload: half }))).toEqual([2, 2, 1]);
  expect(counts(alike(0, 3, { payload: new Uint8Array(packBytesMax + 1) }))).toEqual([1, 1, 1]);
});

test("commit: items that come together are one row, and leave it one by one", async () => {
  using files = setup();
  let store = await files.open();
  await files.commit(store, { insert: alike(0, 20) });
  await files.commit(store, { remove: [{ slot: 1, seqs: [3, 4, 5, 19] }] });
  await store.close();
  expect(files.rows("item")).toMatchObject([{ count: 20 }]);
  expect(files.rows("hole")).toHaveLength(1);
  store = await files.open();
  const left = numbers(0, 19).filter((seq) => seq < 3 || seq > 5);
  expect(seqsOf(await store.items(1, 0, end, all))).toEqual(left);
  expect(seqsOf(await store.seqs(1, 4, 18, 100))).toEqual(numbers(6, 18));
  expect(await store.present(1, [2, 3, 19, 20])).toEqual([2]);
  await files.commit(store, { remove: [{ slot: 1, seqs: left }] });
  await store.close();
  expect(files.rows("item")).toEqual([]);
  expect(files.rows("hole")).toEqual([]);
});

test("commit: a number of a pack is never written again, whether its item is there or not", async () => {
  using files = setup();
  const store = await files.open();
  await files.commit(store, { insert: alike(0, 20) });
  await files.commit(store, { remove: [{ slot: 1, seqs: [7] }] });
  for (const seq of [7, 8, 19]) {
    expect(files.commit(store, { insert: alike(seq, seq + 1) })).rejects.toMatchObject({
      fault: "failed",
    });
  }
  expect(seqsOf(await store.items(1, 0, end, all))).toEqual(
    numbers(0, 20).filter((seq) => seq !== 7),
  );
  await store.close();
});

test("items: texts and payloads of a pack come back each to its item", async () => {
  using files = setup();
  const store = await files.open();
  const insert = alike(0, 12).map((one, index) => ({
    ...one,
    kind: index % 3 === 0 ? "" : `kind ${index}`,
    encoding: index % 2 === 0 ? "json" : "",
    reference: `référence "${index}"`,
    payload: index % 4 === 0 ? "é".repeat(index) : new Uint8Array(index).fill(index),
  }));
  await files.commit(store, { insert });
  expect(await store.items(1, 0, end, all)).toEqual(insert.map(readOf));
  expect(await store.items(1, 5, 9, all)).toEqual(insert.slice(5, 9).map(readOf));
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
])("items: %s changed on disk damages the items it belongs to", async (_what, change, spoilt) => {
  using files = setup();
  let store = await files.open();
  const insert = alike(0, 5).map((one, index) => ({ ...one, kind: `kind ${index}` }));
  await files.commit(store, { insert });
  await store.close();
  files.spoil(`UPDATE item SET ${change}`);
  store = await files.open();
  const read = await store.items(1, 0, end, all);
  expect(seqsOf(read)).toEqual([0, 1, 2, 3, 4]);
  const damaged = seqsOf(read.filter((one) => one.damaged));
  expect(damaged).toEqual(spoilt);
  await files.commit(store, { quarantine: [{ slot: 1, seqs: damaged }] });
  expect((await store.load()).quarantinedCount).toBe(spoilt.length);
  expect(seqsOf(await store.items(1, 0, end, all))).toEqual(
    [0, 1, 2, 3, 4].filter((seq) => !damaged.includes(seq)),
  );
  await store.close();
});

test("items: a damaged row of what has left a pack stops the store", async () => {
  using files = setup();
  let store = await files.open();
  await files.commit(store, { insert: alike(0, 5) });
  await files.commit(store, { remove: [{ slot: 1, seqs: [1] }] });
  await store.close();
  files.spoil("UPDATE hole SET gone = x'00'");
  store = await files.open();
  expect(store.items(1, 0, end, all)).rejects.toMatchObject({ fault: "damaged" });
  await store.close();
});

test("open: a file of format 1 is brought to the present one, with all its items", async () => {
  using files = setup();
  const items = [
    item(1, 1, { kind: "k", queuedAt: 9 }),
    item(1, 2, { early: true, sourceId: "s" }),
  ];
  const old = new Database(files.path);
  for (const pragma of ["auto_vacuum = INCREMENTAL", "application_id = 0x484f4c44"]) {
    old.run(`PRAGMA ${pragma}`);
  }
  old.run(format1);
  old.run("PRAGMA user_version = 1");
  old.run("INSERT INTO identity VALUES (1, 'oldtag000000')");
  for (const one of items) {
    const [slot, seq, ...values] = itemValues({ ...one, payload: bytesOf(one.payload) });
    old.run("INSERT INTO item VALUES ((? << 45) + ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", [
      slot,
      seq,
      ...values,
    ]);
  }
  old.close();
  const store = await files.open();
  expect((await store.load()).tag).toBe("oldtag000000");
  expect(await store.items(1, 0, end, all)).toEqual(items.map(readOf));
  await files.commit(store, { insert: alike(3, 6) });
  expect(seqsOf(await store.items(1, 0, end, all))).toEqual([1, 2, 3, 4, 5]);
  await store.close();
});

test("schema: an upgraded file and a new one have the same tables and indexes", () => {
  const shape = (...texts: string[]): unknown[] => {
    using database = new Database(":memory:");
    for (const text of texts) database.run(text);
    const tables = database.query("SELECT name FROM sqlite_schema ORDER BY name").values();
    return tables.map(([name]) => [
      name,
      database.query(`PRAGMA table_info(${name})`).values(),
      database.query(`PRAGMA index_info(${name})`).values(),
    ]);
  };
  expect(shape(format1, fromFormat1, fromFormat2)).toEqual(shape(schema));
});
