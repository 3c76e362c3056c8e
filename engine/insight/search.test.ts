import { expect, test } from "bun:test";
import type { FindRequest, FoundItem } from "../model/api.ts";
import type { Filter } from "../model/filter.ts";
import { reasonClass } from "../model/filter.ts";
import { limits } from "../model/limits.ts";
import {
  type Bundle,
  day,
  hour,
  minute,
  produceOf,
  second,
  setup,
  start,
} from "../simulation/bundle.ts";

async function setupQueues(partitions = 1) {
  const bundle = await setup();
  await bundle.createQueue({ name: "dead", expireTimeoutMs: 7 * day });
  await bundle.createQueue({
    name: "orders",
    deadQueue: "dead",
    leaseTimeoutMs: minute,
    requestedPartitions: partitions,
  });
  return bundle;
}

const texts = (items: readonly FoundItem[]): string[] =>
  items.map(({ payload }) => new TextDecoder().decode(payload));

function findIn(bundle: Bundle, queue: string, change: Partial<FindRequest> = {}) {
  const request = { queue, pivot: "", limit: 100, filter: {}, payloadHead: 100, ...change };
  return bundle.run(() => bundle.engine.findItems(request));
}

/** All pages. */
async function findAll(bundle: Bundle, queue: string, change: Partial<FindRequest> = {}) {
  const all: FoundItem[] = [];
  let pages = 0;
  for (let pivot = ""; pages === 0 || pivot !== ""; pages += 1) {
    const { found, nextPivot } = await findIn(bundle, queue, { ...change, pivot });
    all.push(...found);
    pivot = nextPivot;
  }
  return { all, pages };
}

/** One item of each state, and two dead ones. */
async function setupStates() {
  const bundle = await setupQueues();
  const items = [
    { payload: "leased", kind: "k" },
    { payload: "late", reference: "r" },
    { payload: "never", kind: "k", reference: "r" },
    { payload: "again" },
    { payload: "ready", kind: "k" },
    { payload: "scheduled", enqueueAt: start + hour },
  ];
  await bundle.run(() => bundle.engine.produce({ ...produceOf("orders", []), items }));
  const lease = await bundle.lease("orders", { batchSize: 4 });
  const ids = lease.items.map(({ id }) => id);
  const retries = [
    { id: ids[1] ?? "", retryAt: null, dead: true, reason: "order 4711: no card" },
    { id: ids[2] ?? "", retryAt: null, dead: true, reason: "order 12: no card" },
    { id: ids[3] ?? "", retryAt: start + 2 * hour, dead: false, reason: "later" },
  ];
  const request = { queue: "orders", partition: 0, items: retries };
  await bundle.run(() => bundle.engine.retry(request));
  return { bundle, ids };
}

test("find: items in every state are found, with their state", async () => {
  const { bundle } = await setupStates();
  const { found, scanned, nextPivot } = await findIn(bundle, "orders");
  expect(texts(found)).toEqual(["leased", "ready", "scheduled", "again"]);
  expect(found.map(({ state }) => state)).toEqual(["leased", "ready", "scheduled", "scheduled"]);
  expect({ scanned, nextPivot }).toEqual({ scanned: 4, nextPivot: "" });
  expect(found[0]).toMatchObject({ queue: "orders", partition: 0, attempts: 1, payloadBytes: 6 });
});

test.each([
  ["leased", ["leased"]],
  ["ready", ["ready"]],
  ["scheduled", ["scheduled", "again"]],
] as const)("find: only %s items", async (state, expected) => {
  const { bundle } = await setupStates();
  expect(texts((await findIn(bundle, "orders", { state })).found)).toEqual([...expected]);
});

