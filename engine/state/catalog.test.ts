import { expect, test } from "bun:test";
import type { QueueReference, Standing } from "../relay/other-shard.ts";
import { nameIn, queueDefaults } from "../simulation/bundle.ts";
import { VirtualClock } from "../simulation/virtual-clock.ts";
import { Catalog } from "./catalog.ts";

/** The report of another shard with these queues. */
function standing(shard: number, ...queues: readonly QueueReference[]): Standing {
  const passed = { sent: 0, taken: [], arrived: [] };
  const asked = { order: 0, claims: [], retiring: [] };
  return { shard, run: "", version: 0, now: 0, passed, queues, ...asked };
}

/** Names of queues in this shard and in the next one. */
const near = nameIn(1, 3, "near");
const far = nameIn(2, 3, "far");

function setupCatalog() {
  const catalog = new Catalog({
    clock: new VirtualClock(1_000),
    shard: 1,
    shardCount: 3,
  });
  catalog.meet(standing(0));
  const create = (name: string, requestedPartitions = 1, deadQueue = "") =>
    catalog.add(
      catalog.planCreate({ ...queueDefaults, name, requestedPartitions, deadQueue }, 1_000),
    );
  return { catalog, create };
}

test("planCreate: each partition has its own slot, and each queue a number unique to its shard", () => {
  const { create } = setupCatalog();
  const [first, second] = [create("a", 3), create("b", 2)];
  expect([first.slots, second.slots]).toEqual([
    [0, 1, 2],
    [3, 4],
  ]);
  expect([first.queueId % 3, second.queueId % 3]).toEqual([1, 1]);
});

test("planCreate: a plan reserves nothing until it is added", () => {
  const { catalog, create } = setupCatalog();
  catalog.planCreate({ ...queueDefaults, name: "never" }, 1_000);
  expect(catalog.list("", 10)).toEqual([]);
  expect(create("b").slots).toEqual([0]);
});

