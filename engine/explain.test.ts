// Findings: each one exactly while its condition holds, with its start and its text, in the order
// of the contract.

import { expect, test } from "bun:test";
import type { Explanation, QueueSettings } from "./model/api.ts";
import { limits } from "./model/limits.ts";
import {
  type Bundle,
  hour,
  minute,
  nameIn,
  produceOf,
  type SetupOptions,
  second,
  setup,
  start,
} from "./simulation/bundle.ts";

async function setupQueue(
  settings: Partial<QueueSettings> = {},
  options: SetupOptions = {},
): Promise<Bundle> {
  const bundle = await setup(options);
  if (settings.deadQueue) await bundle.createQueue({ name: settings.deadQueue });
  await bundle.createQueue({ name: "orders", ...settings });
  return bundle;
}

const explain = (bundle: Bundle, queue = "orders"): Promise<Explanation> =>
  bundle.run(() => bundle.engine.explain(queue));

/** The health and the findings, without their texts. */
async function words(bundle: Bundle, queue = "orders"): Promise<string[]> {
  const { health, findings } = await explain(bundle, queue);
  return [health, ...findings.map(({ kind }) => kind)];
}

test("explain: a queue without items is empty, with a waiting client idle, otherwise it flows", async () => {
  const bundle = await setupQueue();
  await bundle.clock.advance(minute);
  expect(await words(bundle)).toEqual(["empty"]);
  await bundle.beginLease("orders");
  expect(await words(bundle)).toEqual(["idle"]);
  await bundle.produce("orders", "a");
  expect(await words(bundle)).toEqual(["flows"]);
});

test("explain: an unknown queue is refused", async () => {
  const bundle = await setup();
  expect(await bundle.ending(() => bundle.engine.explain("none"))).toMatchObject({
    code: "invalid",
  });
});

test("no_consumers: begins ten seconds after the last lease request, and names its client", async () => {
  const bundle = await setupQueue();
  const asked = await bundle.beginLease("orders", {
    clientId: "worker-2",
    requestTimeoutMs: 5 * second,
  });
  await bundle.clock.advance(5 * second);
  expect(asked.ending).toMatchObject({ ok: false });
  await bundle.produce("orders", "a", "b");
  await bundle.clock.advance(10 * second - 1);
  expect(await words(bundle)).toEqual(["flows"]);
  await bundle.clock.advance(1);
  const since = start + 5 * second;
  const { findings } = await explain(bundle);
  expect(findings).toMatchObject([{ kind: "no_consumers", since, count: 2, nextAt: null }]);
  expect(findings[0]?.text).toBe(
    "2 items are ready, the oldest for 10 seconds, and no client requests them; the last lease request was from worker-2, 15 seconds ago.",
  );
  await bundle.lease("orders");
  expect(await words(bundle)).toEqual(["flows"]);
});

test("no_consumers: clients that hold items count as consumers for as long as a lease", async () => {
  const bundle = await setupQueue({ leaseTimeoutMs: hour });
  await bundle.produce("orders", "a", "b");
  await bundle.lease("orders");
  await bundle.clock.advance(59 * minute);
  expect(await words(bundle)).toEqual(["flows"]);
  await bundle.clock.advance(minute - 1);
  expect(await words(bundle)).toEqual(["flows"]);
});

test("no_consumers: the text says if no lease was requested since the start", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a");
  await bundle.clock.advance(3 * minute);
  const { findings } = await explain(bundle);
  expect(findings[0]?.text).toBe(
    "1 item is ready, for 3 minutes, and no client requests it; there has been no lease request since this server took ownership of the queue, 3 minutes ago.",
  );
});

test("no_consumers, backlog_growing: not reported for a dead queue, whose items wait for a person", async () => {
  const bundle = await setupQueue({ deadQueue: "orders-dead", maxAttempts: 1 });
  for (let count = 0; count < 6; count += 1) {
    await bundle.produceMany("orders", 20);
    await bundle.retry(await bundle.lease("orders", { batchSize: 20 }));
    await bundle.clock.advance(minute);
  }
  const { health, findings } = bundle.engine.explain("orders-dead");
  expect({ health, findings }).toEqual({ health: "flows", findings: [] });
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", deadQueue: "" }));
  expect(bundle.engine.explain("orders-dead").health).toBe("no_consumers");
});

