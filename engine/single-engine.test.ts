// Single engines, without `openShards`: what each guarantees on its own.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../stores/open.ts";
import { StoreError } from "../stores/store.ts";
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
/** A shard that sends and receives nothing. */
const other = {
  introduce: async ({ now }) => {
    const passed = { sent: 0, taken: [], arrived: [] };
    const asked = { order: 0, claims: [], retiring: [] };
    return { shard: 1, run: "other", version: 0, now, passed, queues: [], ...asked };
  },
  lastVersion: async () => ({ run: "other", version: 0 }),
  receiveChange: async () => undefined,
  isSending: async () => false,
  retire: async () => false,
} as Partial<OtherShard> as OtherShard;

interface Placed {
  readonly shard: number;
  readonly clock: Clock;
  readonly reach?: (shard: number) => OtherShard;
}

function engineOf({ shard, clock, reach = () => other }: Placed, folder: string | null = null) {
  const store =
    folder === null
      ? ({ kind: "memory" } as const)
      : ({ kind: "sqlite", directory: folder, ballastBytes: 0 } as const);
  let isLost = false;
  const engine = new ShardEngine({
    ...{ shard, shardCount: 2, clock, durability: "none", renderLeased: (items) => items },
    openStore: async (number) => {
      const backend = await openStore(store, number, () => newTag(systemRandom));
      const losing = Object.create(backend.store, {
        load: { value: backend.store.load.bind(backend.store) },
        read: { value: backend.store.read.bind(backend.store) },
        close: { value: backend.store.close.bind(backend.store) },
        commit: {
          value: (changes: Parameters<typeof backend.store.commit>[0]) => {
            if (!isLost) return backend.store.commit(changes);
            isLost = false;
            return Promise.reject(new StoreError("lost", "injected failure"));
          },
        },
      });
      return { ...backend, store: losing };
    },
    reach,
    whole: { backup: unused, advance: unused, close: unused },
  });
  /** The store lost commits: the next commit reports it. */
  const lose = (): void => {
    isLost = true;
  };
  return { engine, lose };
}

test("meet: no shard's time is behind another's, whatever its own clock says", async () => {
  const [early, late] = [new VirtualClock(start), new VirtualClock(start + hour)];
  const reach = (shard: number): OtherShard => engines[shard]?.other as OtherShard;
  const engines = [early, late].map((clock, shard) => engineOf({ shard, clock, reach }).engine);
  const settled = async (all: readonly Promise<void>[]): Promise<void> => {
    for (let rounds = 0; rounds < 3; rounds += 1)
      await Promise.all([early.settle(), late.settle()]);
    await Promise.all(all);
  };
  await settled(engines.map((engine) => engine.load()));
  await settled(engines.map((engine) => engine.meet()));
  expect([early.now(), late.now()]).toEqual([start + hour, start + hour]);
});

async function inFolder(work: (folder: string) => Promise<void>) {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-engine-"));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The first of two shards, in a folder of its own. */
async function met(folder: string) {
  const { engine, lose } = engineOf({ shard: 0, clock: systemClock() }, folder);
  await engine.load();
  await engine.meet();
  return { engine, lose };
}

test("unclaim: takes effect after its claim, even if both wait for the shard to start", async () => {
  await inFolder(async (folder) => {
    const name = nameIn(0, 2, "dead");
    const before = await met(folder);
    before.engine.start();
    await before.engine.createQueue({ ...queueDefaults, name });
    await before.engine.end();
    const { engine } = await met(folder);
    const asked = { deadQueue: name, by: "gone" };
    const requester = (order: number) => ({ shard: 1, run: "other", order });
    const claim = engine.other.claim(asked, requester(1));
    const unclaim = engine.other.unclaim(asked, requester(2));
    engine.start();
    await Promise.all([claim, unclaim]);
    expect(await engine.deleteQueue({ name, force: false })).toMatchObject({ dependents: [] });
    await engine.end();
  });
});

test("loss: the store is closed before it is reopened, and the shard continues", async () => {
  await inFolder(async (folder) => {
    const name = nameIn(0, 2);
    const { engine, lose } = await met(folder);
    engine.start();
    await engine.createQueue({ ...queueDefaults, name });
    for (let round = 0; round < 5; round += 1) {
      lose();
      expect(await engine.produce(produceOf(name, ["a"])).catch(({ code }) => code)).toBe(
        "unknown",
      );
      const isUp = async (): Promise<boolean> =>
        engine.stats(name).then(
          () => true,
          () => false,
        );
      while (!(await isUp())) await Bun.sleep(1);
    }
    expect(engine.status().shards).toMatchObject([{ shard: 0, up: true }]);
    await engine.end();
  });
});
