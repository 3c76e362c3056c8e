// The waits of a backup of a running engine, and their bounds.

import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../stores/open.ts";
import { immediateSyncer } from "../stores/sqlite/testing/immediate-syncer.ts";
import { limits } from "./model/limits.ts";
import {
  Bundle,
  nameIn,
  produceOf,
  queueDefaults,
  second,
  writtenFirst,
} from "./simulation/bundle.ts";
import { openWorldStores } from "./simulation/disk.ts";

const [orders, dead, later] = [nameIn(0, 2, "orders"), nameIn(1, 2, "dead"), nameIn(0, 2, "later")];

/** Items of `orders` are in the first shard, and their dead letters go to the second. */
async function setupBackups() {
  const stores = openWorldStores(1);
  const folder = mkdtempSync(join(tmpdir(), "holdfast-backup-"));
  const bundle = new Bundle({ shardCount: 2, openStore: stores.open });
  await bundle.open();
  await bundle.createQueue({ name: dead });
  await bundle.createQueue({ name: orders, deadQueue: dead });
  await bundle.produce(orders, "a");
  return {
    bundle,
    folder,
    begin: () => bundle.begin(() => bundle.engine.backup(folder)),
    beginCreate: () =>
      bundle.begin(() => bundle.engine.createQueue({ ...queueDefaults, name: later })),
    /** Files are copied on other threads, in time that the virtual clock does not measure. */
    copied: async (call: { readonly ending: unknown }) => {
      while (call.ending === null) {
        await Bun.sleep(1);
        await bundle.clock.settle();
      }
    },
    /** The second shard fails at a produce, which waits until the shard is up again. */
    breakSecond: async () => {
      bundle.store(1).openFault = "failed";
      bundle.store(1).fail({ fault: "failed" });
      return bundle.begin(() => bundle.engine.produce(produceOf(dead, ["b"])));
    },
    async [Symbol.asyncDispose]() {
      await bundle.engine.close();
      await stores.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

test("backup: a backup that waits for dead letters is refused in time, and the waiting calls continue", async () => {
  await using setup = await setupBackups();
  const { bundle, folder } = setup;
  bundle.store(1).hold();
  await bundle.begin(() => bundle.engine.produce(produceOf(dead, ["b"])));
  await bundle.retry(await bundle.lease(orders), { dead: true });
  const backup = await setup.begin();
  const created = await setup.beginCreate();
  await bundle.clock.advance(limits.holdMsMax - second);
  expect([backup.ending, created.ending]).toEqual([null, null]);
  await bundle.clock.advance(second);
  expect(backup.ending).toEqual({
    ok: false,
    code: "store",
    message:
      "items on their way to another shard do not arrive; it is down or busy, try again later",
    details: undefined,
  });
  expect(created.ending).toEqual({ ok: true, value: undefined });
  expect(readdirSync(folder)).toEqual([]);

  bundle.store(1).release();
  await bundle.clock.advance(second);
  expect((await bundle.listed(dead)).sort()).toEqual(["a", "b"]);
  const again = await setup.begin();
  await setup.copied(again);
  expect(again.ending).toMatchObject({ ok: true, value: [{ shard: 0 }, { shard: 1 }] });
  expect(readdirSync(folder).sort()).toEqual(["shard-0.db", "shard-1.db"]);
});

const refusal = {
  ok: false,
  code: "store",
  message: "no backup was made; a shard is down, try again later",
  details: undefined,
} as const;

test("backup: a backup that waits for a shard that is down is refused in time", async () => {
  await using setup = await setupBackups();
  const { bundle } = setup;
  await setup.breakSecond();
  const backup = await setup.begin();
  const created = await setup.beginCreate();
  await bundle.clock.advance(limits.holdMsMax - second);
  expect([backup.ending, created.ending]).toEqual([null, null]);
  await bundle.clock.advance(second);
  for (const one of [backup, created]) await setup.copied(one);
  expect([backup.ending, created.ending]).toEqual([refusal, { ok: true, value: undefined }]);
});

test("backup: a backup whose shard goes down meanwhile is refused at once", async () => {
  await using setup = await setupBackups();
  const { bundle } = setup;
  bundle.store(1).hold();
  bundle.store(1).openFault = "failed";
  bundle.store(1).fail({ fault: "failed" });
  const produced = await bundle.begin(() => bundle.engine.produce(produceOf(dead, ["b"])));
  const backup = await setup.begin();
  expect(backup.ending).toBe(null);
  bundle.store(1).release();
  await bundle.clock.settle();
  expect(backup.ending).toEqual(refusal);
  bundle.store(1).heal();
  await bundle.clock.advance(limits.restartMsMax);
  expect(produced.ending).toEqual(writtenFirst);
  expect(await bundle.listed(dead)).toEqual(["b"]);
});

test("backup: a backup during a delete contains nothing of the queue once it is opened", async () => {
  await using setup = await setupBackups();
  const { bundle, folder } = setup;
  await bundle.produce(dead, "b");
  bundle.store(1).hold();
  const deleted = await bundle.begin(() => bundle.engine.deleteQueue({ name: dead, force: true }));
  const backup = await setup.begin();
  bundle.store(1).release();
  for (const call of [backup, deleted]) await setup.copied(call);
  expect([backup.ending, deleted.ending]).toMatchObject([{ ok: true }, { ok: true }]);

  const config = {
    kind: "sqlite",
    directory: folder,
    ballastBytes: 0,
    syncer: immediateSyncer,
  } as const;
  const copy = new Bundle({
    shardCount: 2,
    openStore: (shard) => openStore(config, shard, () => "unused"),
  });
  await copy.open();
  const names = copy.engine.listQueues({ pivot: "", limit: 10 }).map(({ name }) => name);
  expect(names).toEqual([orders]);
  await copy.createQueue({ name: dead });
  expect(await copy.listed(dead)).toEqual([]);
  await copy.engine.close();
});
