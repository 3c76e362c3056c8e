// Items of queues that the catalog has lost, set aside piece by piece.

import { expect, test } from "bun:test";
import { limits, type TurnLimits } from "./limits.ts";
import { type Bundle, minute, nameIn, setup } from "./simulation/bundle.ts";

const texts = Array.from({ length: 10 }, (_, index) => `secret ${index}`);

/** The catalog has lost a queue of which the second shard has the items. */
async function forgotten(turnLimits: TurnLimits = limits): Promise<Bundle> {
  const bundle = await setup({ shardCount: 2, turnLimits });
  const goBack = bundle.snapshot(0);
  const name = nameIn(1, 2, "forgotten");
  await bundle.createQueue({ name, requestedPartitions: 2 });
  for (const text of texts) await bundle.produce(name, text);
  bundle.kill();
  goBack();
  return bundle;
}

const asideIn = (bundle: Bundle, shard: number): number => bundle.image(shard).quarantined.length;

/** How many items of the second shard no queue of the catalog has. */
const stored = (bundle: Bundle): number => bundle.storedItems(1).length;

const told = ({ notices }: Bundle): unknown[] =>
  notices.filter(({ kind }) => kind === "items_set_aside");

test.each([1, 2])("set aside: also where the turn after commit %i finds no room", async (last) => {
  const bundle = await forgotten();
  const count = stored(bundle);
  expect(count).toBeGreaterThan(0);
  let commits = 0;
  bundle.store(1).onCommit = () => {
    commits += 1;
    if (commits === last) bundle.store(1).fail({ fault: "full" });
  };
  await bundle.open();
  expect(stored(bundle)).toBe(0);
  expect(asideIn(bundle, 1)).toBe(count);
  expect(told(bundle)).toEqual([{ kind: "items_set_aside", shard: 1, count }]);
  await bundle.engine.close();
});

test.each([
  [0, false],
  [0, true],
  [1, false],
  [1, true],
])(
  "set aside: not what comes to the slot from the start on; from shard %d, due while nothing ran: %p",
  async (source, isDue) => {
    const bundle = await setup({ shardCount: 2 });
    const orders = nameIn(source, 2);
    const [former, dead] = [nameIn(1, 2, "former"), nameIn(1, 2, "dead")];
    await bundle.createQueue({ name: orders, requestedPartitions: 2, maxAttempts: 1 });
    await bundle.createQueue({ name: former, requestedPartitions: 2 });
    const texts = [0, 1, 2, 3].map((index) => `item ${index}`);
    for (const name of [former, orders]) {
      for (const text of texts) await bundle.produce(name, text);
    }
    for (let partition = 0; partition < 2; partition += 1) {
      await bundle.lease(orders, { batchSize: 2 });
    }
    const goBack = bundle.snapshot(1);
    await bundle.run(() => bundle.engine.deleteQueue({ name: former, force: true }));
    await bundle.createQueue({ name: dead, requestedPartitions: 2 });
    await bundle.run(() => bundle.engine.updateQueue({ name: orders, deadQueue: dead }));
    bundle.kill();
    goBack();
    await bundle.open({ now: bundle.now + (isDue ? 2 * minute : 0) });
    await bundle.clock.advance(2 * minute);
    expect(await bundle.allListed(dead)).toEqual(texts);
    expect(asideIn(bundle, 1)).toBe(4);
    expect(told(bundle)).toEqual([{ kind: "items_set_aside", shard: 1, count: 4 }]);
    await bundle.engine.close();
  },
);

test.each([0, 1])(
  "start: a disk that stays full from commit %i on does not keep the engine from opening",
  async (last) => {
    const bundle = await forgotten();
    const count = stored(bundle);
    const fill = () => bundle.store(1).fail({ fault: "full", sticky: true });
    let commits = 0;
    bundle.store(1).onCommit = () => {
      commits += 1;
      if (commits === last) fill();
    };
    if (last === 0) fill();
    await bundle.open();
    expect(told(bundle)).toEqual([]);
    // No queue gets a slot in which there are strays.
    const next = nameIn(1, 2, "next");
    await bundle.createQueue({ name: next, requestedPartitions: 2 });
    const places = [...bundle.image(0).catalog.values()].flatMap((entry) => entry.places);
    expect(places.map(({ shard }) => shard)).toEqual([1, 1]);
    const taken = new Set(bundle.storedItems(1).map(({ slot }) => slot));
    expect(places.filter(({ slot }) => taken.has(slot))).toEqual([]);
    bundle.store(1).heal();
    await bundle.clock.advance(minute);
    await bundle.produce(next, "next 0");
    expect(asideIn(bundle, 1)).toBe(count);
    expect(told(bundle)).toEqual([{ kind: "items_set_aside", shard: 1, count }]);
    expect(await bundle.allListed(next)).toEqual(["next 0"]);
    await bundle.engine.close();
  },
);

test("set aside: no commit has more bytes than a turn may have", async () => {
  const bundle = await forgotten({ ...limits, turnBytesMax: 8 });
  const pieces: number[] = [];
  bundle.store(1).onCommit = ({ quarantine }) => {
    const seqs = quarantine.flatMap((one) => one.seqs);
    if (seqs.length > 0) pieces.push(seqs.length);
  };
  const count = stored(bundle);
  await bundle.open();
  await bundle.clock.advance(minute);
  expect(pieces).toEqual(Array.from({ length: count }, () => 1));
  await bundle.engine.close();
});

test("set aside: a shard that opens again goes on with it", async () => {
  const bundle = await forgotten();
  const count = stored(bundle);
  bundle.store(1).fail({ fault: "full", sticky: true });
  await bundle.open();
  bundle.store(1).heal();
  bundle.store(1).fail({ fault: "failed" });
  await bundle.clock.advance(minute);
  expect(bundle.downs).toBe(1);
  expect(asideIn(bundle, 1)).toBe(count);
  expect(told(bundle)).toEqual([{ kind: "items_set_aside", shard: 1, count }]);
  await bundle.engine.close();
});
