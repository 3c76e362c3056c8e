import { afterEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { whyUntraceable } from "../../proof/processes/strace.ts";
import { readTrace, type TracedCall, traceCommand } from "../../proof/storage/trace.ts";
import { all, end, item, nothing } from "../conformance/values.ts";
import { readItems } from "../single-reads.ts";
import type { Store } from "../store.ts";
import { openSqliteStore, type SqliteOptions } from "./store.ts";
import type { Syncer } from "./sync.ts";
import { logStartBytes } from "./wal-scan.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function setup() {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-sync-"));
  folders.push(directory);
  mkdirSync(join(directory, "data"));
  const path = join(directory, "data/shard-0.db");
  const usual: SqliteOptions = {
    path,
    durability: "full",
    newTag: () => "0123456789Ab",
    acceptLogLoss: false,
    ballastBytes: 0,
  };
  return {
    directory,
    path,
    open: (change: Partial<SqliteOptions> = {}) => openSqliteStore({ ...usual, ...change }),
  };
}

function bytesOf(path: string): string {
  return existsSync(path) ? readFileSync(path).toString("hex") : "";
}

const turnOf = (turn: number) => ({ turn, at: turn, tag: "" });

async function insert(store: Store, seq: number, bytes = 1): Promise<void> {
  const payload = new Uint8Array(bytes);
  const changes = { ...nothing, insert: [item(1, seq, { payload })], turn: turnOf(seq + 1) };
  await (await store.commit(changes)).synced;
}

/** Records which files are synced. A test can make a sync wait or fail. */
class ControlledSyncer implements Syncer {
  readonly synced: string[] = [];
  /** Called before the sync of the file with this ending. */
  before = async (_: string): Promise<void> => undefined;

  async syncData(file: number): Promise<void> {
    const ending = basename(readlinkSync(`/proc/self/fd/${file}`)).replace("shard-0", "");
    await this.before(ending);
    this.synced.push(ending);
  }

  async syncFolder(): Promise<void> {
    this.synced.push("folder");
  }
}

/** Longer than a log may get before it is emptied. */
const longLogBytes = 9_000_000;

describe.skipIf(process.platform !== "linux")("on Linux", () => {
  test("open: the log and its name are synced before anything is answered", async () => {
    const syncer = new ControlledSyncer();
    const { store } = await setup().open({ syncer });
    expect(syncer.synced).toEqual([".db-wal", "folder"]);
    await store.close();
  });

  test("commit: a commit is readable before its sync, and marked after it", async () => {
    const { path, open } = setup();
    const { store } = await open();
    const before = bytesOf(`${path}-mark`);
    const { synced } = await store.commit({ ...nothing, insert: [item(1, 0)], turn: turnOf(1) });
    expect((await store.load()).turns).toEqual([turnOf(1)]);
    expect(bytesOf(`${path}-mark`)).toBe(before);
    await synced;
    expect(bytesOf(`${path}-mark`)).not.toBe(before);
    await store.close();
  });

  test.each([
    ["full", [".db", ".db-wal"]],
    ["normal", [".db-wal", ".db", ".db-wal"]],
  ] as const)("relieve: a commit waits for all syncs; durability %s", async (durability, order) => {
    const { path, open } = setup();
    const syncer = new ControlledSyncer();
    const { store, maintenance } = await open({ durability, syncer });
    await insert(store, 0, longLogBytes);
    const waiting: (() => void)[] = [];
    syncer.before = () => new Promise((resolve) => waiting.push(resolve));
    syncer.synced.length = 0;
    const relieved = maintenance.relieve();
    const next = insert(store, 1);
    for (const ending of order) {
      while (waiting.length === 0) await Bun.sleep(1);
      const isLast = syncer.synced.length === order.length - 1;
      // The log's frames are valid until the file is synced, and invalid before they are
      // overwritten.
      const start = readFileSync(`${path}-wal`).subarray(0, logStartBytes);
      expect([start.every((byte) => byte === 0), (await store.load()).turns]).toEqual([
        isLast,
        [turnOf(1)],
      ]);
      waiting.shift()?.();
      while (syncer.synced.at(-1) !== ending) await Bun.sleep(1);
    }
    expect(syncer.synced).toEqual([...order]);
    syncer.before = async () => undefined;
    await relieved;
    while (waiting.length > 0) waiting.shift()?.();
    await next;
    expect((await store.load()).turns).toEqual([turnOf(1), turnOf(2)]);
    await store.close();
  });

  test.each([".db", ".db-wal"])(
    "relieve: a failed sync of %s, even for lack of room, is a failure, and nothing is lost",
    async (ending) => {
      const { path, open } = setup();
      const syncer = new ControlledSyncer();
      const { store, maintenance } = await open({ syncer });
      await insert(store, 0, longLogBytes);
      const log = readFileSync(`${path}-wal`);
      syncer.before = async (file) => {
        if (file === ending) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
      };
      await expect(maintenance.relieve()).rejects.toMatchObject({ fault: "failed" });
      syncer.before = async () => undefined;
      await expect(insert(store, 1)).rejects.toMatchObject({ fault: "failed" });
      await store.close();
      // The file may not be on disk, and the system reports that only once.
      if (ending === ".db") expect(readFileSync(`${path}-wal`).equals(log)).toBe(true);
      expect(existsSync(`${path}-mark`)).toBe(true);
      const again = await open();
      const { found } = await readItems(again.store, { slot: 1, from: 0, before: end }, all);
      expect(found).toHaveLength(1);
      await again.store.close();
      expect(readdirSync(join(path, ".."))).toEqual(["shard-0.db"]);
    },
  );

  test("commit: a failed sync is a failure, and no commit follows", async () => {
    const syncer = new ControlledSyncer();
    const { store } = await setup().open({ syncer });
    syncer.before = async () => {
      throw Object.assign(new Error("no space"), { code: "ENOSPC" });
    };
    await expect(insert(store, 0)).rejects.toMatchObject({ fault: "failed" });
    syncer.before = async () => undefined;
    await expect(insert(store, 1)).rejects.toMatchObject({ fault: "failed" });
    await store.close();
  });

  test("open: a log whose sync failed is written again, or the next sync would leave it out", async () => {
    const { path, open } = setup();
    const syncer = new ControlledSyncer();
    const { store } = await open({ syncer });
    syncer.before = async () => {
      throw Object.assign(new Error("no"), { code: "EIO" });
    };
    await expect(insert(store, 0)).rejects.toMatchObject({ fault: "failed" });
    await store.close();
    const log = readFileSync(`${path}-wal`);
    utimesSync(`${path}-wal`, 0, 0);
    let writtenAt = 0;
    syncer.before = async (ending) => {
      if (ending === ".db-wal") writtenAt ||= statSync(`${path}-wal`).mtimeMs;
    };
    const again = await open({ syncer });
    expect(writtenAt).toBeGreaterThan(0);
    expect(readFileSync(`${path}-wal`).equals(log)).toBe(true);
    expect((await again.store.load()).turns).toEqual([turnOf(1)]);
    await again.store.close();
  });

  test("tidy: freed pages are synced before the next commit", async () => {
    const syncer = new ControlledSyncer();
    const { store, maintenance } = await setup().open({ syncer });
    await insert(store, 0, longLogBytes);
    const remove = [{ slot: 1, seqs: [0] }];
    await (await store.commit({ ...nothing, remove, turn: turnOf(2) })).synced;
    syncer.synced.length = 0;
    expect(await maintenance.tidy()).toBe(true);
    expect(syncer.synced).toEqual([".db-wal"]);
    await store.close();
  });
});

