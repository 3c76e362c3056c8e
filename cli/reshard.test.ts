// Runs `holdfast reshard` on data folders.

import { afterAll, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine, LeasedItem } from "../engine/model/api.ts";
import { createShards } from "../engine/simulation/all-shards.ts";
import { idsOf, minute, produceOf, queueDefaults } from "../engine/simulation/bundle.ts";
import { SmallDisk, whyNoDisk } from "../proof/processes/small-disk.ts";
import { DataFolderError, storesOf } from "../server/storage/data-folder.ts";
import { openForReshard, openStore } from "../stores/open.ts";
import { StoreError } from "../stores/store.ts";
import { exitCodes } from "./exit-codes.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-reshard-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const names = ["one", "two", "three", "four", "five"];

async function opened<T>(
  directory: string,
  shards: number,
  use: (engine: Engine<readonly LeasedItem[]>) => Promise<T>,
  testClock = false,
): Promise<T> {
  const store = { kind: "sqlite", directory, ballastBytes: 0 } as const;
  const engine = await createShards({ store, shards, testClock });
  try {
    return await use(engine);
  } finally {
    await engine.close();
  }
}

/** Each queue has ready, leased and scheduled items. */
async function fill(engine: Engine<readonly LeasedItem[]>): Promise<void> {
  for (const queue of names) {
    await engine.createQueue({ ...queueDefaults, name: queue, requestedPartitions: 2 });
    const texts = Array.from({ length: 300 }, (_, index) => `${queue} ${index}`);
    await engine.produce(produceOf(queue, texts));
    await engine.produce(produceOf(queue, ["later"], Date.now() + 60 * minute));
    const lease = { queue, clientId: "worker", batchSize: 10, requestTimeoutMs: minute };
    const { items, partition } = await engine.lease(lease);
    const ids = idsOf(items).filter((_, index) => index % 2 === 0);
    await engine.complete({ queue, partition, ids, requestTimeoutMs: minute });
  }
}

async function seen(engine: Engine<readonly LeasedItem[]>): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const queue of names) {
    for (const partition of [0, 1]) {
      const page = { queue, partition, pivot: "", limit: 10_000 };
      all.push(await engine.listItems(page), await engine.listScheduled(page));
    }
  }
  return all;
}

const base = { data: join(folder, "base"), seen: [] as unknown[] };
await opened(base.data, 2, async (engine) => {
  await fill(engine);
  base.seen = await seen(engine);
});

function copy(name: string): string {
  const data = join(folder, name);
  cpSync(base.data, data, { recursive: true });
  return data;
}

async function holdfast(...words: readonly string[]) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "main.ts"), ...words], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, error] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, out, error };
}

const reshard = (data: string, shards: number | string, ...words: readonly string[]) =>
  holdfast("reshard", "--data", data, "--shards", String(shards), ...words);

function refused(message: string) {
  const error = `error: ${message}\nUsage: holdfast reshard [options]\n`;
  return { code: exitCodes.usage.code, out: "", error };
}

test("reshard: to more shards and to fewer, with the same items under the same ids", async () => {
  const data = copy("moved");
  expect(await reshard(data, 5)).toEqual({
    code: 0,
    out: `${data}: 1480 items in 5 queues, from 2 shards to 5\nholdfast serve --data ${data}\n`,
    error: "",
  });
  expect(readdirSync(data).sort()).toEqual([0, 1, 2, 3, 4].map((shard) => `shard-${shard}.db`));
  expect(await opened(data, 5, seen)).toEqual(base.seen);
  const moved = await reshard(data, 1, "--json");
  expect(JSON.parse(moved.out)).toEqual({
    ...{ data, shards: 1, shards_before: 5, queues: 5, items: 1480, delivered: 0, damaged: 0 },
  });
  expect(await opened(data, 1, seen)).toEqual(base.seen);
});

test("reshard: data of a test clock stay data of a test clock", async () => {
  const data = join(folder, "clocked");
  await opened(data, 1, fill, true);
  expect((await reshard(data, 2)).code).toBe(0);
  await opened(data, 2, seen, true);
});

