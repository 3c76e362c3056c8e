// A store opens only as the shard that it was made for, with the same number of shards.

import { expect, test } from "bun:test";
import { MemoryImage, openMemoryStore } from "../../stores/memory/store.ts";
import { nameIn, setup } from "../simulation/bundle.ts";

/** Stores of two shards; only the second ever had a queue. */
async function setupStores(): Promise<MemoryImage[]> {
  const stores = ["aaaa", "bbbb"].map((tag) => new MemoryImage(tag));
  const bundle = await open(stores);
  await bundle.createQueue({ name: nameIn(1, 2) });
  await bundle.produce(nameIn(1, 2), "a");
  await bundle.run(() => bundle.engine.close());
  return stores;
}

/** Opens a shard for each store. */
function open(stores: readonly MemoryImage[]) {
  const openStore = async (shard: number) =>
    openMemoryStore({ tag: "", image: stores[shard] as MemoryImage });
  return setup({ shardCount: stores.length, openStore });
}

test.each([
  {
    name: "fewer shards",
    arrange: ([first]: readonly MemoryImage[]) => [first],
    message:
      "the data are in another number of shards; expected --shards 2, got 1; 'holdfast reshard' changes the number",
  },
  {
    name: "fewer shards, the second store in the place of the first",
    arrange: ([, second]: readonly MemoryImage[]) => [second],
    message:
      "the data are in another number of shards; expected --shards 2, got 1; 'holdfast reshard' changes the number",
  },
  {
    name: "more shards",
    arrange: ([first, second]: readonly MemoryImage[]) => [
      ...[first, second],
      new MemoryImage("cccc"),
    ],
    message:
      "the data are in another number of shards; expected --shards 2, got 3; 'holdfast reshard' changes the number",
  },
  {
    name: "two stores exchanged",
    arrange: ([first, second]: readonly MemoryImage[]) => [second, first],
    message: "the store is that of another shard; expected shard 0, got 1",
  },
  {
    name: "a store in the place of a new one",
    arrange: ([, second]: readonly MemoryImage[]) => [second, new MemoryImage("cccc")],
    message: "the store is that of another shard; expected shard 0, got 1",
  },
])("open: $name is refused, and changes nothing", async ({ arrange, message }) => {
  const stores = await setupStores();
  const refused = open(arrange(stores) as MemoryImage[]);
  await expect(refused).rejects.toMatchObject({ fault: "unusable", message });
  const bundle = await open(stores);
  expect(await bundle.listed(nameIn(1, 2))).toEqual(["a"]);
});

test("open: the store of a single shard is not opened as one of two", async () => {
  const store = new MemoryImage("aaaa");
  const bundle = await open([store]);
  await bundle.run(() => bundle.engine.close());
  await expect(open([store, new MemoryImage("bbbb")])).rejects.toMatchObject({
    fault: "unusable",
    message:
      "the data are in another number of shards; expected --shards 1, got 2; 'holdfast reshard' changes the number",
  });
});

test("open: a store keeps its shard number, however often it is opened", async () => {
  const stores = await setupStores();
  for (let starts = 0; starts < 3; starts += 1) {
    const bundle = await open(stores);
    await bundle.produce(nameIn(1, 2), "b");
    await bundle.run(() => bundle.engine.close());
    await expect(open(stores.toReversed())).rejects.toThrow("the store is that of another shard");
    for (const store of stores) {
      await expect(open([store])).rejects.toThrow("expected --shards 2, got 1");
    }
  }
});
