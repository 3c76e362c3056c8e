// No turn reads without bound, however many calls there are and however large their items.

import { expect, test } from "bun:test";
import { openMemoryStore } from "../stores/memory/store.ts";
import type { ReadResult, Store } from "../stores/store.ts";
import { limits } from "./model/limits.ts";
import { Bundle, hour, type SetupOptions } from "./simulation/bundle.ts";

interface Reading {
  readonly pages: number;
  readonly payloadBytes: number;
}

/** An engine with a queue, recording the items that each turn reads. */
async function setupReads(options: SetupOptions = {}) {
  const readings: Reading[] = [];
  const bundle = new Bundle({
    ...options,
    async openStore() {
      const backend = openMemoryStore({ tag: "0123456789Ab" });
      const { store } = backend;
      const read: Store["read"] = async (plan) => {
        const readResult = await store.read(plan);
        readings.push({ pages: plan.items.length, payloadBytes: payloadBytesOf(readResult) });
        return readResult;
      };
      return { ...backend, store: { ...bound(store), read } };
    },
  });
  await bundle.open();
  await bundle.createQueue({ name: "orders", expireTimeoutMs: hour, requestedPartitions: 40 });
  return {
    bundle,
    /** The maximum since the last call. */
    largest: (of: keyof Reading) => Math.max(0, ...readings.splice(0).map((one) => one[of])),
  };
}

/** The methods of a store, bound to it. */
function bound(store: Store): Store {
  return {
    load: (what) => store.load(what),
    read: (plan) => store.read(plan),
    commit: (changes) => store.commit(changes),
    close: () => store.close(),
  };
}

function payloadBytesOf({ heads, items }: ReadResult): number {
  const pages = [...heads.values(), ...items.values()];
  return pages.flatMap(({ found }) => found).reduce((sum, { payload }) => sum + payload.length, 0);
}

/** A turn takes what has arrived: at most two messages of this weight. */
const weighed = 2 * limits.turnWeightMax * limits.weightBytes;
const count = 100;

function together<T>(bundle: Bundle, call: (index: number) => Promise<T>): Promise<T[]> {
  return bundle.run(() => Promise.all(Array.from({ length: count }, (_, index) => call(index))));
}

test("get, list: many large payloads at once are read a few at a time", async () => {
  const { bundle, largest } = await setupReads();
  await bundle.produce("orders", "a");
  const list = { queue: "orders", partition: 0, pivot: "", limit: 1 };
  const [item] = await bundle.run(() => bundle.engine.listItems(list));
  largest("pages");
  await together(bundle, () => bundle.engine.getItem(item?.id ?? ""));
  expect(largest("pages")).toBeLessThanOrEqual(weighed / limits.turnBytesMax + 2);
  await together(bundle, () => bundle.engine.listItems(list));
  expect(largest("pages")).toBeLessThanOrEqual(weighed / limits.storageListBytesMax + 2);
});

test("lease: many repeated leases are read a few at a time", async () => {
  const { bundle, largest } = await setupReads();
  await bundle.produceMany("orders", count);
  const lease = (index: number) =>
    bundle.engine.lease(
      bundle.leaseOf("orders", { clientId: `client-${index}`, requestKey: `key-${index}` }),
    );
  const first = await together(bundle, lease);
  largest("pages");
  const again = await together(bundle, lease);
  expect(again.map(({ items }) => items)).toEqual(first.map(({ items }) => items));
  expect(largest("pages")).toBeLessThanOrEqual(weighed / limits.turnBytesMax + 2);
});

test("expiry: the heads of many partitions share the bytes of a turn", async () => {
  const turnBytesMax = 64_000;
  const payload = "x".repeat(2_000);
  const options = { turnLimits: { ...limits, turnBytesMax } };
  const { bundle, largest } = await setupReads(options);
  for (let call = 0; call < 40; call += 1) {
    await bundle.produce("orders", ...Array.from({ length: 50 }, () => payload));
  }
  largest("payloadBytes");
  await bundle.clock.advance(hour);
  expect(bundle.engine.status().queues[0]).toMatchObject({ queued: 0 });
  // One more item per partition that a turn reads, because a page ends with the item that fills it.
  expect(largest("payloadBytes")).toBeLessThanOrEqual(turnBytesMax + 16 * payload.length);
});

test("list: below the mark of a clear, a page of leased items has its usual bound", async () => {
  const { bundle, largest } = await setupReads({ turnLimits: { ...limits, sweepItemsMax: 1 } });
  const pageBytes = limits.storageListBytesMax;
  await bundle.createQueue({ name: "large", leaseTimeoutMs: hour });
  const payload = "x".repeat(4_000_000);
  const leased = Math.ceil((2 * pageBytes) / payload.length);
  for (let index = 0; index < leased; index += 1) {
    await bundle.produce("large", payload);
    await bundle.lease("large");
  }
  await bundle.produceMany("large", 100);
  const listed: string[] = [];
  await bundle.run(async () => {
    const clear = { ready: true, scheduled: false, retried: false, destructive: false };
    const cleared = bundle.engine.clear({ queue: "large", ...clear });
    // The clear begins with the turn of this call.
    await bundle.engine.listItems({ queue: "large", partition: 0, pivot: "", limit: 1 });
    largest("payloadBytes");
    let pivot = "";
    for (;;) {
      const list = { queue: "large", partition: 0, pivot, limit: leased };
      const page = (await bundle.engine.listItems(list)).filter(({ id }) => id !== pivot);
      if (page.length === 0) break;
      listed.push(...page.map(({ id }) => id));
      pivot = listed.at(-1) ?? "";
    }
    await cleared;
  });
  expect(new Set(listed).size).toBe(leased);
  expect(largest("payloadBytes")).toBeLessThanOrEqual(pageBytes + payload.length);
});
