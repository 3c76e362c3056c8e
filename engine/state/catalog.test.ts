import { expect, test } from "bun:test";
import { queueDefaults } from "../simulation/bundle.ts";
import { VirtualClock } from "../simulation/virtual-clock.ts";
import { Catalog } from "./catalog.ts";

function setupCatalog() {
  const catalog = new Catalog({
    clock: new VirtualClock(1_000),
    shard: 1,
    shardCount: 3,
  });
  const create = (name: string, requestedPartitions = 1, deadQueue = "") =>
    catalog.add(
      catalog.planCreate({ ...queueDefaults, name, requestedPartitions, deadQueue }, 1_000),
    );
  return { catalog, create };
}

test("planCreate: each partition has a slot of its own, and each queue a number that no other shard gives", () => {
  const { create } = setupCatalog();
  const [first, second] = [create("a", 3), create("b", 2)];
  expect([first.slots, second.slots]).toEqual([
    [0, 1, 2],
    [3, 4],
  ]);
  expect([first.queueId % 3, second.queueId % 3]).toEqual([1, 1]);
});

test("planCreate: a plan takes nothing until it is added", () => {
  const { catalog, create } = setupCatalog();
  catalog.planCreate({ ...queueDefaults, name: "never" }, 1_000);
  expect(catalog.list("", 10)).toEqual([]);
  expect(create("b").slots).toEqual([0]);
});

test("planCreate: a slot is used again once it is free", () => {
  const { catalog, create } = setupCatalog();
  const first = create("a");
  expect(first.slots).toEqual([0]);
  const { slots } = catalog.remove(first);
  expect(create("b").slots).toEqual([1]);
  catalog.free(slots);
  expect(create("c").slots).toEqual([0]);
});

test("planUpdate: surplus partitions drain, missing ones are added, holes are filled", () => {
  const { catalog, create } = setupCatalog();
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
  const { catalog, create } = setupCatalog();
  const elsewhere = { name: "far", shard: 2, owner: 7, deadQueue: "", deadOwner: 0 };
  catalog.meet([elsewhere]);
  const near = create("near", 2);
  const deadOf = (deadQueue: string) => {
    const queue = create(`to-${deadQueue}`, 3, deadQueue);
    return catalog.settingsOf({ queue, partition: 2 })?.dead;
  };
  expect(deadOf("near")).toEqual({ shard: 1, owner: near.owner });
  expect(deadOf("far")).toMatchObject({ shard: 2, owner: 7 });
});

test("find, list: a queue that is hidden is not there, and keeps its name and its slots", () => {
  const { catalog, create } = setupCatalog();
  const queue = create("a");
  queue.isHidden = true;
  expect(() => catalog.find("a")).toThrow("queue does not exist; no such queue named 'a'");
  expect(catalog.list("", 10)).toEqual([]);
  expect(() => create("a")).toThrow("invalid queue; 'a' already exists");
  expect(catalog.ownerAt(0)?.queue).toBe(queue);
  queue.isHidden = false;
  expect(catalog.find("a")).toBe(queue);
});

test("remove: the name is free at once, the slots are not, and nobody owns them", () => {
  const { catalog, create } = setupCatalog();
  const queue = create("a", 2);
  expect(catalog.remove(queue).slots).toEqual([0, 1]);
  expect(catalog.ownerAt(0)).toBeUndefined();
  expect(create("a", 2).slots).toEqual([2, 3]);
});

test("hear: a reference to a dead queue that is gone is cut, even if its name is another queue's now", () => {
  const { catalog, create } = setupCatalog();
  const dead = { name: "far", shard: 2, owner: 7, deadQueue: "", deadOwner: 0 };
  catalog.meet([dead]);
  const queue = create("a", 1, "far");
  catalog.hear({ put: [{ ...dead, owner: 8 }], removed: [dead] });
  expect(queue.definition.deadQueue).toBe("");
  expect([catalog.targetOf("far")?.owner, catalog.pauseOf(7)]).toEqual([8, undefined]);
});

test("planCreate: a queue that one in another shard names gets no dead queue, nor does one that has one become one", () => {
  const { catalog, create } = setupCatalog();
  const { owner: deadOwner } = create("a");
  const other = { name: "other", shard: 0, owner: 8, deadQueue: "", deadOwner: 0 };
  catalog.meet([{ name: "far", shard: 2, owner: 7, deadQueue: "a", deadOwner }, other]);
  const bad = { code: "invalid", reason: "bad_dead_queue" };
  const change = { name: "a", deadQueue: "other" };
  expect(() => catalog.planUpdate(change, 2_000)).toThrow(expect.objectContaining(bad));
  expect(() => create("b", 1, "far")).toThrow(expect.objectContaining(bad));
  expect(catalog.dependentNames("a")).toEqual(["far"]);
});