test("paused: reports its start, reason and sides; after a restart, the last change of the queue as its start", async () => {
  const bundle = await setupQueue();
  await bundle.clock.advance(minute);
  await bundle.run(() =>
    bundle.engine.pause({ queue: "orders", lease: true, produce: true, reason: "deploy" }),
  );
  const since = start + minute;
  const found = {
    kind: "paused",
    since,
    count: 0,
    nextAt: null,
    text: "Leases and produces are paused: deploy.",
  } as const;
  expect((await explain(bundle)).findings).toEqual([found]);
  await bundle.clock.advance(hour);
  await bundle.restart();
  expect((await explain(bundle)).findings).toMatchObject([{ kind: "paused", since }]);
  await bundle.run(() => bundle.engine.resume("orders"));
  expect(await words(bundle)).toEqual(["empty"]);
});

test("paused: reports the author of the pause as long as it is known", async () => {
  const bundle = await setupQueue();
  const pause = { queue: "orders", lease: true, reason: "deploy", by: "anna" };
  await bundle.run(() => bundle.engine.pause(pause));
  const text = async () => (await explain(bundle)).findings[0]?.text;
  expect(await text()).toBe("Leases are paused by anna: deploy.");
  await bundle.restart();
  expect(await text()).toBe("Leases are paused: deploy.");
  await bundle.run(() => bundle.engine.resume("orders"));
  await bundle.run(() => bundle.engine.pause({ ...pause, by: "" }));
  expect(await text()).toBe("Leases are paused: deploy.");
});

test("paused: a pause does not begin in the millisecond after it was made", async () => {
  const bundle = await setupQueue();
  await bundle.clock.advance(0.5);
  await bundle.run(() => bundle.engine.pause({ queue: "orders" }));
  const { asOf, findings } = await explain(bundle);
  expect(findings).toMatchObject([{ kind: "paused", since: asOf }]);
});

test("at_leased_max: reported while items wait for the limit, until the next lapse", async () => {
  const bundle = await setupQueue({ leasedMax: 2 });
  await bundle.produce("orders", "a", "b", "c");
  await bundle.beginLease("orders", { batchSize: 2 });
  await bundle.beginLease("orders");
  const { health, findings } = await explain(bundle);
  expect(health).toBe("at_limit");
  expect(findings).toEqual([
    {
      kind: "at_leased_max",
      since: start,
      count: 1,
      nextAt: start + minute,
      text: "As many items are leased as leased_max allows, 2, and 1 more is ready; the next lease lapses in 60 seconds.",
    },
  ]);
});

test("at_leased_max: a short interruption does not end the finding", async () => {
  const bundle = await setupQueue({ leasedMax: 1 });
  await bundle.produce("orders", "a", "b", "c", "d");
  for (let round = 0; round < 3; round += 1) {
    const lease = await bundle.lease("orders");
    expect((await explain(bundle)).findings).toMatchObject([
      { kind: "at_leased_max", since: start },
    ]);
    await bundle.clock.advance(8 * second);
    await bundle.complete(lease);
    expect(await words(bundle)).toEqual(["flows"]);
  }
});

test("at_lease_rate: reported while items wait for the rate, until it allows more", async () => {
  const bundle = await setupQueue({ leaseRate: "1/10s" });
  await bundle.produce("orders", "a", "b");
  await bundle.lease("orders");
  await bundle.beginLease("orders");
  expect((await explain(bundle)).findings).toMatchObject([
    { kind: "at_lease_rate", since: start, count: 1, nextAt: start + 10 * second },
  ]);
  await bundle.clock.advance(10 * second);
  expect(await words(bundle)).toEqual(["flows"]);
});

