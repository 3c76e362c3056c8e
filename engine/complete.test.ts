import { expect, test } from "bun:test";
import type { QueueSettings } from "./model/api.ts";
import {
  completeOf,
  day,
  doneFirst,
  got,
  hour,
  idsOf,
  minute,
  second,
  setup,
  start,
  textsOf,
} from "./simulation/bundle.ts";

async function setupQueue(settings: Partial<QueueSettings> = {}) {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", ...settings });
  return bundle;
}

test("complete: completed items never return", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a", "b");
  const lease = await bundle.lease("orders", { batchSize: 2 });
  expect(await bundle.complete(lease)).toEqual(doneFirst);
  await bundle.clock.advance(2 * day);
  await bundle.restart();
  expect(await bundle.listed("orders")).toEqual([]);
});

test.each([
  ["queue", { queue: "none" }, "queue does not exist; no such queue named 'none'"],
  ["partition", { partition: 7 }, "partition is invalid; '7' is not a valid partition"],
  ["ids", { ids: [] }, "ids is invalid; list of ids cannot be empty"],
  [
    "ids",
    { ids: Array.from({ length: 1_001 }, () => "x") },
    "ids is invalid; max_complete_batch_size is 1000 but received 1001",
  ],
  [
    "request_timeout",
    { requestTimeoutMs: 0 },
    "request timeout is required; '5m' is recommended, 15m is the maximum",
  ],
] as const)("complete: an invalid %s is refused", async (_, change, message) => {
  const bundle = await setupQueue();
  const request = { ...completeOf("orders", 0, ["x"]), ...change };
  const ending = await bundle.ending(() => bundle.engine.complete(request));
  expect(ending).toEqual({ ok: false, code: "invalid", message, details: undefined });
});

test("complete: one invalid id refuses the whole batch, and each invalid id is listed with its reason", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a", "b", "c");
  const { items } = await bundle.lease("orders", { batchSize: 2 });
  const [a = "", b = ""] = idsOf(items);
  const request = { queue: "orders", partition: 0, pivot: "", limit: 10 };
  const listed = await bundle.run(() => bundle.engine.listItems(request));
  const c = listed[2]?.id ?? "";
  const unknown = `${a.slice(0, 26)}z`;
  const ids = [a, "short", unknown, c, b, b];
  const ending = await bundle.ending(() => bundle.engine.complete(completeOf("orders", 0, ids)));
  expect(ending).toEqual({
    ok: false,
    code: "refused",
    message: "invalid storage id; 'short': Valid encoded KSUIDs are 27 characters",
    details: {
      short: "invalid storage id; 'short': Valid encoded KSUIDs are 27 characters",
      [unknown]: `invalid storage id; '${unknown}' does not exist`,
      [c]: `item(s) cannot be completed; '${c}' is not marked as leased`,
      [b]: `item(s) cannot be completed; '${b}' is named more than once`,
    },
  });
  expect(await bundle.listed("orders")).toEqual(["a", "b", "c"]);
  const right = await bundle.ending(() => bundle.engine.complete(completeOf("orders", 0, [a, b])));
  expect(right.ok).toBe(true);
});

test("complete: an id of another partition does not exist here", async () => {
  const bundle = await setupQueue({ requestedPartitions: 2 });
  await bundle.produce("orders", "a");
  const { items } = await bundle.lease("orders");
  const [id = ""] = idsOf(items);
  const ending = await bundle.ending(() => bundle.engine.complete(completeOf("orders", 1, [id])));
  expect(ending).toMatchObject({
    code: "refused",
    details: { [id]: `invalid storage id; '${id}' does not exist` },
  });
});

test("complete: a late complete is accepted until the item is offered to another client", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a");
  const lease = await bundle.lease("orders");
  await bundle.clock.advance(minute - 1);
  expect(await bundle.complete(lease)).toMatchObject({ ok: true });
});