test("planCreate: a free slot is reused", () => {
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

test("settingsOf: names the dead queue, whose shard chooses the partition", () => {
  const { catalog, create } = setupCatalog();
  catalog.meet(standing(2, { name: far, shard: 2, owner: 7, deadQueue: "", deadOwner: 0 }));
  const { owner } = create(near, 2);
  const deadOf = (deadQueue: string) => {
    const queue = create(`to-${deadQueue}`, 3, deadQueue);
    return catalog.settingsOf({ queue, partition: 2 })?.dead;
  };
  expect(deadOf(near)).toEqual({ shard: 1, owner });
  expect(deadOf(far)).toEqual({ shard: 2, owner: 7 });
});

test("meet: an unknown shard cuts no dead queue, and delays decisions that depend on it", () => {
  const { catalog, create } = setupCatalog();
  catalog.meet(standing(2, { name: far, shard: 2, owner: 7, deadQueue: "", deadOwner: 0 }));
  const queue = create(near, 1, far);
  const opened = new Catalog({ clock: new VirtualClock(1_000), shard: 1, shardCount: 3 });
  opened.adopt([queue.entry()]);
  const found = opened.find(near);
  opened.meet(standing(0));
  expect(opened.settingsOf({ queue: found, partition: 0 })?.dead).toEqual({ shard: 2, owner: 7 });
  const { entry } = opened.planUpdate({ name: near, requestedPartitions: 2 }, 2_000);
  expect(entry.deadOwner).toBe(7);
  const unknown = expect.objectContaining({ code: "closing", reason: "not_ready" });
  const create2 = () =>
    opened.planCreate({ ...queueDefaults, name: "second", deadQueue: near }, 2_000);
  expect(create2).toThrow(unknown);
  opened.meet(standing(2));
  expect(found.definition.deadQueue).toBe("");
  expect(create2().deadOwner).toBe(found.owner);
});

test("meet: queues that a shard no longer has are removed, and its claims are released", () => {
  const { catalog, create } = setupCatalog();
  const queue = create(near);
  const one = { name: far, shard: 2, owner: 7, deadQueue: "", deadOwner: 0 };
  catalog.meet(standing(2, one));
  queue.namedBy.add(far);
  queue.namedBy.add(nameIn(0, 3));
  catalog.meet({ ...standing(2), run: "again" });
  expect(catalog.targetOf(far)).toBeNull();
  expect([...queue.namedBy]).toEqual([nameIn(0, 3)]);
});

test("find, list: a hidden queue is not returned, and keeps its name and its slots", () => {
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

test("remove: the name is free at once, the slots are not, and no queue owns them", () => {
  const { catalog, create } = setupCatalog();
  const queue = create("a", 2);
  expect(catalog.remove(queue).slots).toEqual([0, 1]);
  expect(catalog.ownerAt(0)).toBeUndefined();
  expect(create("a", 2).slots).toEqual([2, 3]);
});

test("meet: a queue that its shard is about to delete takes no items, until the shard reports it again", () => {
  const { catalog } = setupCatalog();
  const one = { name: far, shard: 2, owner: 7, deadQueue: "", deadOwner: 0 };
  catalog.meet({ ...standing(2, one), retiring: [7] });
  expect(catalog.isOpen(7)).toBe(false);
  // An older report is ignored.
  catalog.meet({ ...standing(2, one), order: -1 });
  expect(catalog.directory.admit({ shard: 2, run: "", order: 0 })).toBe(false);
  catalog.meet({ ...standing(2, one), order: 1 });
  expect(catalog.isOpen(7)).toBe(true);
  expect(catalog.directory.admit({ shard: 2, run: "", order: 2 })).toBe(true);
  expect(catalog.directory.admit({ shard: 2, run: "former", order: 3 })).toBe(false);
});

test("receiveChange: a reference to a deleted dead queue is cut, even if another queue has its name", () => {
  const { catalog, create } = setupCatalog();
  const dead = { name: far, shard: 2, owner: 7, deadQueue: "", deadOwner: 0 };
  catalog.meet(standing(2, dead));
  const queue = create("a", 1, far);
  const change = { shard: 2, run: "", put: [{ ...dead, owner: 8 }], removed: [dead] };
  expect(catalog.receiveChange({ ...change, version: 1 })).toBe(true);
  expect(queue.definition.deadQueue).toBe("");
  expect([catalog.targetOf(far)?.owner, catalog.pauseOf(7)]).toEqual([8, undefined]);
});

test("receiveChange: a repeated change has no effect, and a missing change or another opening is detected", () => {
  const { catalog } = setupCatalog();
  const one = { name: far, shard: 2, owner: 7, deadQueue: "", deadOwner: 0 };
  catalog.meet(standing(2));
  const change = { shard: 2, run: "", version: 1, put: [one], removed: [] };
  expect(catalog.receiveChange(change)).toBe(true);
  expect(catalog.receiveChange({ ...change, version: 2, put: [], removed: [one] })).toBe(true);
  expect(catalog.receiveChange(change)).toBe(true);
  expect(catalog.targetOf(far)).toBeNull();
  expect(catalog.receiveChange({ ...change, version: 4 })).toBe(false);
  expect(catalog.receiveChange({ ...change, version: 3, run: "again" })).toBe(false);
  catalog.meet({ ...standing(2, one), version: 1 });
  expect(catalog.targetOf(far)).toBeNull();
});

test("planCreate: a queue named by one in another shard gets no dead queue, and none with a dead queue becomes one", () => {
  const { catalog, create } = setupCatalog();
  const { owner: deadOwner } = create(near);
  const other = { name: nameIn(0, 3), shard: 0, owner: 8, deadQueue: "", deadOwner: 0 };
  catalog.meet({ ...standing(0, other), version: 1 });
  catalog.meet(standing(2, { name: far, shard: 2, owner: 7, deadQueue: near, deadOwner }));
  const bad = { code: "invalid", reason: "bad_dead_queue" };
  const change = { name: near, deadQueue: other.name };
  expect(() => catalog.planUpdate(change, 2_000)).toThrow(expect.objectContaining(bad));
  expect(() => create("b", 1, far)).toThrow(expect.objectContaining(bad));
  expect(catalog.dependentNames(near)).toEqual([far]);
});
