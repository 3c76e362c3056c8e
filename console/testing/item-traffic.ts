// Items in every state, and some that died, for tests of the pages that show them.

import type { ConsoleServer } from "./console-server.ts";

const orders = 12;
const manyDead = 993;

/** `orders` has ready, leased and scheduled items, and `orders-dead` has the items that died there. */
export async function addTraffic(server: ConsoleServer): Promise<void> {
  const { client } = server;
  await client.queue("orders-dead").create({ lease_timeout: "1h", expire_timeout: "10d" });
  const queue = client.queue("orders");
  await queue.create({
    lease_timeout: "1h",
    expire_timeout: "1d",
    max_attempts: 5,
    dead_queue: "orders-dead",
  });
  await queue.produce(Array.from({ length: orders }, (_, at) => order(at)));
  await giveUp(server, 3, "card_declined: order 7");
  await giveUp(server, 2, "card_declined: order 8");
  await giveUp(server, 2, "");
  await queue.lease({ batch: 2, clientId: "worker-3" });
  const enqueue_at = new Date(Date.now() + 3_600_000).toISOString();
  await queue.produce([0, 1, 2].map((at) => ({ ...order(at), kind: "later", enqueue_at })));
}

/** Enough dead items that a redrive of one per second runs for the whole test. */
export async function addManyDead({ client }: ConsoleServer): Promise<void> {
  await client.queue("orders-dead").produce(Array.from({ length: manyDead }, () => "later"));
}

/** All dead items by then: 1,000. */
export async function addSlowRedrive(server: ConsoleServer): Promise<void> {
  await addManyDead(server);
  const redrive = { filter: {}, to_queue: "orders", per_second: 1 };
  await server.client.queue("orders-dead").redrive(redrive);
}

function order(at: number) {
  return {
    utf8: `{"order":${9_007_199_254_740 + at},"account":"account-${at}"}`,
    kind: at % 2 === 0 ? "order-placed" : "order-paid",
    reference: `account-${at}`,
    encoding: "application/json",
  };
}

async function giveUp({ client }: ConsoleServer, batch: number, reason: string): Promise<void> {
  const lease = await client.lease({
    queue_name: "orders",
    batch_size: batch,
    client_id: "worker-9",
  });
  await client.retry({
    queue_name: "orders",
    partition: lease.partition,
    items: lease.items.map(({ id }) => ({ id, dead: true, ...(reason !== "" && { reason }) })),
  });
}

export const longGroup = "a-group-of-a-very-long-name/".repeat(9);

/**
 * `tenants` has groups, one item of each leased at most: a dead letter closed `a`, `b` is at its limit,
 * `c` is paused, then one without a name, one with a long name, and as many as asked for.
 */
export async function addGroups({ client }: ConsoleServer, more = 0): Promise<void> {
  const timeouts = { lease_timeout: "1h", expire_timeout: "10d" };
  await client.queue("tenants-dead").create(timeouts);
  const queue = client.queue("tenants");
  const rules = { grouped: true, group_leased_max: 1, group_on_dead: "block" };
  await queue.create({ ...timeouts, ...rules, dead_queue: "tenants-dead" });
  await queue.setGroup("c", { paused: true });
  await queue.produce(["a", "a", "b", "b"].map((group) => ({ utf8: "{}", group })));
  const lease = await queue.lease({ batch: 2, clientId: "worker-3" });
  const died = lease?.items.filter(({ group }) => group === "a") ?? [];
  await lease?.retry(died, { dead: true });
  const others = Array.from({ length: more }, (_, at) => `t-${String(at).padStart(5, "0")}`);
  await queue.produce(["c", "", longGroup, ...others].map((group) => ({ utf8: "{}", group })));
}
