// A change of a queue is part of a turn: it is committed with the items of the turn, or not at all.

import { expect, test } from "bun:test";
import type { QueueDefinition } from "../../stores/queue.ts";
import { type Bundle, produceOf, queueDefaults, second, setup } from "../simulation/bundle.ts";

async function setupQueues(): Promise<Bundle> {
  const bundle = await setup();
  for (const name of ["orders", "mails"]) await bundle.createQueue({ name });
  await bundle.produce("mails", "m");
  return bundle;
}

/** The stored definitions, by name. */
function storedQueues(bundle: Bundle): Record<string, QueueDefinition> {
  const entries = [...bundle.image().queues.values()];
  return Object.fromEntries(entries.map(({ definition }) => [definition.name, definition]));
}

type Change = (bundle: Bundle) => Promise<unknown>;

const create: Change = ({ engine }) => engine.createQueue({ ...queueDefaults, name: "new" });
const update: Change = ({ engine }) => engine.updateQueue({ name: "mails", maxAttempts: 3 });
const pause: Change = ({ engine }) => engine.pause({ queue: "mails", lease: true });
const remove: Change = ({ engine }) => engine.deleteQueue({ name: "mails", force: true });

const before = { orders: {}, mails: { maxAttempts: 0 } };
const changes = [
  { name: "create", change: create, after: { ...before, new: {} } },
  { name: "update", change: update, after: { ...before, mails: { maxAttempts: 3 } } },
  { name: "delete", change: remove, after: { orders: {} } },
];

test.each(changes.flatMap((row) => [false, true].map((applied) => ({ ...row, applied }))))(
  "$name: a crash at a commit with it and an item leaves both or neither, applied $applied",
  async ({ change, after, applied }) => {
    const bundle = await setupQueues();
    const store = bundle.store();
    store.hold();
    await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["before"])));
    const changed = await bundle.begin(() => change(bundle));
    const produced = await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["with"])));
    const commits = store.commits + 1;
    store.killAt({ commitsBefore: 1, applied });
    store.release();
    await bundle.clock.settle();
    expect([changed.ending, produced.ending]).toEqual([null, null]);
    expect(store.commits).toBe(commits + (applied ? 1 : 0));
    await bundle.restart();
    expect(await bundle.listed("orders")).toEqual(applied ? ["before", "with"] : ["before"]);
    const expected = applied ? after : before;
    expect(storedQueues(bundle)).toMatchObject(expected);
    const names = bundle.engine.listQueues({ pivot: "", limit: 10 }).map(({ name }) => name);
    expect(names).toEqual(Object.keys(expected).toSorted());
    expect(Object.keys(storedQueues(bundle)).toSorted()).toEqual(names);
    if (names.includes("mails")) expect(await bundle.listed("mails")).toEqual(["m"]);
    else expect(bundle.storedItems(0)).toHaveLength(2);
  },
);

test.each([
  { name: "create", change: create },
  { name: "update", change: update },
  { name: "pause", change: pause },
  { name: "delete", change: remove },
])("$name: a store without room refuses it, and nothing changes", async (row) => {
  const bundle = await setupQueues();
  const stored = storedQueues(bundle);
  bundle.store().fail({ fault: "full", sticky: true });
  expect(await bundle.ending(() => row.change(bundle))).toEqual({
    ok: false,
    code: "store",
    message: "there is no space left on the disk; nothing was written",
    details: undefined,
  });
  expect(storedQueues(bundle)).toEqual(stored);
  expect(bundle.engine.listQueues({ pivot: "", limit: 10 })).toHaveLength(2);
  bundle.store().heal();
  await bundle.clock.advance(2 * second);
  expect(await bundle.listed("mails")).toEqual(["m"]);
  expect(await bundle.ending(() => row.change(bundle))).toMatchObject({ ok: true });
});

test.each([
  { name: "update", change: update, after: { mails: { maxAttempts: 3 } } },
  { name: "pause", change: pause, after: { mails: { pause: expect.anything() } } },
  { name: "delete", change: remove, after: { orders: {} } },
])("$name: a store with only its reserve left accepts it", async ({ change, after }) => {
  const bundle = await setupQueues();
  bundle.store().fail({ fault: "full" });
  const produce = () => bundle.ending(() => bundle.engine.produce(produceOf("orders", ["a"])));
  expect(await produce()).toMatchObject({ ok: false, code: "store" });
  expect(await bundle.ending(() => change(bundle))).toMatchObject({ ok: true });
  expect(await produce()).toMatchObject({ ok: false, code: "store" });
  expect(storedQueues(bundle)).toMatchObject(after);
  if (change === remove) expect(bundle.storedItems(0)).toEqual([]);
});

test("create: a store with only its reserve left refuses it", async () => {
  const bundle = await setupQueues();
  bundle.store().fail({ fault: "full" });
  expect(await bundle.ending(() => create(bundle))).toMatchObject({ ok: false, code: "store" });
  expect(storedQueues(bundle)).not.toHaveProperty("new");
});