test("all_leased: reported after five seconds without a lease or complete, until the next lapse", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a", "b");
  await bundle.lease("orders", { leaseTimeoutMs: hour });
  await bundle.clock.advance(second);
  await bundle.lease("orders");
  await bundle.clock.advance(5 * second - 1);
  expect(await words(bundle)).toEqual(["flows"]);
  await bundle.clock.advance(1);
  expect((await explain(bundle)).findings).toEqual([
    {
      kind: "all_leased",
      since: start + second,
      count: 2,
      nextAt: start + second + minute,
      text: "All 2 items are leased; the next lease lapses in 55 seconds.",
    },
  ]);
  await bundle.beginLease("orders");
  expect((await explain(bundle)).findings[0]?.text).toBe(
    "All 2 items are leased, and 1 client waits; the next lease lapses in 55 seconds.",
  );
});

test("all_leased: an extend and a completed lease change when the next one lapses", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a", "b");
  const first = await bundle.lease("orders", { leaseTimeoutMs: 20 * second });
  await bundle.lease("orders");
  await bundle.clock.advance(10 * second);
  const nextAt = async () => (await explain(bundle)).findings[0]?.nextAt;
  expect(await nextAt()).toBe(start + 20 * second);
  const ids = first.items.map(({ id }) => id);
  const extension = { queue: "orders", partition: 0, ids, leaseTimeoutMs: hour };
  await bundle.run(() => bundle.engine.extend(extension));
  expect(await nextAt()).toBe(start + minute);
});

test("all_scheduled: reported until the first item is due", async () => {
  const bundle = await setupQueue();
  const dueAt = start + hour;
  await bundle.run(() => bundle.engine.produce(produceOf("orders", ["a", "b"], dueAt)));
  const { findings } = await explain(bundle);
  expect(findings).toMatchObject([{ kind: "all_scheduled", since: start, count: 2 }]);
  expect(findings[0]?.nextAt).toBeGreaterThan(dueAt - second);
  expect(findings[0]?.nextAt).toBeLessThanOrEqual(dueAt);
  await bundle.clock.advance(hour);
  expect(await words(bundle)).toEqual(["flows"]);
});

test("shard_down: reports the items and its start, and ends when the shard restarts", async () => {
  const [queue, other] = [nameIn(1, 2), nameIn(0, 2)];
  const bundle = await setupQueue({ name: queue, requestedPartitions: 2 }, { shardCount: 2 });
  await bundle.createQueue({ name: other });
  for (const name of [queue, queue, other]) await bundle.produce(name, "a");
  await bundle.clock.advance(second);
  bundle.store(1).openFault = "failed";
  bundle.store(1).fail({ fault: "failed" });
  await bundle.begin(() => bundle.engine.produce(produceOf(queue, ["b"])));
  const { health, asOf, findings } = await explain(bundle, queue);
  expect(health).toBe("shard_down");
  expect(findings[0]).toMatchObject({ kind: "shard_down", since: start + second, count: 2 });
  expect(findings[0]?.nextAt).toBeGreaterThan(asOf);
  expect(await words(bundle, other)).toEqual(["flows"]);
  bundle.store(1).openFault = null;
  bundle.store(1).heal();
  await bundle.clock.advance(2 * limits.restartMsMax);
  expect(await words(bundle, queue)).not.toContain("shard_down");
});

test("store_full: reported while the disk has no room", async () => {
  const bundle = await setupQueue();
  bundle.store().fail({ fault: "full", sticky: true });
  const refused = await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["a"])));
  expect(refused.ending).toMatchObject({ ok: false, code: "store" });
  expect((await explain(bundle)).findings).toMatchObject([
    { kind: "store_full", since: start, count: 1 },
  ]);
});

test("store_full: ends when a busy shard finds room, even without later calls", async () => {
  const bundle = await setupQueue();
  bundle.store().fail({ fault: "full", sticky: true });
  const produce = () => bundle.begin(() => bundle.engine.produce(produceOf("orders", ["a"])));
  await produce();
  await bundle.clock.advance(second / 2);
  await produce();
  await bundle.clock.advance(second / 2);
  bundle.store().heal();
  // Refused, because the known state is a second old; the shard checks for room afterwards.
  expect((await produce()).ending).toMatchObject({ ok: false, code: "store" });
  await bundle.clock.advance(hour);
  expect(await words(bundle)).toEqual(["empty"]);
});