const filters: [Filter, string[]][] = [
  [{}, ["late", "never"]],
  [{ kind: "k" }, ["never"]],
  [{ reference: "r" }, ["late", "never"]],
  [{ kind: "" }, ["late"]],
  [{ death: "rejected" }, ["late", "never"]],
  [{ death: "failed" }, []],
  [{ reason: "order 99: no card" }, ["late", "never"]],
  [{ reason: "no card" }, []],
  [{ originQueue: "orders" }, ["late", "never"]],
  [{ originQueue: "" }, []],
  [{ attemptsMin: 1 }, ["late", "never"]],
  [{ attemptsMin: 2 }, []],
  [{ createdBefore: start }, []],
  [{ createdBefore: start + 1 }, ["late", "never"]],
  [{ redrivenMax: 0 }, ["late", "never"]],
  [{ payloadContains: "at" }, ["late"]],
  [{ payloadContains: "at", kind: "k" }, []],
  [{ group: "" }, ["late", "never"]],
  [{ group: "a" }, []],
];

test("find: the items that a client holds", async () => {
  const bundle = await setupQueues();
  await bundle.produceMany("orders", 5);
  await bundle.lease("orders", { clientId: "anna", batchSize: 2 });
  const long = "ben".repeat(100);
  await bundle.lease("orders", { clientId: long, batchSize: 1 });
  const held = async (holder: string) => texts((await findIn(bundle, "orders", { holder })).found);
  expect(await Promise.all(["anna", long, "cleo"].map(held))).toEqual([["0", "1"], ["2"], []]);
  const { found: all } = await findIn(bundle, "orders");
  const holders = ["anna", "anna", long.slice(0, limits.holderNameMax), "", ""];
  expect(all.map(({ holder }) => holder)).toEqual(holders);
  const request = { queue: "orders", pivot: "", filter: {}, by: "kind", holder: "anna" } as const;
  const { found } = await bundle.run(() => bundle.engine.summarizeItems(request));
  expect(found.map(({ count }) => count)).toEqual([2]);
  const scheduled = findIn(bundle, "orders", { holder: "anna", state: "scheduled" });
  const refused = "holder is invalid; only leased items have one, got it with state 'scheduled'";
  await expect(scheduled).rejects.toThrow(refused);
});

test("find: the current lease counts as an attempt", async () => {
  const bundle = await setupQueues();
  await bundle.produceMany("orders", 2);
  await bundle.lease("orders");
  const attempts = async (attemptsMin: number) =>
    texts((await findIn(bundle, "orders", { filter: { attemptsMin } })).found);
  expect([await attempts(1), await attempts(2)]).toEqual([["0"], []]);
});

test.each(filters)("find: by %j", async (filter, expected) => {
  const { bundle } = await setupStates();
  expect(texts((await findIn(bundle, "dead", { filter })).found)).toEqual(expected);
});

test("find: by the id under which an item was produced", async () => {
  const { bundle, ids } = await setupStates();
  const filter = { originId: ids[2] ?? "" };
  expect(texts((await findIn(bundle, "dead", { filter })).found)).toEqual(["never"]);
  expect(
    texts((await findIn(bundle, "orders", { filter: { originId: ids[0] ?? "" } })).found),
  ).toEqual(["leased"]);
});

test.each([1, 2, 3, 7, 100])("find: pages of %p add up to one large page", async (limit) => {
  const bundle = await setupQueues(3);
  for (let call = 0; call < 5; call += 1) {
    await bundle.produceMany("orders", 5);
    await bundle.lease("orders", { batchSize: 2 });
  }
  const whole = await findIn(bundle, "orders", { limit: 1_000 });
  const { all } = await findAll(bundle, "orders", { limit });
  expect(all.map(({ id }) => id)).toEqual(whole.found.map(({ id }) => id));
  const one = await findIn(bundle, "orders", { partition: 1 });
  expect(one.found).toEqual(whole.found.filter(({ partition }) => partition === 1));
});

