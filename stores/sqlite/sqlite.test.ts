import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeStore } from "../conformance.ts";
import { bytesOf, item, nothing, tally } from "../conformance-model.ts";
import { type Changes, type Store, StoreError } from "../store.ts";
import { openSqliteStore, type SqliteOptions } from "./store.ts";

const tag = "0123456789Ab";

function setup(change: Partial<SqliteOptions> = {}) {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-sqlite-"));
  const options: SqliteOptions = {
    path: join(directory, "shard-0.db"),
    durability: "full",
    newTag: () => tag,
    acceptLogLoss: false,
    ballastBytes: 0,
    ...change,
  };
  return {
    options,
    open: (more: Partial<SqliteOptions> = {}) => openSqliteStore({ ...options, ...more }),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

let turn = 0;
function commit(store: Store, changes: Partial<Changes>): Promise<void> {
  turn += 1;
  return store.commit({
    ...nothing,
    ...changes,
    turn: { turn, at: turn, opLast: turn, refused: "[]" },
  });
}

async function faultOf(work: Promise<unknown>): Promise<string> {
  const thrown = await work.then(
    () => null,
    (error: unknown) => error,
  );
  return thrown instanceof StoreError ? thrown.fault : `no StoreError; ${String(thrown)}`;
}

function many(count: number, payloadBytes: number) {
  return Array.from({ length: count }, (_, seq) =>
    item(1, seq, { payload: new Uint8Array(payloadBytes).fill(seq) }),
  );
}

describeStore("sqlite", async () => {
  const files = setup();
  let store = await files.open();
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await files.open();
      return store;
    },
    dispose: async () => {
      await store.close();
      files[Symbol.dispose]();
    },
  };
});

test("open: a second connection is refused while the first has the file, and let in afterwards", async () => {
  using files = setup();
  const store = await files.open();
  expect(await faultOf(files.open())).toBe("locked");
  await store.close();
  await (await files.open()).close();
});

test("open: a folder that is missing, a file of another program and a later format are refused", async () => {
  using files = setup();
  expect(await faultOf(files.open({ path: `${files.options.path}/nowhere/x.db` }))).toBe(
    "unusable",
  );
  writeFileSync(files.options.path, "this is not a database, whatever its name says");
  expect(await faultOf(files.open())).toBe("damaged");
  rmSync(files.options.path);
  const other = new Database(files.options.path);
  other.run("CREATE TABLE mine (x)");
  other.close();
  expect(await faultOf(files.open())).toBe("unusable");
  rmSync(files.options.path);
  await (await files.open()).close();
  const later = new Database(files.options.path);
  later.run("PRAGMA user_version = 99");
  later.close();
  expect(await faultOf(files.open())).toBe("unusable");
});

test("open: a file whose rows have become unreachable is refused", async () => {
  using files = setup();
  const first = await files.open();
  // Rows that lie in one page, and no two of them in one pack.
  for (let seq = 0; seq < 9; seq += 1) await commit(first, { insert: [item(1, 2 * seq)] });
  await first.close();
  const bytes = readFileSync(files.options.path);
  const pageBytes = 4_096;
  const leaf = 0x0d;
  let broken = 0;
  for (let page = pageBytes; page < bytes.length; page += pageBytes) {
    // The page says how many rows it has; the last of them are forgotten.
    if (bytes[page] !== leaf || bytes.readUint16BE(page + 3) !== 9) continue;
    bytes.writeUint16BE(5, page + 3);
    broken += 1;
  }
  writeFileSync(files.options.path, bytes);
  expect({ broken, fault: await faultOf(files.open()) }).toEqual({ broken: 2, fault: "damaged" });
});