test("clearing: reports how many items are left, and of how many", async () => {
  const turnLimits = { ...limits, sweepItemsMax: 1 };
  const bundle = await setupQueue({}, { turnLimits });
  await bundle.produceMany("orders", 10);
  bundle.store().hold();
  const what = { ready: true, scheduled: false, retried: false, destructive: false };
  const cleared = await bundle.begin(() => bundle.engine.clear({ queue: "orders", ...what }));
  const seen: string[] = [];
  for (let round = 0; cleared.ending === null && round < 100; round += 1) {
    bundle.store().release();
    bundle.store().hold();
    await bundle.clock.settle();
    const { findings } = await explain(bundle);
    seen.push(...findings.map(({ text }) => text));
  }
  expect(seen[0]).toBe("A clear has 10 of 10 items still to remove.");
  expect(seen).toContain("A clear has 6 of 10 items still to remove.");
  bundle.store().release();
  await bundle.clock.settle();
  expect(await words(bundle)).toEqual(["empty"]);
});

test("leases_lapsing: counts the lapses of the last five minutes", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a", "b");
  await bundle.lease("orders", { batchSize: 2 });
  await bundle.clock.advance(minute);
  const lapsing = { kind: "leases_lapsing", since: start + minute, count: 2, nextAt: null };
  const { findings } = await explain(bundle);
  expect(findings.find(({ kind }) => kind === "leases_lapsing")).toMatchObject(lapsing);
  expect(findings.find(({ kind }) => kind === "leases_lapsing")?.text).toBe(
    "The lease of 2 items lapsed within the last five minutes, all of them held by client-1: consumers die, hang, or need longer than 1m0s.",
  );
  await bundle.clock.advance(5 * minute);
  expect(await words(bundle)).toEqual(["no_consumers", "no_consumers"]);
});

test.each([
  ["orders-dead", "1 item died within the last hour and went to orders-dead."],
  ["", "1 item died within the last hour and was removed because there is no dead queue."],
])(
  "dead_items: counts the dead items of the last hour, with the dead queue %j",
  async (deadQueue, text) => {
    const bundle = await setupQueue({ deadQueue, maxAttempts: 1 });
    await bundle.produce("orders", "a");
    await bundle.retry(await bundle.lease("orders"));
    const { findings } = await explain(bundle);
    expect(findings).toEqual([{ kind: "dead_items", since: start, count: 1, nextAt: null, text }]);
    await bundle.clock.advance(hour);
    expect(await words(bundle)).toEqual(["empty"]);
  },
);

test("leases_lapsing: names the client that held most of them, if it is known", async () => {
  const bundle = await setupQueue({ maxAttempts: 9 });
  await bundle.produceMany("orders", 6);
  const text = async () => {
    const { findings } = await explain(bundle);
    return findings.find(({ kind }) => kind === "leases_lapsing")?.text;
  };
  const lapsed = "lapsed within the last five minutes";
  const need = "consumers die, hang, or need longer than 1m0s.";
  await bundle.lease("orders", { clientId: "worker-9" });
  await bundle.clock.advance(minute);
  expect(await text()).toBe(`The lease of 1 item ${lapsed}, held by worker-9: ${need}`);
  await bundle.lease("orders", { clientId: "worker-9" });
  await bundle.lease("orders", { clientId: "worker-2" });
  await bundle.clock.advance(minute);
  expect(await text()).toBe(`The lease of 3 items ${lapsed}, 2 of them held by worker-9: ${need}`);
  await bundle.clock.advance(5 * minute);
  await bundle.lease("orders", { clientId: "worker-9" });
  // The holder is unknown after a restart.
  await bundle.restart();
  await bundle.clock.advance(minute);
  expect(await text()).toBe(`The lease of 1 item ${lapsed}: ${need}`);
});

