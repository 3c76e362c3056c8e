// Traffic of a shop for pictures: queues that flow, one without consumers, one with a growing backlog, one
// whose items die for three reasons, and some that wait.

import type { Client } from "../../client/client.ts";
import { seededRandom } from "../../engine/simulation/seeded-random.ts";

const stepMs = 10_000;
const steps = 90;
/** Items of one lease that is not completed yet. */
const heldMax = 6;
const random = seededRandom(42);

interface Line {
  readonly name: string;
  readonly kind: string;
  /** Items a step. */
  readonly produced: number;
  readonly completed: number;
  /** One in so many is given up; 0 = none. */
  readonly deadIn?: number;
  /** One in so many is scheduled; 0 = none. */
  readonly laterIn?: number;
  readonly partitions?: number;
}

const lines: readonly Line[] = [
  {
    ...{ name: "orders", kind: "order-placed", produced: 240, completed: 240 },
    ...{ deadIn: 40, laterIn: 12, partitions: 24 },
  },
  { name: "webhooks", kind: "webhook", produced: 320, completed: 290, laterIn: 30 },
  { name: "emails", kind: "email", produced: 40, completed: 0 },
  { name: "payments", kind: "charge", produced: 60, completed: 60 },
  { name: "search-index", kind: "document", produced: 180, completed: 180 },
  { name: "tenant-0485/exports", kind: "export", produced: 6, completed: 6, laterIn: 2 },
  { name: "tenant-0097/exports", kind: "export", produced: 4, completed: 4 },
];

const reasons = [
  (order: number) => `card_declined: order ${order}`,
  (order: number) => `no such account ${order}`,
  () => "gateway timeout 504 after 3021 ms",
];

/** A quarter of an hour. */
export async function traffic(client: Client): Promise<void> {
  const expiring = { expire_timeout: "7d" };
  await client.queue("orders-dead").create({ lease_timeout: "5m", ...expiring });
  for (const { name, deadIn = 0, partitions = 1 } of lines) {
    const parts = { requested_partitions: partitions };
    const dead = deadIn > 0 ? { dead_queue: `${name}-dead` } : {};
    await client
      .queue(name)
      .create({ lease_timeout: "10m", ...expiring, max_attempts: 5, ...dead, ...parts });
  }
  await client.queue("invoices").create({ lease_timeout: "5m", ...expiring });
  // The calls of a step are then within one point of the charts, as are those of single seconds.
  const pastMs = Date.parse((await client.overview({})).now) % stepMs;
  await client.advance({ by: `${stepMs - pastMs + 100}ms` });
  for (let step = 0; step < steps; step += 1) {
    for (const line of lines) await flow(client, line, step);
    if (step === 40) await pauseInvoices(client);
    await client.advance({ by: `${stepMs / 1_000}s` });
  }
}

/** These wait until it is resumed. */
async function pauseInvoices(client: Client): Promise<void> {
  const invoices = client.queue("invoices");
  await invoices.produce(Array.from({ length: 64 }, () => ({ utf8: "{}", kind: "invoice" })));
  await invoices.pause({ reason: "moving to the new database" });
}

/** The last ten seconds before the picture; consumers still hold their last items. */
export async function lastTraffic(client: Client): Promise<void> {
  for (const line of lines) await flow(client, line, steps);
  await client.advance({ by: `${stepMs / 1_000}s` });
}

/** One second at a time while the picture is taken: a chart would show a longer step as a jump. */
export async function secondOfTraffic(client: Client): Promise<void> {
  const part = stepMs / 1_000;
  for (const line of lines) {
    const { produced, completed } = line;
    await flow(client, { ...line, produced: produced / part, completed: completed / part }, 0);
  }
  await client.advance({ by: "1s" });
}

async function flow(client: Client, line: Line, step: number): Promise<void> {
  const { name, kind, produced, completed, deadIn = 0, laterIn = 0 } = line;
  const queue = client.queue(name);
  const swing = 1 + 0.25 * Math.sin(step / 9) + random.below(20) / 100;
  const items = Array.from({ length: Math.round(produced * swing) }, (_, index) => {
    const order = step * 1_000 + index;
    const isLater = laterIn > 0 && random.below(laterIn) === 0;
    const payload = {
      order: 9_007_199_254_000_000 + order,
      account: `account-${order}`,
      total: { amount: "298.00", currency: "EUR" },
    };
    return {
      ...{ kind, reference: `account-${1_000 + random.below(9_000)}`, json: payload },
      ...(isLater && { enqueue_at: later(step) }),
    };
  });
  if (items.length > 0) await queue.produce(items);
  const { queued } = await queue.inspect();
  const [done, deadOnes] = [Math.round(completed * swing), deadIn];
  const held = step === steps ? Math.ceil(done / 8) : 0;
  for (let left = held; left > 0; ) {
    const lease = await queue.lease({
      batch: Math.min(left, heldMax),
      clientId: `worker-${random.below(9)}`,
    });
    if (lease === null) return;
    left -= lease.items.length;
  }
  for (let left = Math.min(done, queued) - held; left > 0; ) {
    const clientId = `worker-${random.below(9)}`;
    const lease = await queue.lease({ batch: Math.min(left, 100), clientId });
    if (lease === null) return;
    left -= lease.items.length;
    const given = lease.items.filter(() => deadOnes > 0 && random.below(deadOnes) === 0);
    for (const item of given) {
      const reason = reasons[random.below(reasons.length)]?.(random.below(90_000)) ?? "";
      await lease.retry([item], { dead: true, reason });
    }
    const rest = lease.items.filter((item) => !given.includes(item));
    if (rest.length > 0) await lease.complete(rest);
  }
}

function later(step: number): Date {
  return new Date(Date.now() + (step + 1 + random.below(400)) * stepMs);
}