test("open: the file gives space back by pieces, logs ahead, and carries our mark", async () => {
  using files = setup();
  await (await files.open()).close();
  const database = new Database(files.options.path);
  const pragma = (name: string) => database.query(`PRAGMA ${name}`).values()[0]?.[0];
  expect(pragma("auto_vacuum")).toBe(2);
  expect(pragma("journal_mode")).toBe("wal");
  expect(pragma("application_id")).toBe(0x484f_4c44);
  expect(pragma("user_version")).toBe(3);
  const loose = database.query(
    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0 AND name NOT LIKE 'sqlite_%'",
  );
  expect(loose.values()).toEqual([]);
  database.close();
});

test.each(["payload", "kind", "created_at", "attempts", "expire_deadline"])(
  "items: a row whose %s changed on disk is damaged, and its neighbour is not",
  async (column) => {
    using files = setup();
    const first = await files.open();
    await commit(first, {
      insert: [item(1, 1, { kind: "a" }), item(1, 2)],
    });
    await first.close();
    const raw = new Database(files.options.path);
    const value = column === "payload" ? "x'ff'" : column === "kind" ? "'b'" : `${column} + 1`;
    raw.run(`UPDATE item SET ${column} = ${value} WHERE key & 0xff = 1`);
    raw.close();
    const store = await files.open();
    const read = await store.items(1, 0, 10, { items: 10, payloadBytes: 1_000_000 });
    expect(read.map(({ seq, damaged }) => [seq, damaged])).toEqual([
      [1, true],
      [2, false],
    ]);
    await commit(store, { quarantine: [{ slot: 1, seqs: [1] }] });
    expect((await store.load()).quarantinedCount).toBe(1);
    expect(await store.present(1, [1, 2])).toEqual([2]);
    await store.close();
  },
);

test.each([
  ["lease", "check_sum = check_sum + 1"],
  ["tally", "check_sum = check_sum + 1"],
  ["tally", "created_at_sum = '1x'"],
  ["queue", "check_sum = check_sum + 1"],
  ["turn", "at = at + (1 << 45)"],
  ["turn", "op_last = op_last + 1"],
  ["turn", "refused = '[}'"],
  ["inbound", "outbound_seq = outbound_seq + 1"],
  ["identity", "tag = '0123456789Ac'"],
])("load: a damaged row of '%s' stops the store; %s", async (table, change) => {
  using files = setup();
  const first = await files.open();
  await commit(first, {
    insert: [item(1, 1)],
    lease: [{ slot: 1, first: 1, last: 1, leaseDeadline: 5, leasedAt: 1 }],
    tally: [tally(1, { nextSeq: 2, itemCount: 1, createdAtSum: 1n })],
    receive: [{ sourceShard: 1, outboundSeq: 7 }],
    catalogPut: [{ queueId: 1, definition: { name: "a" } as never, places: [], deleting: false }],
  });
  await first.close();
  const raw = new Database(files.options.path);
  raw.run(`UPDATE ${table} SET ${change}`);
  raw.close();
  const store = await files.open();
  expect(await faultOf(store.load())).toBe("damaged");
  await store.close();
});

test("load: a store without its identity is damaged", async () => {
  using files = setup();
  await (await files.open()).close();
  const raw = new Database(files.options.path);
  raw.run("DELETE FROM identity");
  raw.close();
  const store = await files.open();
  expect(await faultOf(store.load())).toBe("damaged");
  await store.close();
});

test("commit: without room nothing is written, and what removes goes on", async () => {
  using files = setup({ pagesMax: 60 });
  const store = await files.open();
  await commit(store, { insert: many(20, 1_000) });
  const large = Array.from({ length: 50 }, (_, index) =>
    item(1, 100 + index, { payload: new Uint8Array(10_000) }),
  );
  expect(await faultOf(commit(store, { insert: large, remove: [{ slot: 1, seqs: [0] }] }))).toBe(
    "full",
  );
  const kept = await store.seqs(1, 0, 1_000, 1_000);
  expect(kept.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, seq) => seq));
  await commit(store, { remove: [{ slot: 1, seqs: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] }] });
  await commit(store, { insert: [item(1, 200, { payload: new Uint8Array(5_000) })] });
  expect(await store.present(1, [0, 10, 200])).toEqual([10, 200]);
  await store.close();
});