test("dead_items: reports the most frequent reason, without the parts that differ", async () => {
  const bundle = await setupQueue({ deadQueue: "orders-dead", maxAttempts: 1 });
  const fail = async (reason?: string) => {
    await bundle.produce("orders", "a");
    const { partition, items } = await bundle.lease("orders");
    const about = { retryAt: null, dead: false, ...(reason !== undefined && { reason }) };
    const failed = items.map(({ id }) => ({ id, ...about }));
    await bundle.run(() => bundle.engine.retry({ queue: "orders", partition, items: failed }));
    return (await explain(bundle)).findings[0]?.text;
  };
  const died = "died within the last hour and";
  expect(await fail("order 7:\nno card")).toBe(
    `1 item ${died} went to orders-dead, with the reason 'order <n>: no card'.`,
  );
  expect(await fail("order 8: no card")).toBe(
    `2 items ${died} went to orders-dead, all of them with the reason 'order <n>: no card'.`,
  );
  await fail("late");
  expect(await fail()).toBe(
    `4 items ${died} went to orders-dead, 2 of them with the reason 'order <n>: no card'.`,
  );
  await bundle.clock.advance(hour);
  expect(await fail()).toBe(`1 item ${died} went to orders-dead.`);
  await bundle.clock.advance(hour);
  const cut = "x".repeat(limits.heavyHitterCharactersMax);
  expect(await fail("x".repeat(limits.retryReasonBytesMax))).toBe(
    `1 item ${died} went to orders-dead, with the reason '${cut}'.`,
  );
});

test("backlog_growing: rates above two items are given per second", async () => {
  const bundle = await setupQueue({ leaseTimeoutMs: hour });
  for (let count = 0; count < 6; count += 1) {
    await bundle.produceMany("orders", 250);
    await bundle.clock.advance(minute);
    await bundle.lease("orders");
  }
  expect((await explain(bundle)).findings[0]?.text).toBe(
    "The backlog grows by 4 per second: 1,245 items more are ready than five minutes ago.",
  );
});

test("backlog_growing: reported after five minutes with more arrivals than departures, unless the queue is paused", async () => {
  const bundle = await setupQueue({ leaseTimeoutMs: hour });
  for (let count = 0; count < 6; count += 1) {
    expect(await words(bundle)).not.toContain("backlog_growing");
    await bundle.produceMany("orders", 20);
    await bundle.clock.advance(minute);
    await bundle.lease("orders");
  }
  const { findings } = await explain(bundle);
  expect(findings).toMatchObject([{ kind: "backlog_growing", count: 95 }]);
  expect(findings[0]?.text).toBe(
    "The backlog grows by 19 per minute: 95 items more are ready than five minutes ago.",
  );
  await bundle.run(() => bundle.engine.pause({ queue: "orders" }));
  expect(await words(bundle)).not.toContain("backlog_growing");
});

test("explain: the worst finding comes first, and determines the health", async () => {
  const bundle = await setupQueue({ maxAttempts: 1 });
  await bundle.produce("orders", "a", "b");
  await bundle.retry(await bundle.lease("orders"));
  await bundle.run(() => bundle.engine.pause({ queue: "orders" }));
  await bundle.clock.advance(minute);
  expect(await words(bundle)).toEqual(["dead_items", "dead_items", "paused"]);
});

test("no_consumers: not reported for a queue whose leases are paused, nor right after the pause", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a");
  await bundle.run(() => bundle.engine.pause({ queue: "orders" }));
  await bundle.clock.advance(hour);
  expect(await words(bundle)).toEqual(["paused", "paused"]);
  await bundle.run(() => bundle.engine.resume("orders"));
  await bundle.clock.advance(10 * second - 1);
  expect(await words(bundle)).toEqual(["flows"]);
  await bundle.clock.advance(1);
  expect((await explain(bundle)).findings).toMatchObject([{ kind: "no_consumers", since: start }]);
});