test("reshard: data that cannot be resharded is refused", async () => {
  const data = copy("refused");
  const expected = "--data is invalid; expected data of a server";
  expect(await reshard(join(folder, "missing"), 2)).toEqual(
    refused(`${expected}, got '${join(folder, "missing")}'`),
  );
  const backup = join(folder, "backup");
  mkdirSync(backup);
  writeFileSync(join(backup, "backup.json"), "{}");
  expect(await reshard(backup, 2)).toEqual(
    refused(`${expected}, got a backup, which restore copies into a data folder`),
  );
  expect(await reshard(data, 2)).toEqual(
    refused("--shards is invalid; expected a number other than the current one, got 2"),
  );
  expect((await reshard(data, 65)).error).toContain("expected a whole number from 1 to 64");
  rmSync(join(data, "shard-1.db"));
  expect((await reshard(data, 3)).error).toContain("expected --shards 2, got 1");
  expect(existsSync(join(data, "resharding"))).toBe(false);
});

test("reshard: several databases are refused, however they are given", async () => {
  const [one, two] = ["postgres://a:secret@one/name", "postgres://b:secret@two/name"];
  for (const urls of [
    ["--database-url", one, "--database-url", two],
    ["--database-url", `${one} ${two}`],
  ]) {
    const { code, error } = await holdfast("reshard", ...urls, "--shards", "2");
    expect(code).toBe(exitCodes.usage.code);
    expect(error).toContain("expected one database, as a cluster with several cannot be resharded");
    expect(error).not.toContain("secret");
  }
});

test("reshard: a store that is missing, or new in its place, is refused each time", async () => {
  const data = copy("lost");
  expect((await reshard(data, 3)).code).toBe(0);
  rmSync(join(data, "shard-1.db"));
  const left = ["shard-0.db", "shard-2.db"];
  for (const _ of [1, 2]) {
    expect(await reshard(data, 4)).toEqual(
      refused(`a store is missing; expected shard-1.db; '${data}'`),
    );
    expect(readdirSync(data).sort()).toEqual(left);
  }
  const { store } = await openStore({ kind: "sqlite", directory: data, ballastBytes: 0 }, 1, () =>
    "0".repeat(12),
  );
  await store.close();
  const lost = "the store of shard 1 is new and the others are not";
  expect((await reshard(data, 4)).error).toContain(lost);
  expect(existsSync(join(data, "shard-2.db"))).toBe(true);
});

// Only root can run the command as another user.
const asRoot = test.skipIf(process.geteuid?.() !== 0);
const nobody = 65_534;

async function asNobody<T>(run: () => Promise<T>): Promise<T> {
  process.seteuid?.(nobody);
  try {
    return await run();
  } finally {
    process.seteuid?.(0);
  }
}

/** Checks that the folder and all of its files belong to the user. */
function give(directory: string, user: number): void {
  chmodSync(folder, 0o711);
  for (const name of [".", ...readdirSync(directory)]) chownSync(join(directory, name), user, user);
}

const openFor = (directory: string, shards: number) =>
  openForReshard({ kind: "sqlite", directory }, shards, () => "0".repeat(12));

test("reshard: a file instead of a folder is called that", async () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  expect(await reshard(file, 2)).toEqual(refused(`the data folder is a file; '${file}'`));
});

asRoot("reshard: a folder that cannot be read, or not be written, is called that", async () => {
  const data = copy("unreadable");
  give(data, nobody);
  chmodSync(data, 0o500);
  const readOnly = new StoreError("unusable", "the data folder is read-only for this user");
  await asNobody(async () => {
    await expect(openFor(data, 3)).rejects.toThrow(readOnly);
  });
  chmodSync(data, 0o300);
  const unreadable = new DataFolderError("the data folder cannot be read by this user");
  await asNobody(async () => expect(() => storesOf(data)).toThrow(unreadable));
});

asRoot("reshard: what root makes belongs to the owner of the stores", async () => {
  const data = copy("given");
  give(data, nobody);
  const owners = (directory: string) =>
    readdirSync(directory, { recursive: true })
      .map((name) => [String(name), statSync(join(directory, String(name)))] as const)
      .map(([name, { uid, gid }]) => `${name} ${uid} ${gid}`)
      .filter((text) => !text.endsWith(` ${nobody} ${nobody}`));
  const held = await openFor(data, 3);
  expect(existsSync(join(data, "resharding")) && existsSync(join(data, "reshard.lock"))).toBe(true);
  expect(owners(data).filter((text) => !text.startsWith("resharding/"))).toEqual([]);
  await held.close();
  expect((await reshard(data, 3)).code).toBe(0);
  expect(owners(data)).toEqual([]);
  expect(await asNobody(() => opened(data, 3, seen))).toEqual(base.seen);
});