test("find, newest first: over all partitions by arrival, with pages of any size", async () => {
  const bundle = await setupQueues(3);
  const came: string[] = [];
  for (let call = 0; call < 9; call += 1) {
    await bundle.clock.advance(second);
    const enqueueAt = call % 4 === 0 ? bundle.clock.now() + hour : null;
    const items = [
      { payload: `${call} a`, enqueueAt },
      { payload: `${call} b`, enqueueAt },
    ];
    await bundle.run(() => bundle.engine.produce({ ...produceOf("orders", []), items }));
    came.unshift(`${call} b`, `${call} a`);
    if (call % 3 === 2) await bundle.lease("orders");
  }
  const order = "newest";
  const { found } = await findIn(bundle, "orders", { order });
  expect(new Set(found.map(({ partition }) => partition)).size).toBe(3);
  expect(texts(found)).toEqual(came);
  for (const limit of [1, 2, 5]) {
    expect(texts((await findAll(bundle, "orders", { order, limit })).all)).toEqual(came);
  }
  const scheduled = await findIn(bundle, "orders", { order, state: "scheduled" });
  expect(texts(scheduled.found)).toEqual(
    came.filter((text) => ["8", "4", "0"].includes(text.charAt(0))),
  );
  const one = await findAll(bundle, "orders", { order, partition: 1, limit: 1 });
  expect(one.all).toEqual(found.filter(({ partition }) => partition === 1));
});

test("find, newest first: over gaps, very large items, and with a bound", async () => {
  const bundle = await setupQueues();
  const order = "newest";
  await bundle.produceMany("orders", 3);
  const large = Buffer.alloc(5_000_000);
  const items = Array.from({ length: 20 }, () => ({ payload: large, kind: "large" }));
  for (const item of items) {
    await bundle.run(() => bundle.engine.produce({ ...produceOf("orders", []), items: [item] }));
  }
  const { all } = await findAll(bundle, "orders", { order, payloadHead: 1 });
  expect(all.map(({ kind }) => kind)).toEqual([...items.map(() => "large"), "", "", ""]);
  for (let left = 5_000; left > 0; left -= 1_000) await bundle.produceMany("orders", 1_000);
  const what = { ready: true, scheduled: true, retried: true, destructive: false };
  await bundle.lease("orders", { batchSize: 3 });
  await bundle.run(() => bundle.engine.clear({ queue: "orders", ...what }));
  await bundle.produceMany("orders", 1);
  const left = await findIn(bundle, "orders", { order });
  expect(left.found.map(({ state }) => state)).toEqual(["ready", "leased", "leased", "leased"]);
});

test("find: a call examines a bounded number of items, and returns where to continue even if nothing was found", async () => {
  const bundle = await setupQueues();
  const count = limits.findTurnScanned * 2 + 3;
  for (let left = count; left > 0; left -= 1_000) {
    await bundle.produceMany("orders", Math.min(1_000, left));
  }
  const { found, scanned, nextPivot } = await findIn(bundle, "orders", {
    filter: { kind: "none" },
  });
  expect({ found, scanned, nextPivot }).toEqual({ found: [], scanned: count, nextPivot: "" });
  const page = await findIn(bundle, "orders", { limit: 1, payloadHead: 0 });
  expect(page.scanned).toBeLessThan(count);
  expect(page.nextPivot).not.toBe("");
  expect(page.found[0]?.payload).toHaveLength(0);
  expect(page.found[0]?.payloadBytes).toBeGreaterThan(0);
});

test("find: a page continues until it is full, however far apart the matches are", async () => {
  const bundle = await setupQueues();
  const rare = { ...produceOf("orders", []), items: [{ payload: "a", kind: "rare" }] };
  await bundle.run(() => bundle.engine.produce(rare));
  const others = limits.findTurnScanned * 3;
  await bundle.produceMany("orders", others);
  const page = await findIn(bundle, "orders", { filter: { kind: "rare" }, limit: 2 });
  expect(texts(page.found)).toEqual(["a"]);
  expect({ scanned: page.scanned, nextPivot: page.nextPivot }).toEqual({
    scanned: others + 1,
    nextPivot: "",
  });
});

test("find: cleared items are not found, and the others are", async () => {
  const { bundle } = await setupStates();
  const what = { ready: true, scheduled: true, retried: false, destructive: false };
  await bundle.run(() => bundle.engine.clear({ queue: "orders", ...what }));
  expect(texts((await findIn(bundle, "orders")).found)).toEqual(["leased", "again"]);
});

