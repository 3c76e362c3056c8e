// A server with four keys for pictures, with their rights and recorded actions.

import type { Client } from "../../client/client.ts";

type KeyOf = (name: string) => string;

const rights: Readonly<Record<string, readonly string[]>> = {
  ops: ["role=admin"],
  checkout: ["role=produce queues=orders,payments"],
  workers: ["role=consume queues=*", "role=produce queues=emails"],
  dashboard: ["role=read"],
};

/** What is in the file of keys. */
export function keyLines(keyOf: KeyOf): string {
  const lines = Object.entries(rights).flatMap(([name, of]) => {
    const digest = new Bun.CryptoHasher("sha256").update(keyOf(name)).digest("hex");
    return of.map((each) => `${digest} ${each} ${name}\n`);
  });
  return lines.join("");
}

/** `as`: the client of a key. */
export async function keyTraffic(as: (name: string) => Client): Promise<void> {
  const client = as("ops");
  const settings = { lease_timeout: "5m", expire_timeout: "7d" };
  await client.queue("orders-dead").create(settings);
  for (const name of ["orders", "payments"]) {
    await client.queue(name).create({ ...settings, max_attempts: 5, dead_queue: "orders-dead" });
  }
  await client.queue("emails").create(settings);
  const orders = Array.from({ length: 40 }, (_, at) => ({ utf8: `{"order":${at}}` }));
  await as("checkout").queue("orders").produce(orders);
  const lease = await as("workers").queue("orders").lease({ batch: 12, clientId: "worker-3" });
  if (lease !== null) {
    await lease.retry(lease.items, { dead: true, reason: "card_declined" });
  }
  await client.queue("payments").pause({ reason: "the bank is being called" });
  await refused(as("checkout").queue("emails").produce("one"));
  await refused(as("dashboard").queue("orders").clear({ queue: true }));
  await refused(as("dashboard").queue("orders").delete());
  await client.queue("orders").update({ max_attempts: 8 });
  await client.redrive({ queue_name: "orders-dead", filter: { reason: "card_declined" } });
  await client.queue("payments").resume();
}

async function refused(call: Promise<unknown>): Promise<void> {
  const isDone = await call.then(
    () => true,
    () => false,
  );
  if (isDone) throw new Error("a call was to be refused, and was done");
}