test("commit: a full disk frees what was set aside, and housekeeping sets it aside again", async () => {
  using files = setup({ pagesMax: 60, ballastBytes: 65_536 });
  const store = await files.open();
  const ballast = `${files.options.path}-ballast`;
  expect(statSync(ballast).size).toBe(65_536);
  expect(store.size().full).toBe(false);
  expect(await faultOf(commit(store, { insert: many(100, 10_000) }))).toBe("full");
  expect(existsSync(ballast)).toBe(false);
  expect(store.size().full).toBe(true);
  while (await store.tidy());
  expect(store.size().full).toBe(false);
  expect(statSync(ballast).size).toBe(65_536);
  await store.close();
});

test("relieve: the log goes to the file between turns, sooner when nobody waits, and never in a commit", async () => {
  using files = setup();
  const store = await files.open();
  const empty = store.size().fileBytes;
  const fill = async (from: number): Promise<void> => {
    for (let start = from; start < from + 1_000; start += 100) {
      const insert = many(100, 3_000).map((one) => ({ ...one, seq: one.seq + start }));
      await commit(store, { insert });
    }
  };
  await fill(0);
  await store.relieve(false);
  expect(store.size().fileBytes).toBe(empty);
  await store.relieve(true);
  const relieved = store.size().fileBytes;
  expect(relieved).toBeGreaterThan(3_000_000);
  for (let from = 1_000; from < 6_000; from += 1_000) await fill(from);
  expect(store.size().fileBytes).toBe(relieved);
  await store.relieve(false);
  expect(store.size().fileBytes).toBeGreaterThan(18_000_000);
  await store.close();
});

test("tidy: after a drain the file and the log shrink to next to nothing", async () => {
  using files = setup();
  const store = await files.open();
  for (let start = 0; start < 20_000; start += 1_000) {
    const insert = many(1_000, 1_000).map((one) => ({ ...one, seq: one.seq + start }));
    await commit(store, { insert });
  }
  while (await store.tidy());
  const filled = store.size();
  expect(filled.fileBytes).toBeGreaterThan(20_000_000);
  for (let start = 0; start < 20_000; start += 1_000) {
    await commit(store, {
      remove: [{ slot: 1, seqs: many(1_000, 0).map(({ seq }) => seq + start) }],
    });
  }
  while (await store.tidy());
  const drained = store.size();
  expect(drained.fileBytes).toBeLessThan(300_000);
  expect(drained.logBytes).toBeLessThan(1_100_000);
  await store.close();
});

test("open: a log with a flipped bit in its middle is refused, unless its loss is accepted", async () => {
  using files = setup();
  const store = await files.open();
  for (let seq = 0; seq < 50; seq += 1) {
    await commit(store, { insert: [item(1, seq, { payload: bytesOf("payload") })] });
  }
  const copy = `${files.options.path}-copy`;
  copyFileSync(files.options.path, copy);
  const log = readFileSync(`${files.options.path}-wal`);
  const middle = log.length >> 1;
  log[middle] = (log[middle] ?? 0) ^ 1;
  writeFileSync(`${copy}-wal`, log);
  await store.close();
  expect(await faultOf(files.open({ path: copy }))).toBe("damaged");
  await (await files.open({ path: copy, acceptLogLoss: true })).close();
  expect(readFileSync(`${copy}-wal-damaged-1`)).toEqual(log);
});

test("backup: the thread goes on while the file is copied, and the copy is whole", async () => {
  using files = setup();
  const store = await files.open();
  await commit(store, { insert: [item(1, 0, { payload: new Uint8Array(1_000_000) })] });
  const folder = mkdtempSync(join(tmpdir(), "holdfast-copy-"));
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 0);
  const bytes = await store.backup(folder);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(0);
  const copy = readFileSync(join(folder, "shard-0.db"));
  expect(bytes).toBe(copy.length);
  expect(copy).toEqual(readFileSync(files.options.path));
  rmSync(folder, { recursive: true });
  await store.close();
});
