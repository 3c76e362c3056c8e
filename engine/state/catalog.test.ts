import { expect, test } from "bun:test";
import { shardOf } from "../model/placement.ts";
import { nameIn, placesOf, queueDefaults } from "../simulation/bundle.ts";
import { VirtualClock } from "../simulation/virtual-clock.ts";
import { Catalog } from "./catalog.ts";

function setupCatalog(shardCount = 2) {
  const catalog = new Catalog({
    clock: new VirtualClock(1_000),
    shardCount,
    isUp: () => true,
  });
  const create = (name: string, requestedPartitions = 1, deadQueue = "") =>
    catalog.add(
      catalog.planCreate({ ...queueDefaults, name, requestedPartitions, deadQueue }, 1_000),
      shardOf(name, shardCount),
    );
  return { catalog, create };
}

test("planCreate: a queue is whole in one shard, each partition in a slot of its own", () => {
  const { create } = setupCatalog();
  const [first, second] = [nameIn(1, 2, "a"), nameIn(1, 2, "b")];
  expect(placesOf(create(first, 3))).toEqual(["1:0", "1:1", "1:2"]);
  expect(placesOf(create(second, 2))).toEqual(["1:3", "1:4"]);
  expect(placesOf(create(nameIn(0, 2)))).toEqual(["0:0"]);
});

test("planCreate: a plan takes nothing until it is added", () => {
  const { catalog, create } = setupCatalog();
  catalog.planCreate({ ...queueDefaults, name: "never" }, 1_000);
  expect(catalog.list("", 10)).toEqual([]);
  expect(placesOf(create(nameIn(0, 2)))).toEqual(["0:0"]);
});

test("planCreate: a slot is used again once it is free", () => {
  const { catalog, create } = setupCatalog(1);
  const first = create("a");
  expect(placesOf(first)).toEqual(["0:0"]);
  const { shard, slots } = catalog.remove(first);
  expect(placesOf(create("b"))).toEqual(["0:1"]);
  catalog.free(shard, slots);
  expect(placesOf(create("c"))).toEqual(["0:0"]);
});

test("planUpdate: surplus partitions drain, missing ones are added, holes are filled", () => {
  const { catalog, create } = setupCatalog(1);
  const queue = create("a", 3);
  const plan = (requestedPartitions: number) => {
    const { entry } = catalog.planUpdate({ name: "a", requestedPartitions }, 2_000);
    for (const place of entry.places) catalog.own(queue, place);
    return entry.places.map(({ partition, state }) => `${partition} ${state}`);
  };
  expect(plan(1)).toEqual(["0 active", "1 draining", "2 draining"]);
  const [, drained] = [...queue.places.values()];
  if (drained !== undefined) catalog.disown(queue, drained);
  expect(plan(3)).toEqual(["0 active", "2 active", "1 active"]);
});

test("settingsOf: names the dead queue, and leaves its partitions to its shard", () => {
  const { catalog, create } = setupCatalog(3);
  const name = nameIn(2, 3, "dead");
  const dead = create(name, 2);
  const queue = create(nameIn(1, 3), 3, name);
  expect(catalog.settingsOf({ queue, partition: 2 })?.dead).toEqual({
    shard: 2,
    owner: dead.owner,
  });
});

test("find, list: a queue that is hidden is not there, and keeps its name and its slots", () => {
  const { catalog, create } = setupCatalog(1);
  const queue = create("a");
  queue.isHidden = true;
  expect(() => catalog.find("a")).toThrow("queue does not exist; no such queue named 'a'");
  expect(catalog.list("", 10)).toEqual([]);
  expect(() => create("a")).toThrow("invalid queue; 'a' already exists");
  expect(catalog.owner(0, 0)?.queue).toBe(queue);
  queue.isHidden = false;
  expect(catalog.find("a")).toBe(queue);
});

test("remove: the name is free at once, the slots are not, and nobody owns them", () => {
  const { catalog, create } = setupCatalog(1);
  const queue = create("a", 2);
  expect(placesOf(catalog.remove(queue))).toEqual(["0:0", "0:1"]);
  expect([catalog.owner(0, 0), ...catalog.owners(0)]).toEqual([undefined]);
  expect(placesOf(create("a", 2))).toEqual(["0:2", "0:3"]);
});