test.each([
  [{ pivot: "x" }, "pivot is invalid; expected the next_pivot of the page before, got 'x'"],
  [{ limit: 0 }, "limit is invalid; must be greater than zero"],
  [{ limit: 1_001 }, "limit is invalid; cannot be greater than 1000"],
  [{ payloadHead: 65_537 }, "payload head is invalid; cannot be greater than 65536"],
  [{ partition: 7 }, "partition is invalid; '7' is not a valid partition"],
  [
    { state: "dead" as "ready" },
    "state is invalid; expected 'ready', 'leased' or 'scheduled', got 'dead'",
  ],
  [{ order: "oldest" as "newest" }, "order is invalid; expected 'newest' or none, got 'oldest'"],
  [
    { order: "newest" as const, pivot: "0.0.0.1,x" },
    "pivot is invalid; expected the next_pivot of the page before, got 'x'",
  ],
])("find: %j is refused", async (change, message) => {
  const bundle = await setupQueues();
  const request = { queue: "orders", pivot: "", limit: 1, filter: {}, ...change };
  const ending = await bundle.ending(() => bundle.engine.findItems(request));
  expect(ending).toMatchObject({ code: "invalid", message });
});

test("summarize: a page has a bounded number of summaries, and the next continues after them", async () => {
  const bundle = await setupQueues();
  const kinds = Array.from({ length: limits.summariesMax + 500 }, (_, kind) => ({
    payload: "",
    kind: `${kind}`,
  }));
  for (const half of [kinds.slice(0, 750), kinds.slice(750)]) {
    await bundle.run(() => bundle.engine.produce({ ...produceOf("orders", []), items: half }));
  }
  const seen: string[] = [];
  const pages: number[] = [];
  for (let pivot = "", isFirst = true; isFirst || pivot !== ""; isFirst = false) {
    const request = { queue: "orders", pivot, filter: {}, by: "kind" } as const;
    const { found, nextPivot } = await bundle.run(() => bundle.engine.summarizeItems(request));
    seen.push(...found.map(({ value }) => value));
    pages.push(found.length);
    pivot = nextPivot;
  }
  expect(Math.max(...pages)).toBeLessThan(limits.summariesMax + limits.findTurnScanned);
  expect(new Set(seen).size).toBe(kinds.length);
});

test("summarize: dead items by reason without numbers, largest count first", async () => {
  const { bundle } = await setupStates();
  const again = await bundle.lease("orders");
  const items = again.items.map(({ id }) => ({ id, retryAt: null, dead: true, reason: "timeout" }));
  await bundle.clock.advance(second);
  await bundle.run(() =>
    bundle.engine.retry({ queue: "orders", partition: again.partition, items }),
  );
  const request = { queue: "dead", pivot: "", filter: {}, by: "reason" } as const;
  const { found, scanned, nextPivot } = await bundle.run(() =>
    bundle.engine.summarizeItems(request),
  );
  expect({ scanned, nextPivot }).toEqual({ scanned: 3, nextPivot: "" });
  expect(found).toMatchObject([
    { value: "order <n>: no card", count: 2, firstAt: start, lastAt: start },
    { value: "timeout", count: 1, firstAt: start + second, lastAt: start + second },
  ]);
  const byKind = await bundle.run(() => bundle.engine.summarizeItems({ ...request, by: "kind" }));
  expect(byKind.found.map(({ value, count }) => [value, count])).toEqual([
    ["k", 2],
    ["", 1],
  ]);
  const sample = found[0]?.sampleId ?? "";
  const only = await findIn(bundle, "dead", { filter: { reason: found[0]?.value ?? "" } });
  expect(only.found.map(({ id }) => id)).toContain(sample);
});

