// `bun bench/dead-orders.ts [--url http://localhost:9090] [--items 1000000]`: fills a dead queue for
// content/docs/find-and-redrive.mdx. A worker fails on one order in 50, for three reasons; only the
// orders that fail are produced.

import { parseArgs } from "node:util";
import { type Client, createClient } from "../client/client.ts";
import type { LeaseReply } from "../client/wire.ts";

const batch = 1_000;
const failsOf = 50;
/** One failure in this many has a reason that appears late. */
const rareOf = 19;
const rareFrom = 0.7036;
const timeouts = { lease_timeout: "1m", expire_timeout: "24h" };

/** Why the worker fails on an order. */
function reasonOf(order: number, items: number): string {
  const failure = order / failsOf;
  const rare = Math.ceil((items / failsOf) * rareFrom);
  if (failure >= rare && (failure - rare) % rareOf === 0) return `order ${order}: no such account`;
  const id = Bun.hash(String(order)).toString(16).padStart(16, "0");
  return failure % 3 === 0
    ? `payments timed out after ${30 + (failure % 5)}s`
    : `card declined; charge ch_${id}`;
}

async function produce(client: Client, count: number): Promise<void> {
  for (let from = 0; from < count; from += batch) {
    const orders = Array.from({ length: Math.min(batch, count - from) }, (_, index) => {
      const order = (from + index) * failsOf;
      const payload = { order, account: `a-${order % 9_973}` };
      return { utf8: JSON.stringify(payload), kind: "charge" };
    });
    await client.produce({ queue_name: "orders", items: orders });
  }
}

async function failAll(client: Client, count: number, items: number): Promise<void> {
  for (let failed = 0; failed < count; ) {
    const lease: LeaseReply = await client.lease({
      ...{ queue_name: "orders", client_id: "worker", batch_size: batch },
    });
    await client.retry({
      ...{ queue_name: "orders", partition: lease.partition },
      items: lease.items.map(({ id, bytes }) => ({
        id,
        reason: reasonOf(JSON.parse(atob(bytes)).order, items),
      })),
    });
    failed += lease.items.length;
  }
}

async function fill(client: Client, items: number): Promise<void> {
  await client.createQueue({ queue_name: "orders-dead", ...timeouts });
  const orders = { queue_name: "orders", ...timeouts, max_attempts: 1 };
  await client.createQueue({ ...orders, dead_queue: "orders-dead" });
  const count = Math.ceil(items / failsOf);
  await produce(client, count);
  await failAll(client, count, items);
}

const { values } = parseArgs({
  options: {
    items: { type: "string", default: "1000000" },
    url: { type: "string", default: "http://localhost:9090" },
  },
});
await fill(createClient({ url: values.url }), Number(values.items));