test("complete: once the lease has lapsed its id is invalid, even while a new holder has the item", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a");
  const lease = await bundle.lease("orders");
  await bundle.clock.advance(minute);
  expect(await bundle.complete(lease)).toMatchObject({ ok: false, code: "refused" });
  const next = await bundle.lease("orders");
  expect(await bundle.complete(lease)).toMatchObject({ ok: false, code: "refused" });
  expect(await bundle.retry(lease)).toMatchObject({ ok: false, code: "refused" });
  expect(await bundle.complete(next)).toMatchObject({ ok: true });
});

test("complete: in the turn in which the lease would lapse, the sweep comes first", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a");
  const lease = await bundle.lease("orders");
  bundle.store().hold();
  const slow = await bundle.begin(() =>
    bundle.engine.produce({
      queue: "orders",
      requestTimeoutMs: hour / 12,
      items: [{ payload: "b" }],
    }),
  );
  const late = await bundle.begin(() =>
    bundle.engine.complete(completeOf("orders", 0, idsOf(lease.items))),
  );
  await bundle.clock.advance(minute);
  bundle.store().release();
  await bundle.clock.settle();
  expect(slow.ending?.ok).toBe(true);
  expect(late.ending?.ok).toBe(false);
  expect(await bundle.listed("orders")).toEqual(["b", "a"]);
});

test("complete: behind a slow store, a complete is answered in time with the outcome known by then", async () => {
  const bundle = await setupQueue({ leaseTimeoutMs: hour });
  await bundle.produce("orders", "a", "b", "c");
  const leases = [];
  for (let index = 0; index < 3; index += 1) leases.push(await bundle.lease("orders"));
  bundle.store().hold();
  const calls = [];
  for (const { items } of leases) {
    const request = { ...completeOf("orders", 0, idsOf(items)), requestTimeoutMs: second };
    calls.push(await bundle.begin(() => bundle.engine.complete(request)));
  }
  await bundle.clock.advance(second);
  expect(calls[2]?.ending).toEqual({
    ok: false,
    code: "empty",
    message: "request timeout; the items were not completed, try again",
    details: undefined,
  });
  expect(calls[0]?.ending).toEqual({
    ok: false,
    code: "unknown",
    message: "request timeout; it may be done or not",
    details: undefined,
  });
  bundle.store().release();
  await bundle.clock.settle();
  expect(await bundle.listed("orders")).toEqual(["b", "c"]);
});

test("retry: without retry_at the item goes to the tail under a new id", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "A", "B", "C");
  const lease = await bundle.lease("orders");
  expect(await bundle.retry(lease)).toEqual(doneFirst);
  const next = await bundle.lease("orders", { batchSize: 3 });
  expect(textsOf(next.items)).toEqual(["B", "C", "A"]);
  expect(next.items.map(({ attempts }) => attempts)).toEqual([1, 1, 2]);
  expect(idsOf(next.items)).not.toContain(lease.items[0]?.id ?? "");
});

test.each([
  { retryAt: start - hour, isScheduled: false },
  { retryAt: start, isScheduled: false },
  { retryAt: start + 1, isScheduled: true },
])("retry: at $retryAt is scheduled: $isScheduled", async ({ retryAt, isScheduled }) => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a");
  const lease = await bundle.lease("orders");
  // The clock stands still until the item would be due.
  expect(await bundle.retry(lease, { retryAt })).toMatchObject({ ok: true });
  expect(await bundle.scheduled("orders")).toEqual(isScheduled ? ["a"] : []);
  expect(await bundle.run(() => bundle.engine.inspect("orders"))).toMatchObject({
    queued: isScheduled ? 0 : 1,
    retried: isScheduled ? 1 : 0,
    scheduled: 0,
  });
});

test("retry: one unknown id refuses the whole batch", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a", "b");
  const lease = await bundle.lease("orders", { batchSize: 2 });
  const items = [...idsOf(lease.items), "nothing"].map((id) => ({
    id,
    retryAt: null,
    dead: false,
  }));
  const ending = await bundle.ending(() =>
    bundle.engine.retry({ queue: "orders", partition: 0, items }),
  );
  expect(ending).toMatchObject({ code: "refused", details: { nothing: expect.any(String) } });
  expect(await bundle.complete(lease)).toMatchObject({ ok: true });
});