test.each([
  ["order 4711 of 2026-03-01T12:00:00.000Z", "order <n> of <time>"],
  ["user 0b81a2c4-1111-4222-8333-0123456789ab is gone", "user <id> is gone"],
  ["hash deadbeef01", "hash <id>"],
  ["HTTP 502 from 10.0.0.7:5432", "HTTP 502 from <n>"],
  ["HTTP/1.1 404 for order 4711", "HTTP/1.1 404 for order <n>"],
  ["HTTPError: 503 after 250 ms", "HTTPError: 503 after <n> ms"],
  ["Request failed with status code 429", "Request failed with status code 429"],
  ["status=503, code: 137", "status=503, code: 137"],
  ["503 Service Unavailable, try 3", "503 Service Unavailable, try <n>"],
  ["200: order 200", "200: order <n>"],
  ["code 4711, status 50, HTTP 5021", "code <n>, status <n>, HTTP <n>"],
  ["code 503.25, status 503:7, barcode 503", "code <n>, status <n>, barcode <n>"],
  ["4711 items, of order 503", "<n> items, of order <n>"],
  ["999 items were locked", "<n> items were locked"],
  ["connect ECONNREFUSED 10.0.0.7:5432", "connect ECONNREFUSED <n>"],
  ["no card", "no card"],
  [" no\tcard:\r\n  \u001b[31mnone\u2028\u202e", "no card: [<n>mnone"],
])("reasonClass: %p is %p", (reason, expected) => {
  expect(reasonClass(reason)).toBe(expected);
  expect(reasonClass(expected)).toBe(expected);
});

test("get: an item by its id alone, with all of its payload", async () => {
  const { bundle, ids } = await setupStates();
  const leased = await bundle.run(() => bundle.engine.getItem(ids[0] ?? ""));
  expect(leased).toMatchObject({ queue: "orders", state: "leased", kind: "k" });
  expect(texts([leased])).toEqual(["leased"]);
  const ending = await bundle.ending(() => bundle.engine.getItem(ids[1] ?? ""));
  expect(ending).toMatchObject({
    code: "refused",
    message: `item does not exist; no item has the id '${ids[1]}'`,
  });
  expect(await bundle.ending(() => bundle.engine.getItem("x"))).toMatchObject({ code: "invalid" });
});

test.each([
  [{ payloadOffset: 2 }, "ased"],
  [{ payloadLimit: 2 }, "le"],
  [{ payloadOffset: 1, payloadLimit: 3 }, "eas"],
  [{ payloadOffset: 4, payloadLimit: 100 }, "ed"],
  [{ payloadOffset: 6 }, ""],
  [{ payloadLimit: 0 }, ""],
])(
  "get: with %j, only that part of the payload, and the size of all of it",
  async (range, expected) => {
    const { bundle, ids } = await setupStates();
    const item = await bundle.run(() => bundle.engine.getItem(ids[0] ?? "", range));
    expect([texts([item]), item.payloadBytes]).toEqual([[expected], 6]);
  },
);

test("get: a range counts bytes, even for a text", async () => {
  const bundle = await setupQueues();
  await bundle.run(() => bundle.engine.produce(produceOf("orders", ["größe"])));
  const { id = "" } = (await findIn(bundle, "orders")).found[0] ?? {};
  const { payload, payloadBytes } = await bundle.run(() =>
    bundle.engine.getItem(id, { payloadOffset: 4, payloadLimit: 2 }),
  );
  expect([new TextDecoder().decode(payload), payloadBytes]).toEqual(["ß", 7]);
});

test.each([
  [{ payloadOffset: 7 }, "payload offset is invalid; expected 0 to 6, got 7"],
  [{ payloadOffset: -1 }, "payload offset is invalid; expected 0 to 2147483647, got -1"],
  [{ payloadOffset: 0.5 }, "payload offset is invalid; expected 0 to 2147483647, got 0.5"],
  [{ payloadLimit: -1 }, "payload limit is invalid; expected 0 to 2147483647, got -1"],
  [{ payloadLimit: 2 ** 31 }, "payload limit is invalid; expected 0 to 2147483647, got 2147483648"],
])("get: %j is refused", async (range, message) => {
  const { bundle, ids } = await setupStates();
  const ending = await bundle.ending(() => bundle.engine.getItem(ids[0] ?? "", range));
  expect(ending).toMatchObject({ code: "invalid", message });
});