asRoot("reshard: stores of another user are refused before anything is made", async () => {
  const data = copy("foreign");
  give(data, nobody);
  chmodSync(data, 0o777);
  for (const shard of [0, 1]) {
    chmodSync(join(data, `shard-${shard}.db`), 0o666);
    chownSync(join(data, `shard-${shard}.db`), 0, 0);
  }
  const before = readdirSync(data);
  const refusal = `the stores belong to another user; expected user 0 or root, got user ${nobody}`;
  await asNobody(async () => {
    await expect(openFor(data, 3)).rejects.toThrow(new StoreError("unusable", refusal));
  });
  expect(readdirSync(data)).toEqual(before);
});

test("reshard: refused while a server has the data, and keeps servers away", async () => {
  const data = copy("locked");
  const newTag = () => "0".repeat(12);
  await opened(data, 2, async () => {
    const used = "the data folder is in use by another server";
    expect(await reshard(data, 3)).toEqual(refused(`${used}; '${data}'`));
  });
  const held = await openForReshard({ kind: "sqlite", directory: data }, 3, newTag);
  expect(await reshard(data, 4)).toEqual(refused(`the data folder is being resharded; '${data}'`));
  const server = await holdfast("serve", "--port", "0", "--data", data);
  expect(server.code).toBe(exitCodes.taken.code);
  await held.close();
  expect(await opened(data, 2, seen)).toEqual(base.seen);
});

test("reshard: no ballast is made, and one that exists stays", async () => {
  const data = copy("ballast");
  writeFileSync(join(data, "shard-0.db-ballast"), "as it was");
  const held = await openFor(data, 3);
  held.requireRoom(0);
  const refusal = "there is not enough space left for new stores; expected ";
  expect(() => held.requireRoom(2 ** 50)).toThrow(refusal);
  await held.close();
  expect(readdirSync(data).sort()).toEqual(["shard-0.db", "shard-0.db-ballast", "shard-1.db"]);
});

test.skipIf(whyNoDisk("tmpfs") !== null)(
  "reshard: refused if the disk has no room for the ballast of each new shard",
  async () => {
    using disk = new SmallDisk("tmpfs", 24);
    const data = join(disk.path, "data");
    cpSync(base.data, data, { recursive: true });
    const before = readdirSync(data);
    const refusal = "there is not enough space left for new stores; expected ";
    expect((await reshard(data, 3)).error).toContain(refusal);
    expect(readdirSync(data)).toEqual(before);
    expect((await reshard(data, 1)).code).toBe(0);
  },
);

test("reshard: a start removes the rest of a killed one, unless one runs", async () => {
  const data = copy("killed");
  const running = await openFor(data, 3);
  const start = () => openStore({ kind: "sqlite", directory: data, ballastBytes: 0 }, 0, () => "");
  await expect(start()).rejects.toThrow("the data folder is being resharded");
  expect(existsSync(join(data, "resharding", "shard-2.db"))).toBe(true);
  await running.close();
  // An unfinished journal is empty.
  mkdirSync(join(data, "resharding"));
  for (const name of ["resharding/shard-0.db", "reshard.lock", "reshard.lock-journal"]) {
    writeFileSync(join(data, name), "");
  }
  await (await start()).store.close();
  expect(readdirSync(data).filter((name) => name.startsWith("reshard"))).toEqual([]);
  expect(await opened(data, 2, seen)).toEqual(base.seen);
});

test("reshard: a start puts the new stores in place if nothing else is left to do", async () => {
  const data = copy("unfinished");
  const moved = copy("finished");
  expect((await reshard(moved, 3)).code).toBe(0);
  // The state after a kill that follows the first of the new stores.
  mkdirSync(join(data, "resharded-3"));
  cpSync(join(moved, "shard-0.db"), join(data, "shard-0.db"));
  for (const shard of [1, 2]) {
    cpSync(join(moved, `shard-${shard}.db`), join(data, "resharded-3", `shard-${shard}.db`));
  }
  writeFileSync(join(data, "shard-1.db-wal"), "the log of an old store");
  const { store } = await openStore({ kind: "sqlite", directory: data }, 2, () => "");
  await store.close();
  expect(
    readdirSync(data)
      .filter((name) => !name.endsWith("-ballast"))
      .sort(),
  ).toEqual([0, 1, 2].map((shard) => `shard-${shard}.db`));
  expect(await opened(data, 3, seen)).toEqual(base.seen);
});