test("commit: no sync is left if SQLite syncs itself, or with durability normal", async () => {
  const { open } = setup();
  for (const how of [{ syncer: null }, { durability: "normal" }] as const) {
    const { store } = await open(how);
    expect(await store.commit({ ...nothing, turn: turnOf(1) })).toEqual({ synced: null });
    await store.close();
  }
});

const syncMs = 100;

describe.skipIf(process.platform !== "linux" || whyUntraceable() !== null)("traced", () => {
  const program = join(import.meta.dir, "testing/traced-store.ts");

  async function run(tracer: readonly string[], directory: string, ...args: string[]) {
    const command = [...tracer, process.execPath, program, directory, ...args];
    const child = Bun.spawn(command, { stdio: ["ignore", "inherit", "inherit"] });
    expect(await child.exited).toBe(0);
    const outcome = readFileSync(join(directory, "outcome"), "utf8");
    return JSON.parse(outcome) as { pid: number; fired: Record<string, number> };
  }

  async function made() {
    const files = setup();
    await (await files.open()).store.close();
    return files;
  }

  test.each(["full", "normal"])(
    "sync: the thread of a store never syncs, and continues while the disk stalls; durability %s",
    async (durability) => {
      const { directory } = await made();
      const trace = join(directory, "trace");
      const inject = `inject=fdatasync,fsync:delay_exit=${1_000 * syncMs}`;
      const calls = ["-e", "trace=fdatasync,fsync,sync_file_range,msync,sync,syncfs"];
      const tracer = ["strace", "-f", "-qq", "-o", trace, ...calls, "-e", inject];
      const { pid, fired } = await run(tracer, directory, durability, "1048576");
      const threads = readFileSync(trace, "utf8").match(/^\d+/gm) ?? [];
      expect(threads.length).toBeGreaterThan(5);
      expect(threads).not.toContain(String(pid));
      const waiting = Object.keys(fired).filter((step) => (fired[step] ?? 0) > 1);
      const steps = ["relieve", "backup", "close"];
      expect(waiting.sort()).toEqual(
        (durability === "full" ? ["commit", "vacuum", ...steps] : steps).sort(),
      );
    },
  );

  test.each(["full", "normal"])(
    "sync: frames are overwritten only once the file has them, and copied only once they are synced; %s",
    async (durability) => {
      const { directory } = await made();
      const trace = join(directory, "trace");
      await run(traceCommand(trace), directory, durability, "0");
      const traced = readTrace(readFileSync(trace), join(directory, "data"));
      expect(orderFaults(traced)).toEqual({ resets: 4, faults: [] });
    },
  );
});

/** `resets`: how often the log was restarted. */
function orderFaults(calls: readonly TracedCall[]) {
  const faults: string[] = [];
  const unsynced = new Set<string>();
  let isInvalid = true;
  let resets = 0;
  for (const call of calls) {
    const file = basename(call.path);
    const isLog = file === "shard-0.db-wal";
    if (call.kind === "sync") unsynced.delete(file);
    if (call.kind === "truncate" && isLog && !isInvalid) faults.push("valid log truncated");
    if (call.kind !== "write") continue;
    if (file === "shard-0.db" && unsynced.has("shard-0.db-wal")) faults.push("file before log");
    if (isLog && call.at === 0) {
      if (unsynced.has("shard-0.db")) faults.push("log overwritten before the file is synced");
      if (call.bytes.length === logStartBytes) isInvalid = true;
      else {
        if (!isInvalid || unsynced.has(file)) faults.push("header before the log is invalid");
        isInvalid = false;
        resets += 1;
      }
    }
    unsynced.add(file);
  }
  return { resets, faults };
}
