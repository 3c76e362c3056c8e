import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { whyUntraceable } from "../../proof/strace.ts";
import { item, nothing } from "../conformance/values.ts";
import { openSqliteStore } from "./store.ts";
import { FileSync, syncedBy } from "./sync.ts";

function setup() {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-sync-"));
  return {
    directory,
    path: join(directory, "shard-0.db"),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

const turn = { turn: 1, at: 1, opLast: 1, refused: [] };
const newTag = () => "0123456789Ab";

test("auto: a folder that cannot be written to is nothing to sync by a thread", () => {
  expect(syncedBy("/nowhere/shard-0.db")).toBe("commit");
  expect(syncedBy("/nowhere/shard-0.db", "thread")).toBe("thread");
});

test.skipIf(whyUntraceable() !== null)(
  "auto: a disk whose syncs take long is synced by a thread",
  () => {
    using files = setup();
    const module = join(import.meta.dir, "sync.ts");
    const script = `console.log((await import(${JSON.stringify(module)})).syncedBy(process.argv[1]))`;
    const inject = "inject=fdatasync:delay_exit=20000";
    const slowed = [
      "strace",
      "-f",
      "-qq",
      "-o",
      "/dev/null",
      "-e",
      "trace=fdatasync",
      "-e",
      inject,
    ];
    const ask = [process.execPath, "-e", script, files.path];
    const { stdout } = Bun.spawnSync([...slowed, ...ask]);
    expect(stdout.toString().trim()).toBe("thread");
    expect(readdirSync(files.directory)).toEqual([]);
  },
);

test("commit: what a thread has yet to sync is read at once, and marked when it is synced", async () => {
  using files = setup();
  const options = { path: files.path, newTag, acceptLogLoss: false, ballastBytes: 0 };
  const { store } = await openSqliteStore({ ...options, durability: "full", sync: "thread" });
  const mark = (): string => {
    try {
      return readFileSync(`${files.path}-mark`).toString("hex");
    } catch {
      return "";
    }
  };
  const before = mark();
  const { synced } = await store.commit({ ...nothing, insert: [item(1, 0)], turn });
  expect((await store.load()).turns).toEqual([turn]);
  expect(mark()).toBe(before);
  await synced;
  expect(mark()).not.toBe(before);
  await store.close();
});

test("commit: without a thread nothing is left to sync", async () => {
  using files = setup();
  const options = { path: files.path, newTag, acceptLogLoss: false, ballastBytes: 0 };
  for (const how of [{ durability: "full", sync: "commit" }, { durability: "normal" }] as const) {
    const { store } = await openSqliteStore({ ...options, ...how });
    expect(await store.commit({ ...nothing, turn })).toEqual({ synced: null });
    await store.close();
  }
});

test("sync: a file that cannot be synced is a failure of the store", async () => {
  const file = new FileSync("/proc/self/status");
  await expect(file.sync()).rejects.toMatchObject({ name: "StoreError", fault: "failed" });
  file.close();
});
