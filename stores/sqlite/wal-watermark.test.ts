// Logs without their end, in the files of a killed server.

import { describe, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskKinds, SmallDisk, whyNoDisk } from "../../proof/processes/small-disk.ts";
import type { Backend } from "../backend.ts";
import { all, end, entry, item, nothing, seeded } from "../conformance/values.ts";
import { readItems } from "../single-reads.ts";
import { StoreError } from "../store.ts";
import type { Durability } from "./connect.ts";
import { openSqliteStore, type SqliteOptions } from "./store.ts";
import { threadPoolSyncer } from "./sync.ts";
import { stateOfLog, WalWatermark } from "./wal-watermark.ts";

const commitCount = 30;

async function setup(options: Partial<SqliteOptions> = {}) {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-mark-"));
  const folder = (name: string): string => join(directory, name);
  mkdirSync(folder("live"));
  const backend = await open(folder("live"), options);
  for (let seq = 0; seq < commitCount; seq += 1) await write(backend, seq);
  let copies = 0;
  return {
    backend,
    live: folder("live"),
    /** Copies the files as a server killed now would leave them. */
    killed: (): string => {
      copies += 1;
      cpSync(folder("live"), folder(`copy-${copies}`), { recursive: true });
      return folder(`copy-${copies}`);
    },
    [Symbol.asyncDispose]: async () => {
      await backend.store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function open(folder: string, options: Partial<SqliteOptions> = {}): Promise<Backend> {
  const newTag = () => "0123456789Ab";
  const path = join(folder, "shard-0.db");
  const usual = { durability: "full", acceptLogLoss: false, ballastBytes: 0 } as const;
  return openSqliteStore({ path, newTag, ...usual, ...options });
}

/** Commits, and does the maintenance that follows a commit. */
async function write({ store, maintenance }: Backend, seq: number, bytes = 1): Promise<void> {
  const turn = { turn: seq + 1, at: seq, tag: "" };
  const insert = [item(1, seq, { payload: new Uint8Array(bytes) })];
  const { synced } = await store.commit({ ...nothing, insert, turn });
  await synced;
  await maintenance.relieve();
}

/** The number of items in the store, or the reason why it did not open. */
async function outcome(folder: string, options: Partial<SqliteOptions> = {}): Promise<unknown> {
  try {
    const { store } = await open(folder, options);
    const { found } = await readItems(store, { slot: 1, from: 0, before: end }, all);
    await store.close();
    return found.length;
  } catch (error) {
    return error instanceof StoreError ? error.fault : error;
  }
}

const log = (folder: string): string => join(folder, "shard-0.db-wal");
/** A log without frames. */
const logHeader = new Uint8Array(32);
new DataView(logHeader.buffer).setUint32(0, 0x377f_0682);
const mark = (folder: string): string => join(folder, "shard-0.db-mark");

test("open: a killed server's files are whole", async () => {
  await using files = await setup();
  expect(await outcome(files.killed())).toBe(commitCount);
});

test.each([
  ["SQLite", null],
  ["the thread pool", threadPoolSyncer],
])(
  "open: a log that has lost its end is refused, wherever it was cut; synced by %s",
  async (_, syncer) => {
    await using files = await setup({ syncer });
    const below = seeded(1);
    const { length } = readFileSync(log(files.live));
    for (let trial = 0; trial < 100; trial += 1) {
      const folder = files.killed();
      const size = trial === 0 ? 0 : below(length);
      truncateSync(log(folder), size);
      expect([size, await outcome(folder)]).toEqual([size, "damaged"]);
    }
  },
);

test("open: a missing log is refused", async () => {
  await using files = await setup();
  const folder = files.killed();
  rmSync(log(folder));
  expect(await outcome(folder)).toBe("damaged");
});

test("open: a missing log is not a loss if the file has all of it, as when a thread ends", async () => {
  await using files = await setup();
  const before = readFileSync(mark(files.live));
  await files.backend.store.close();
  writeFileSync(mark(files.live), before);
  expect(await outcome(files.live)).toBe(commitCount);
});

test("open: a missing log can be accepted, with the content of the file", async () => {
  await using files = await setup();
  for (let seq = commitCount; seq < 400; seq += 1) await write(files.backend, seq);
  while (await files.backend.maintenance.tidy());
  await write(files.backend, 400);
  const folder = files.killed();
  rmSync(log(folder));
  expect(await outcome(folder)).toBe("damaged");
  expect(await outcome(folder, { acceptLogLoss: true })).toBe(400);
  expect(await outcome(folder)).toBe(400);
});

test("open: a missing log with a turn that only changed a queue is refused", async () => {
  await using files = await setup();
  for (let seq = commitCount; seq < 400; seq += 1) await write(files.backend, seq);
  while (await files.backend.maintenance.tidy());
  const turn = { turn: 401, at: 400, tag: "" };
  const queue = [entry(1, "a")];
  await (await files.backend.store.commit({ ...nothing, queue, turn })).synced;
  const folder = files.killed();
  expect(await outcome(folder)).toBe(400);
  for (const corrupt of [rmSync, (path: string) => truncateSync(path, 2_000)]) {
    const corrupted = files.killed();
    corrupt(log(corrupted));
    expect(await outcome(corrupted)).toBe("damaged");
  }
});

test("open: a log that has lost its beginning is refused", async () => {
  await using files = await setup();
  const folder = files.killed();
  const bytes = readFileSync(log(folder));
  writeFileSync(log(folder), bytes.fill(0, 0, 4_096));
  expect(await outcome(folder)).toBe("damaged");
});

test("open: a bit that flips in the last commit is detected", async () => {
  await using files = await setup();
  const folder = files.killed();
  const bytes = readFileSync(log(folder));
  const at = bytes.length - 1_000;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(log(folder), bytes);
  expect(await outcome(folder)).toBe("damaged");
});

test("open: a loss that was accepted once is not reported again", async () => {
  await using files = await setup();
  const folder = files.killed();
  const whole = readFileSync(log(folder));
  truncateSync(log(folder), whole.length >> 1);
  const kept = await outcome(folder, { acceptLogLoss: true });
  expect(kept).toBeGreaterThan(0);
  expect(kept).toBeLessThan(commitCount);
  expect(readFileSync(`${log(folder)}-damaged-1`)).toEqual(whole.subarray(0, whole.length >> 1));
  expect(await outcome(folder)).toBe(kept);
});

test("open: a commit after the watermark may be torn, as a power cut may leave it", async () => {
  await using files = await setup();
  const early = readFileSync(mark(files.live));
  await write(files.backend, commitCount);
  const folder = files.killed();
  writeFileSync(mark(folder), early);
  truncateSync(log(folder), readFileSync(log(folder)).length - 100);
  expect(await outcome(folder)).toBe(commitCount);
});

test.each([0, 5, 16, 24, 200])(
  "open: a watermark of %p invalid bytes is ignored",
  async (length) => {
    await using files = await setup();
    const folder = files.killed();
    writeFileSync(mark(folder), new Uint8Array(length).fill(7));
    expect(await outcome(folder)).toBe(commitCount);
  },
);

test("close: a closed store has neither log nor watermark, and opens", async () => {
  await using files = await setup();
  const folder = files.killed();
  await (await open(folder)).store.close();
  expect([existsSync(log(folder)), existsSync(mark(folder))]).toEqual([false, false]);
  expect(await outcome(folder)).toBe(commitCount);
});

test("tidy: an intentionally emptied log is not reported as missing", async () => {
  await using files = await setup();
  for (let seq = commitCount; seq < 400; seq += 1) await write(files.backend, seq);
  expect(files.backend.maintenance.size().logBytes).toBeGreaterThan(1_048_576);
  while (await files.backend.maintenance.tidy());
  expect(files.backend.maintenance.size().logBytes).toBe(0);
  expect(await outcome(files.killed())).toBe(400);
  await write(files.backend, 400);
  const folder = files.killed();
  expect(await outcome(folder)).toBe(401);
  const shorter = files.killed();
  truncateSync(log(shorter), 2_000);
  expect(await outcome(shorter)).toBe("damaged");
});

test("relieve: an emptied log is not reported as missing before the next commit, nor any part of it", async () => {
  await using files = await setup();
  const { backend } = files;
  const empty = backend.maintenance.size().fileBytes;
  let count = commitCount;
  for (; backend.maintenance.size().fileBytes === empty; count += 1) {
    await write(backend, count, 400_000);
  }
  for (const corrupt of [() => undefined, rmSync, (path: string) => truncateSync(path, 40_000)]) {
    const folder = files.killed();
    corrupt(log(folder));
    expect(await outcome(folder)).toBe(count);
  }
});

test("tidy: a log that is emptied after a turn with receipts is not reported as missing", async () => {
  await using files = await setup();
  const { store, maintenance } = files.backend;
  const turn = { turn: commitCount + 1, at: 1, tag: "" };
  const payload = new Uint8Array(2_000_000);
  const insert = [item(1, commitCount, { payload })];
  await (await store.commit({ ...nothing, insert, turn, receipts: new Uint8Array(1) })).synced;
  while (await maintenance.tidy());
  expect(maintenance.size().logBytes).toBe(0);
  expect(await outcome(files.killed())).toBe(commitCount + 1);
});

test("relieve: a restarted log has its own watermark", async () => {
  await using files = await setup();
  const { maintenance } = files.backend;
  const empty = maintenance.size().fileBytes;
  let count = commitCount;
  for (; maintenance.size().fileBytes === empty; count += 1) {
    await write(files.backend, count, 400_000);
  }
  // The first commit at the beginning of the log.
  await write(files.backend, count);
  const folder = files.killed();
  expect(await outcome(folder)).toBe(count + 1);
  const shorter = files.killed();
  truncateSync(log(shorter), 2_000);
  expect(await outcome(shorter)).toBe("damaged");
});

test("durability normal: commits that a power cut may lose are not reported as missing, even by a later start with full", async () => {
  await using files = await setup();
  const normal: Durability = "normal";
  const folder = files.killed();
  truncateSync(log(folder), 100_000);
  const kept = await outcome(folder, { durability: normal });
  expect(kept).toBeLessThan(commitCount);
  expect(await outcome(folder)).toBe(kept);
});

test("durability normal: the watermark is removed at once, even for a start after a kill", async () => {
  await using files = await setup();
  const folder = files.killed();
  truncateSync(log(folder), 100_000);
  const { store } = await open(folder, { durability: "normal" });
  const killed = `${folder}-again`;
  cpSync(folder, killed, { recursive: true });
  await store.close();
  expect(await outcome(killed)).toBeLessThan(commitCount);
});

test("open: a refused opening of a file in use leaves the watermark in place", async () => {
  await using files = await setup();
  const before = readFileSync(mark(files.live));
  expect(await outcome(files.live, { durability: "normal" })).toBe("locked");
  expect(readFileSync(mark(files.live)).equals(before)).toBe(true);
});

describe.each([...diskKinds])("%s", (kind) => {
  test.skipIf(whyNoDisk(kind) !== null)(
    "commit: a watermark without room on a full disk is written once there is some",
    async () => {
      using disk = new SmallDisk(kind, 8);
      const [logPath, markPath] = [log(disk.path), mark(disk.path)];
      writeFileSync(logPath, logHeader);
      disk.fill();
      const made = new WalWatermark(markPath, logPath);
      made.set(4, 4);
      await made.clear();
      expect(existsSync(markPath)).toBe(false);
      disk.free();
      made.set(5, 5);
      expect(stateOfLog(logPath, markPath, 3)).toEqual({ is: "cut", commits: 5 });
      made.remove();
    },
  );
});