test("get: for a hidden item, a range reveals no more than its absence", async () => {
  const { bundle, ids } = await setupStates();
  const get = () => bundle.engine.getItem(ids[0] ?? "", { payloadOffset: 7 }, () => false);
  expect(await bundle.ending(get)).toMatchObject({
    ...{ code: "refused", message: `item does not exist; no item has the id '${ids[0]}'` },
  });
});

async function explained(bundle: Bundle, id: string | undefined) {
  return bundle.run(() => bundle.engine.explainItem(id ?? ""));
}

test("explain: a leased item reports its holder, deadline and attempts", async () => {
  const { bundle, ids } = await setupStates();
  const { item, why } = await explained(bundle, ids[0]);
  expect(item).toMatchObject({ state: "leased" });
  expect(why).toEqual(["'client-1' holds it, for the 1st time; its lease ends in 1m0s."]);
});

test("explain: a former id leads to the item, wherever it is", async () => {
  const { bundle, ids } = await setupStates();
  const dead = await explained(bundle, ids[1]);
  expect(dead.item).toMatchObject({ queue: "dead", state: "ready" });
  expect(dead.why).toEqual([
    "It is ready, with 0 ahead of it in partition 0.",
    "It died in 'orders': it was rejected.",
    "The last reason given was: order 4711: no card",
    `It now has another id; it was produced as ${ids[1]}.`,
  ]);
  const again = await explained(bundle, ids[3]);
  expect(again.item).toMatchObject({ queue: "orders", state: "scheduled" });
  expect(again.why[0]).toBe("It was requeued, and is offered in 2h0m0s.");
});

test("explain: a ready item reports the number of items ahead, and that its queue is paused", async () => {
  const bundle = await setupQueues();
  await bundle.produceMany("orders", 5);
  await bundle.lease("orders", { batchSize: 2 });
  await bundle.run(() => bundle.engine.pause({ queue: "orders", reason: "deploy" }));
  const { found } = await findIn(bundle, "orders", { state: "ready" });
  const { ahead, isAheadExact, why } = await explained(bundle, found[2]?.id);
  expect({ ahead, isAheadExact }).toEqual({ ahead: 2, isAheadExact: true });
  expect(why).toEqual([
    "Its queue is paused: deploy.",
    "It is ready, with 2 ahead of it in partition 0.",
  ]);
});

test("explain: a ready item reports what delays its queue", async () => {
  const bundle = await setupQueues();
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", leasedMax: 1 }));
  await bundle.produceMany("orders", 2);
  await bundle.lease("orders", { clientId: "worker" });
  const { found } = await findIn(bundle, "orders", { state: "ready" });
  const { why } = await explained(bundle, found[0]?.id);
  expect(why).toEqual([
    "It is ready, with 0 ahead of it in partition 0.",
    "As many items are leased as leased_max allows, 1, and 1 more is ready; the next lease lapses in 60 seconds.",
  ]);
  const leased = await findIn(bundle, "orders", { state: "leased" });
  expect((await explained(bundle, leased.found[0]?.id)).why).toEqual([
    expect.stringContaining("holds it"),
  ]);
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", leasedMax: 0 }));
  await bundle.clock.advance(2 * hour);
  expect((await explained(bundle, found[0]?.id)).why).toEqual([
    "It is ready, with 0 ahead of it in partition 0.",
    "2 items are ready, the oldest for 2 hours, and no client requests them; the last lease request was from worker, 2 hours ago.",
  ]);
});

test("explain: a completed item is not found", async () => {
  const bundle = await setupQueues();
  await bundle.produceMany("orders", 1);
  const lease = await bundle.lease("orders");
  await bundle.complete(lease);
  const { item, why } = await explained(bundle, lease.items[0]?.id);
  expect(item).toBeNull();
  expect(why).toHaveLength(1);
  expect((await explained(bundle, `1${"z".repeat(26)}`)).item).toBeNull();
});
