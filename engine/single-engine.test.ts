// Single engines, without `openShards`: what each guarantees on its own.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../stores/open.ts";
import { ShardEngine } from "./engine.ts";
import type { Clock } from "./model/clock.ts";
import { systemClock } from "./model/clock.ts";
import { newTag } from "./model/ids.ts";
import { systemRandom } from "./model/random.ts";
import type { OtherShard } from "./relay/other-shard.ts";
import { hour, nameIn, produceOf, queueDefaults, start } from "./simulation/bundle.ts";
import { VirtualClock } from "./simulation/virtual-clock.ts";

const unused = async (): Promise<never> => {
  throw new Error("nothing of the server as a whole is asked");
};
/** A shard to which nothing is sent, and which sends nothing. */
const other = {
  hear: async () => undefined,
  isSending: async () => false,
  retire: async () => false,
} as Partial<OtherShard> as OtherShard;

function engineOf(
  { shard, clock }: { readonly shard: number; readonly clock: Clock },
  folder: string | null = null,
) {
  const store =
    folder === null
      ? ({ kind: "memory" } as const)
      : ({ kind: "sqlite", directory: folder, ballastBytes: 0 } as const);
  return new ShardEngine({
    ...{ shard, shardCount: 2, clock, durability: "none", renderLeased: (items) => items },
    openStore: (number) => openStore(store, number, () => newTag(systemRandom)),
    reach: () => other,
    whole: { backup: unused, advance: unused, close: unused },
    lost: () => undefined,
  });
}

test("meet: no shard is behind another, whatever its own clock says", async () => {
  const [early, late] = [new VirtualClock(start), new VirtualClock(start + hour)];
  const engines = [engineOf({ shard: 0, clock: early }), engineOf({ shard: 1, clock: late })];
  const loading = Promise.all(engines.map((engine) => engine.load()));
  await Promise.all([early.settle(), late.settle()]);
  const standings = await loading;
  const meeting = Promise.all(engines.map((engine) => engine.meet(standings)));
  await Promise.all([early.settle(), late.settle()]);
  await meeting;
  expect([early.now(), late.now()]).toEqual([start + hour, start + hour]);
});

/** The shard as the first of two, in a folder of its own. */
async function inFolder(work: (engine: ReturnType<typeof engineOf>) => Promise<void>) {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-engine-"));
  try {
    const engine = engineOf({ shard: 0, clock: systemClock() }, folder);
    await met(engine);
    engine.start();
    await work(engine);
    await engine.end();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function met(engine: ReturnType<typeof engineOf>): Promise<void> {
  const standing = await engine.load();
  await engine.meet([standing, { ...standing, queues: [] }]);
}

test("unclaim: it comes after its claim, also where both wait for the shard to start", async () => {
  await inFolder(async (engine) => {
    const name = nameIn(0, 2, "dead");
    await engine.createQueue({ ...queueDefaults, name });
    await engine.drop();
    await met(engine);
    const claim = engine.other.claim(name, "gone");
    const unclaim = engine.other.unclaim(name, "gone");
    engine.start();
    await Promise.all([claim, unclaim]);
    expect(await engine.deleteQueue({ name, force: false })).toMatchObject({ dependents: [] });
  });
});

test("drop: the store is closed by then, so that it can be opened again at once", async () => {
  await inFolder(async (engine) => {
    const name = nameIn(0, 2);
    await engine.createQueue({ ...queueDefaults, name });
    for (let round = 0; round < 5; round += 1) {
      const produced = engine.produce(produceOf(name, ["a"])).catch(() => undefined);
      await new Promise<void>((resolve) => setImmediate(resolve));
      await engine.drop();
      await produced;
      await met(engine);
      engine.start();
    }
    expect(engine.status().shards).toMatchObject([{ shard: 0, up: true }]);
  });
});