test.each([
  [{ partition: 3 }, "partition is invalid; '3' is not a valid partition"],
  [{ items: [] }, "items is invalid; list of items cannot be empty"],
] as const)("retry: %j is refused", async (change, message) => {
  const bundle = await setupQueue();
  const items = [{ id: "x", retryAt: null, dead: false }];
  const request = { queue: "orders", partition: 0, items, ...change };
  const ending = await bundle.ending(() => bundle.engine.retry(request));
  expect(ending).toMatchObject({ code: "invalid", message });
});

test("retry: a retried item keeps its expire deadline, and expires while it waits", async () => {
  const bundle = await setupQueue({ expireTimeoutMs: hour });
  await bundle.produce("orders", "a");
  const lease = await bundle.lease("orders");
  await bundle.retry(lease, { retryAt: start + 2 * hour });
  await bundle.clock.advance(hour - 1);
  expect(await bundle.scheduled("orders")).toEqual(["a"]);
  await bundle.clock.advance(1);
  expect(await bundle.scheduled("orders")).toEqual([]);
  expect(bundle.engine.status().queues[0]).toMatchObject({
    counters: { expired: 1, discarded: 1 },
  });
});

test("attempts: count leases granted, through lapse and retry, and survive a restart", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a");
  await bundle.lease("orders");
  await bundle.clock.advance(minute);
  await bundle.restart();
  const lease = await bundle.lease("orders");
  expect(lease.items[0]?.attempts).toBe(2);
  await bundle.retry(lease, { retryAt: bundle.clock.now() + second });
  const request = { queue: "orders", partition: 0, pivot: "", limit: 10 };
  const [item] = await bundle.run(() => bundle.engine.listScheduled(request));
  expect(item).toMatchObject({ attempts: 2, isLeased: false });
});

test.each(["lapse", "retry"] as const)(
  "max_attempts: reached by %s, the item is not offered again",
  async (by) => {
    const bundle = await setupQueue({ maxAttempts: 2 });
    await bundle.produce("orders", "a");
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      const lease = await bundle.lease("orders");
      expect(lease.items[0]?.attempts).toBe(attempt);
      if (by === "retry") await bundle.retry(lease);
      else await bundle.clock.advance(minute);
    }
    expect(await bundle.listed("orders")).toEqual([]);
    expect(bundle.engine.status().queues[0]).toMatchObject({
      counters: { discarded: 1, expired: 0 },
    });
    expect(bundle.notices).toMatchObject([{ kind: "items_discarded", queue: "orders", count: 1 }]);
  },
);

test("max_attempts: the current bound applies to older items too", async () => {
  const bundle = await setupQueue({ maxAttempts: 1 });
  await bundle.produce("orders", "a");
  const lease = await bundle.lease("orders");
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", maxAttempts: 0 }));
  await bundle.retry(lease);
  expect(await bundle.lease("orders")).toMatchObject({ items: [{ attempts: 2 }] });
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", maxAttempts: 2 }));
  await bundle.clock.advance(minute);
  expect(await bundle.listed("orders")).toEqual([]);
});

test("max_attempts: an item in its last lease stays with its holder", async () => {
  const bundle = await setupQueue({ maxAttempts: 1 });
  await bundle.produce("orders", "a");
  const lease = await bundle.lease("orders");
  await bundle.clock.advance(minute - 1);
  await bundle.produce("orders", "b");
  expect(await bundle.complete(lease)).toMatchObject({ ok: true });
});

test("lapse: more than a thousand leases lapse at once, in pieces, and none is lost", async () => {
  const bundle = await setupQueue();
  await bundle.produceMany("orders", 3_500);
  for (let call = 0; call < 4; call += 1) await bundle.lease("orders", { batchSize: 1_000 });
  const waits = await bundle.beginLease("orders", { batchSize: 3, requestTimeoutMs: 2 * minute });
  await bundle.clock.advance(minute);
  expect(got(waits)).toEqual(["0", "1", "2"]);
  expect(await bundle.run(() => bundle.engine.inspect("orders"))).toMatchObject({
    queued: 3_497,
    leased: 3,
  });
});
