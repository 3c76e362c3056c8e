import { Database } from "bun:sqlite";
import { expect, spyOn, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OpenedStore } from "../conformance/bench.ts";
import { describeStore } from "../conformance/suite.ts";
import {
  alike,
  all,
  bytesOf,
  end,
  entry,
  grouped,
  item,
  leaving,
  moveOf,
  nothing,
  numbers,
  outboundItem,
  readOf,
  scheduledItem,
  seqsOf,
  tally,
  toItems,
  toOutbox,
  toScheduled,
} from "../conformance/values.ts";
import type { CatalogEntry } from "../queue.ts";
import { readItems, readOutbound, readScheduled } from "../single-reads.ts";
import { type Changes, DamagedItems, noReads, type Store, StoreError } from "../store.ts";
import { queueValues } from "./rows.ts";
import { openSqliteStore, type SqliteOptions } from "./store.ts";
import { type Syncer, threadPoolSyncer } from "./sync.ts";

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
    /** Changes the file; the store must be closed. */
    corrupt: (...texts: string[]): void => {
      using database = new Database(options.path);
      for (const text of texts) database.run(text);
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

type Files = ReturnType<typeof setup>;

let turn = 0;
async function commit(store: Store, changes: Partial<Changes>): Promise<void> {
  turn += 1;
  const { synced } = await store.commit({
    ...nothing,
    ...changes,
    turn: { turn, at: turn, tag: "" },
  });
  await synced;
}

async function seqsIn(store: Store): Promise<number[]> {
  return seqsOf((await readItems(store, { slot: 1, from: 0, before: end }, all)).found);
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

describeStore("sqlite", () => opened(null), [1, 2]);
describeStore("sqlite, synced by the thread pool", () => opened(threadPoolSyncer), [3, 4]);

async function opened(syncer: Syncer | null): Promise<OpenedStore> {
  const files = setup({ syncer });
  let backend = await files.open();
  return {
    backend,
    reopen: async () => {
      await backend.store.close();
      backend = await files.open();
      return backend;
    },
    dispose: async () => {
      await backend.store.close();
      files[Symbol.dispose]();
    },
  };
}

test("statements: none is compiled again for each number of rows", async () => {
  const prepared = Database.prototype.prepare;
  const texts: string[] = [];
  const prepare = spyOn(Database.prototype, "prepare").mockImplementation(function (
    this: Database,
    text: string,
  ) {
    texts.push(text);
    return prepared.call(this, text);
  } as typeof prepared);
  try {
    using bench = setup();
    await (await bench.open()).store.close();
  } finally {
    prepare.mockRestore();
  }
  expect(texts.filter((text) => text.includes("LIMIT ?")).length).toBeGreaterThan(5);
  expect(texts.filter((text) => /LIMIT \?\d+(?! \+ 0)/.test(text))).toEqual([]);
});

test("open: a second connection is refused while the first has the file, and accepted afterwards", async () => {
  using files = setup();
  const { store } = await files.open();
  expect(await faultOf(files.open())).toBe("locked");
  await store.close();
  await (await files.open()).store.close();
});

test("open: a missing folder, a file that is not a database, and a file of another program are refused", async () => {
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
});

const openFiles = (path: string): string[] =>
  readdirSync("/proc/self/fd")
    // The descriptor of the listing itself is closed by now.
    .flatMap((file) =>
      existsSync(`/proc/self/fd/${file}`) ? readlinkSync(`/proc/self/fd/${file}`) : [],
    )
    .filter((opened) => opened.startsWith(path));

test.skipIf(process.platform !== "linux").each([
  [
    "a table is not there",
    (files: Files) => {
      files.corrupt("ALTER TABLE outbound RENAME TO inbound_of_old");
      return () => files.corrupt("ALTER TABLE inbound_of_old RENAME TO outbound");
    },
  ],
  [
    "what is set aside cannot be reached",
    ({ options }: Files) => {
      const path = `${options.path}-ballast`;
      rmSync(path, { force: true });
      symlinkSync(path, path);
      return () => rmSync(path);
    },
  ],
])("open: if %s, no file stays open or locked", async (_, corrupt) => {
  using files = setup({ ballastBytes: 65_536 });
  await (await files.open()).store.close();
  const mend = corrupt(files);
  expect(await faultOf(files.open())).toBe("failed");
  expect(openFiles(files.options.path)).toEqual([]);
  mend();
  await (await files.open()).store.close();
});

test("open: a partly written reserve is completed", async () => {
  using files = setup({ ballastBytes: 65_536 });
  const path = `${files.options.path}-ballast`;
  writeFileSync(path, new Uint8Array(1_000));
  const { store, maintenance } = await files.open();
  expect(statSync(path).size).toBe(65_536);
  expect(maintenance.size().full).toBe(false);
  await store.close();
});

test("open: a file whose rows have become unreachable is refused", async () => {
  using files = setup();
  const { store: first } = await files.open();
  // Rows in one page, none of them in a pack.
  for (let seq = 0; seq < 17; seq += 1) await commit(first, { insert: [item(1, 2 * seq)] });
  await first.close();
  const bytes = readFileSync(files.options.path);
  const pageBytes = 4_096;
  const leaf = 0x0d;
  let broken = 0;
  for (let page = pageBytes; page < bytes.length; page += pageBytes) {
    // Lowers the page's row count, so that the last rows are lost.
    if (bytes[page] !== leaf || bytes.readUint16BE(page + 3) !== 17) continue;
    bytes.writeUint16BE(5, page + 3);
    broken += 1;
  }
  writeFileSync(files.options.path, bytes);
  expect({ broken, fault: await faultOf(files.open()) }).toEqual({ broken: 2, fault: "damaged" });
});

test.skipIf(process.platform !== "linux")(
  "open: nothing of the store is mapped into memory, where a full disk would kill the process",
  async () => {
    using files = setup();
    const { store } = await files.open();
    await commit(store, { insert: many(100, 1_000) });
    expect(existsSync(`${files.options.path}-shm`)).toBe(false);
    expect(readFileSync("/proc/self/maps", "utf8")).not.toContain(files.options.path);
    await store.close();
  },
);

test("open: the file frees space in pieces, uses write-ahead logging, and has the application id", async () => {
  using files = setup();
  await (await files.open()).store.close();
  const database = new Database(files.options.path);
  const pragma = (name: string) => database.query(`PRAGMA ${name}`).values()[0]?.[0];
  expect(pragma("auto_vacuum")).toBe(2);
  expect(pragma("journal_mode")).toBe("wal");
  expect(pragma("application_id")).toBe(0x484f_4c44);
  expect(pragma("user_version")).toBe(1);
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
    const { store: first } = await files.open();
    await commit(first, { insert: [item(1, 1, { kind: "a" }), item(1, 2)] });
    await first.close();
    const value = column === "payload" ? "x'ff'" : column === "kind" ? "'b'" : `${column} + 1`;
    files.corrupt(`UPDATE item SET ${column} = ${value} WHERE key & 0xff = 1`);
    const { store } = await files.open();
    const { found } = await readItems(store, { slot: 1, from: 0, before: 10 }, all);
    expect(found.map(({ seq, damaged }) => [seq, damaged])).toEqual([
      [1, true],
      [2, false],
    ]);
    await commit(store, { quarantine: [{ slot: 1, seqs: [1] }] });
    expect((await store.load()).quarantinedCount).toBe(1);
    expect(await seqsIn(store)).toEqual([2]);
    await store.close();
  },
);

test("commit: a move of damaged items reports all of them, and nothing is written", async () => {
  using files = setup();
  const { store: first } = await files.open();
  await commit(first, {
    insert: [...alike(1, 0, 10), item(1, 10), item(1, 11), item(1, 12, { sourceId: "s" })],
    schedule: [13, 14, 15].map((seq) => scheduledItem(1, seq)),
  });
  await first.close();
  // `substr` counts from 1, and each payload is 9 bytes.
  const [third, ninth] = [1 + 3 * 9, 1 + 9 * 9];
  const corrupted = (start: number): string =>
    `payload = CAST(substr(payload, 1, ${start - 1}) || 'X' || substr(payload, ${start + 1}) AS BLOB)`;
  files.corrupt(
    `UPDATE item SET ${corrupted(third)} WHERE count > 1`,
    `UPDATE item SET ${corrupted(ninth)} WHERE count > 1`,
    "UPDATE item SET attempts = 1 WHERE key & 0xff IN (11, 12)",
    "UPDATE scheduled SET due_at = due_at + 1 WHERE key & 0xff IN (13, 15)",
  );
  const { store } = await files.open();
  const contents = async () => ({
    image: await store.load(),
    items: await readItems(store, { slot: 1, from: 0, before: end }, all),
    elsewhere: await readItems(store, { slot: 2, from: 0, before: end }, all),
    scheduled: await readScheduled(store, { slot: 1, from: 0, before: end }, all),
    outbound: await readOutbound(store, 2, all),
  });
  const moves = [
    ...alike(2, 0, 9).map((one) => moveOf({ slot: 1, seq: one.seq }, toItems(one))),
    ...[10, 11].map((seq) => moveOf(item(1, seq), toOutbox(outboundItem(seq)))),
    moveOf(item(1, 12), null),
    moveOf(item(1, 13), toScheduled(scheduledItem(2, 13)), "scheduled"),
    moveOf(item(1, 14), null, "scheduled"),
    moveOf(item(1, 15), toItems(item(2, 15)), "scheduled"),
  ];
  const was = await contents();
  const failure = await commit(store, leaving(moves)).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(DamagedItems);
  const damaged = [3, 11, 12, 13, 15];
  expect(failure).toMatchObject({
    fault: "damaged_items",
    items: damaged.map((seq) => ({ slot: 1, seq })),
  });
  expect(await contents()).toEqual(was);

  // Damaged items are quarantined, and the rest moves.
  const sound = moves.filter(({ seq }) => !damaged.includes(seq));
  await commit(store, { ...leaving(sound), quarantine: [{ slot: 1, seqs: damaged }] });
  const found = await contents();
  expect(found.image.quarantinedCount).toBe(5);
  expect(found.items.found.map(({ seq, damaged }) => [seq, damaged])).toEqual([[9, true]]);
  const moved = alike(2, 0, 9).filter(({ seq }) => seq !== 3);
  expect(found.elsewhere.found).toEqual(moved.map(readOf));
  expect(found.scheduled.found).toEqual([]);
  expect(found.outbound).toEqual([readOf(outboundItem(10))]);
  await store.close();
});

test("outbound: a damaged item is returned as damaged, and set aside by its number", async () => {
  using files = setup();
  const { store: first } = await files.open();
  const sent = [1, 2].map((seq) => outboundItem(seq));
  await commit(first, { insert: sent.map(({ slot, seq }) => item(slot, seq)) });
  await commit(first, leaving(sent.map((one) => moveOf(one, toOutbox(one)))));
  await first.close();
  files.corrupt("UPDATE outbound SET target_owner = 5 WHERE outbound_seq = 1");
  const { store } = await files.open();
  const read = await readOutbound(store, 2, all);
  expect(read.map(({ outboundSeq, damaged }) => [outboundSeq, damaged])).toEqual([
    [1, true],
    [2, false],
  ]);
  await commit(store, { quarantineOutbound: [1] });
  expect(await readOutbound(store, 2, all)).toEqual(sent.slice(1).map(readOf));
  expect((await store.load()).quarantinedCount).toBe(1);
  await store.close();
});

test.each([
  ["lease", "check_sum = check_sum + 1"],
  ["tally", "check_sum = check_sum + 1"],
  ["tally", "created_at_sum = '1x'"],
  ["turn", "at = at + (1 << 45)"],
  ["turn", "at = at + 1"],
  ["inbound", "outbound_seq = outbound_seq + 1"],
  ["identity", "tag = '0123456789Ac'"],
])("load: a damaged row of '%s' stops the store; %s", async (table, change) => {
  using files = setup();
  const { store: first } = await files.open();
  await commit(first, {
    insert: [item(1, 1)],
    lease: [{ slot: 1, first: 1, last: 1, leaseDeadline: 5, leasedAt: 1 }],
    tally: [tally(1, { nextSeq: 2, itemCount: 1, createdAtSum: 1n })],
    receive: [{ sourceShard: 1, outboundSeq: 7 }],
  });
  await first.close();
  files.corrupt(`UPDATE ${table} SET ${change}`);
  const { store } = await files.open();
  expect(await faultOf(store.load())).toBe("damaged");
  await store.close();
});

test.each([["until = until + 1"], ["key = key + 1"], ["check_sum = check_sum + 1"]])(
  "read: a unique key in a damaged row is not taken, and can be taken again; %s",
  async (change) => {
    using files = setup();
    const { store: first } = await files.open();
    const unique = { slot: 1, seq: 1, digest: "0f".repeat(16), until: 100 };
    await commit(first, { unique: [unique] });
    await first.close();
    files.corrupt(`UPDATE unique_key SET ${change}`);
    const { store } = await files.open();
    const taken = async () => (await store.read({ ...noReads, uniques: [unique.digest] })).uniques;
    expect(await taken()).toEqual(new Map());
    const again = { ...unique, seq: 5 };
    await commit(store, { unique: [again] });
    expect(await taken()).toEqual(new Map([[unique.digest, again]]));
    await store.close();
  },
);

test.each([
  ["partition = 1"],
  ["name = 'b'"],
  ["place = 1"],
  ["place = 9"],
  ["rank = rank - 1"],
  ["key = key + 1"],
  ["check_sum = check_sum + 1"],
])("load, read: a damaged row of a group stops the store; %s", async (change) => {
  using files = setup();
  const { store: first } = await files.open();
  await commit(first, { group: [grouped("a", 7, { partition: 0 })] });
  await first.close();
  files.corrupt(`UPDATE grouped SET ${change}`);
  const { store } = await files.open();
  expect(await faultOf(store.load())).toBe("damaged");
  const places = [0, 1].flatMap((partition) =>
    ["a", "b"].map((group) => ({ partition, group, from: 0, items: 1 })),
  );
  const read = () => store.read({ ...noReads, groups: places, headBytes: 1 });
  // A row at another place is not a head.
  if (change.startsWith("place")) await read();
  else expect(await faultOf(read())).toBe("damaged");
  await store.close();
});

const [, otherForm, otherSum] = queueValues({ queueId: 1, definition: {} } as CatalogEntry);

test.each([
  ["UPDATE queue SET check_sum = check_sum + 1"],
  ["UPDATE queue SET entry = replace(entry, 'name', 'nome')"],
  ["UPDATE queue SET queue_id = 2"],
  [`UPDATE queue SET entry = '${otherForm}', check_sum = ${otherSum}`],
])("load: a queue that is damaged, or of another form, stops the store; %s", async (change) => {
  using files = setup();
  const { store: first } = await files.open();
  await commit(first, { queue: [entry(1, "a")] });
  await first.close();
  files.corrupt(change);
  const { store } = await files.open();
  expect(await faultOf(store.load())).toBe("damaged");
  await store.close();
});

test("load: a store without its identity is damaged", async () => {
  using files = setup();
  await (await files.open()).store.close();
  files.corrupt("DELETE FROM identity");
  const { store } = await files.open();
  expect(await faultOf(store.load())).toBe("damaged");
  await store.close();
});

test("commit: without room nothing is written, and removals continue", async () => {
  using files = setup({ pagesMax: 60 });
  const { store } = await files.open();
  await commit(store, { insert: many(20, 1_000) });
  const large = Array.from({ length: 50 }, (_, index) =>
    item(1, 100 + index, { payload: new Uint8Array(10_000) }),
  );
  expect(await faultOf(commit(store, { insert: large, remove: [{ slot: 1, seqs: [0] }] }))).toBe(
    "full",
  );
  expect(await seqsIn(store)).toEqual(numbers(0, 20));
  await commit(store, { remove: [{ slot: 1, seqs: numbers(0, 10) }] });
  await commit(store, { insert: [item(1, 200, { payload: new Uint8Array(5_000) })] });
  expect(await seqsIn(store)).toEqual([...numbers(10, 20), 200]);
  await store.close();
});

test("relieve: a long log is copied to the file between turns, and never in a commit", async () => {
  using files = setup();
  const { store, maintenance } = await files.open();
  const empty = maintenance.size().fileBytes;
  const fill = async (from: number): Promise<void> => {
    for (let start = from; start < from + 1_000; start += 100) {
      const insert = many(100, 3_000).map((one) => ({ ...one, seq: one.seq + start }));
      await commit(store, { insert });
    }
  };
  await fill(0);
  await maintenance.relieve();
  for (let from = 1_000; from < 6_000; from += 1_000) await fill(from);
  expect(maintenance.size().fileBytes).toBe(empty);
  await maintenance.relieve();
  expect(maintenance.size().fileBytes).toBeGreaterThan(18_000_000);
  await store.close();
});

test("tidy: after a drain the file and the log shrink to next to nothing", async () => {
  using files = setup();
  const { store, maintenance } = await files.open();
  for (let start = 0; start < 20_000; start += 1_000) {
    const insert = many(1_000, 1_000).map((one) => ({ ...one, seq: one.seq + start }));
    await commit(store, { insert });
  }
  while (await maintenance.tidy());
  const filled = maintenance.size();
  expect(filled.fileBytes).toBeGreaterThan(20_000_000);
  for (let start = 0; start < 20_000; start += 1_000) {
    await commit(store, {
      remove: [{ slot: 1, seqs: many(1_000, 0).map(({ seq }) => seq + start) }],
    });
  }
  while (await maintenance.tidy());
  const drained = maintenance.size();
  expect(drained.fileBytes).toBeLessThan(300_000);
  expect(drained.logBytes).toBeLessThan(1_100_000);
  await store.close();
});

test("open: a log with a flipped bit in its middle is refused, unless its loss is accepted", async () => {
  using files = setup();
  const { store } = await files.open();
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
  await (await files.open({ path: copy, acceptLogLoss: true })).store.close();
  expect(readFileSync(`${copy}-wal-damaged-1`)).toEqual(log);
});

test("countItems: counts the items of a slot below its next number, without those that left", async () => {
  using files = setup();
  const { store, maintenance } = await files.open();
  await commit(store, {
    insert: [...alike(0, 0, 300), item(1, 4), item(1, 5)],
    schedule: [scheduledItem(1, 3)],
    tally: [tally(0, { nextSeq: 300, itemCount: 7 }), tally(1, { nextSeq: 5 }), tally(2)],
  });
  await commit(store, { remove: [{ slot: 0, seqs: [0, 7, 8, 130, 299] }] });
  expect(await maintenance.countItems()).toEqual(
    new Map([
      [0, { items: 295, scheduled: 0 }],
      [1, { items: 1, scheduled: 1 }],
      [2, { items: 0, scheduled: 0 }],
    ]),
  );
  await store.close();
});

test("backup: the file stays locked for other processes", async () => {
  using files = setup();
  const { store, maintenance } = await files.open();
  const folder = mkdtempSync(join(tmpdir(), "holdfast-copy-"));
  await maintenance.backup(folder);
  rmSync(folder, { recursive: true });
  const { path } = files.options;
  const text = `new (require("bun:sqlite").Database)(${JSON.stringify(path)}).run("SELECT * FROM item")`;
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, "-e", text]);
  expect({ exitCode, isBusy: stderr.toString().includes("SQLITE_BUSY") }).toEqual({
    exitCode: 1,
    isBusy: true,
  });
  await store.close();
});

test("backup: the thread continues while the file is copied, and the copy is complete", async () => {
  using files = setup();
  const { store, maintenance } = await files.open();
  await commit(store, { insert: [item(1, 0, { payload: new Uint8Array(1_000_000) })] });
  const folder = mkdtempSync(join(tmpdir(), "holdfast-copy-"));
  let turns = 0;
  const beat = (): void => {
    turns += 1;
    next = setImmediate(beat);
  };
  let next = setImmediate(beat);
  const bytes = await maintenance.backup(folder);
  clearImmediate(next);
  expect(turns).toBeGreaterThan(0);
  const copy = readFileSync(join(folder, "shard-0.db"));
  expect(bytes).toBe(copy.length);
  expect(copy).toEqual(readFileSync(files.options.path));
  rmSync(folder, { recursive: true });
  await store.close();
});
