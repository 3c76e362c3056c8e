// The whole life of many items over real sockets, with several partitions and consumers. Some
// consumers retry, forget or reject their items. Then the same with the server killed in the
// middle. At the end every acknowledged item has been completed once, or is in the dead queue once.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Connection } from "../../../testing/http-client.ts";
import { type ServerProcess, startServer } from "../../../testing/server-process.ts";

const itemCount = 5_000;
const consumerCount = 32;
const producerCount = 8;
const batchSize = 50;

interface Body {
  readonly [key: string]: unknown;
}

/** The clients' own record of their calls. */
interface Witness {
  /** Payloads of produces that were answered 200. */
  readonly acknowledged: Set<string>;
  /** Payloads of completes that were answered 200. */
  readonly completed: Map<string, number>;
  /** Payloads of completes whose answer was lost. */
  readonly maybeCompleted: Set<string>;
  /** Payloads sent to the dead queue on purpose. */
  readonly rejected: Set<string>;
  lapsed: number;
  retried: number;
}

/** A client that reconnects after a restart of the server. */
class Client {
  readonly #port: () => number;
  #connection: Connection | null = null;

  constructor(port: () => number) {
    this.#port = port;
  }

  /** `null` when the connection was lost, and with it the answer. */
  async call(path: string, body: Body): Promise<{ status: number; body: Body } | null> {
    try {
      this.#connection ??= await Connection.open(this.#port());
      const reply = await this.#connection.post(path, JSON.stringify(body));
      return { status: reply.status, body: JSON.parse(reply.body) as Body };
    } catch {
      this.#connection?.close();
      this.#connection = null;
      await Bun.sleep(20);
      return null;
    }
  }

  close(): void {
    this.#connection?.close();
  }
}

async function produceAll(
  client: Client,
  witness: Witness,
  payloads: readonly string[],
): Promise<void> {
  for (let start = 0; start < payloads.length; start += batchSize) {
    const batch = payloads.slice(start, start + batchSize);
    const items = batch.map((utf8) => ({ utf8, kind: "order", reference: utf8 }));
    const reply = await client.call("/v1/queue.produce", {
      queue_name: "orders",
      request_timeout: "1m",
      items,
    });
    // After a lost answer the outcome is unknown: the items are neither repeated nor expected.
    if (reply?.status === 200) for (const payload of batch) witness.acknowledged.add(payload);
  }
  client.close();
}

/** True for one of `times` items, by the number in the payload. */
function oneIn(times: number, payload: string): boolean {
  return Number(payload.split("-")[1]) % times === times - 1;
}

interface Leased {
  readonly id: string;
  readonly bytes: string;
  readonly attempts: number;
}

async function consume(
  client: Client,
  witness: Witness,
  name: string,
  isDone: () => boolean,
): Promise<void> {
  while (!isDone()) {
    const lease = await client.call("/v1/queue.lease", {
      queue_name: "orders",
      client_id: name,
      request_timeout: "300ms",
      batch_size: batchSize,
    });
    if (lease?.status !== 200) continue;
    const { partition } = lease.body;
    const complete: Leased[] = [];
    const retry: Body[] = [];
    const rejected: string[] = [];
    for (const item of lease.body["items"] as Leased[]) {
      const payload = atob(item.bytes);
      const isFirst = item.attempts === 1;
      if (oneIn(200, payload)) {
        retry.push({ id: item.id, dead: true });
        rejected.push(payload);
      } else if (isFirst && oneIn(100, payload)) witness.lapsed += 1;
      else if (isFirst && oneIn(50, payload)) {
        retry.push({ id: item.id });
        witness.retried += 1;
      } else complete.push(item);
    }
    if (retry.length > 0) {
      const reply = await client.call("/v1/queue.retry", {
        queue_name: "orders",
        partition,
        items: retry,
      });
      if (reply?.status === 200) for (const payload of rejected) witness.rejected.add(payload);
    }
    if (complete.length === 0) continue;
    const reply = await client.call("/v1/queue.complete", {
      queue_name: "orders",
      partition,
      request_timeout: "1m",
      ids: complete.map(({ id }) => id),
    });
    for (const { bytes } of complete) {
      const payload = atob(bytes);
      if (reply === null) witness.maybeCompleted.add(payload);
      else if (reply.status === 200) {
        witness.completed.set(payload, (witness.completed.get(payload) ?? 0) + 1);
      }
    }
  }
  client.close();
}

async function deadPayloads(client: Client): Promise<string[]> {
  const payloads: string[] = [];
  for (let pivot = ""; ; ) {
    const reply = await client.call("/v1/storage/items.list", {
      queue_name: "dead",
      partition: 0,
      pivot,
      limit: 20_000,
    });
    const items = (reply?.body["items"] ?? []) as { id: string; payload: string }[];
    // A page starts with its pivot, which the previous page contained.
    for (const item of items) if (item.id !== pivot) payloads.push(atob(item.payload));
    const last = items.at(-1)?.id;
    if (last === undefined || last === pivot) return payloads;
    pivot = last;
  }
}

async function lifecycle(kills: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-lifecycle-"));
  const options = { data: join(directory, "data"), flags: ["--log-level", "error"] };
  let server: ServerProcess = await startServer(options);
  const port = (): number => server.port;
  const witness: Witness = {
    acknowledged: new Set(),
    completed: new Map(),
    maybeCompleted: new Set(),
    rejected: new Set(),
    lapsed: 0,
    retried: 0,
  };
  try {
    const admin = new Client(port);
    const common = { expire_timeout: "24h", max_attempts: 0 };
    const settings = [
      { queue_name: "dead", lease_timeout: "60m", requested_partitions: 1, ...common },
      {
        queue_name: "orders",
        lease_timeout: "1s",
        requested_partitions: 4,
        dead_queue: "dead",
        ...common,
      },
    ];
    for (const one of settings)
      expect((await admin.call("/v1/queues.create", one))?.status).toBe(200);

    const payloads = Array.from({ length: itemCount }, (_, index) => `item-${index}`);
    const share = Math.ceil(itemCount / producerCount);
    const producers = Array.from({ length: producerCount }, (_, index) =>
      produceAll(new Client(port), witness, payloads.slice(index * share, (index + 1) * share)),
    );
    let producing = true;
    const produced = Promise.all(producers).then(() => {
      producing = false;
    });
    let drained = false;
    const consumers = Array.from({ length: consumerCount }, (_, index) =>
      consume(new Client(port), witness, `consumer-${index}`, () => drained),
    );
    for (let kill = 0; kill < kills; kill += 1) {
      const seen = witness.completed.size;
      const goal = seen + itemCount / (kills + 2);
      // After lost answers there may be too few items to reach the goal.
      const enough = (): number => {
        const { acknowledged, maybeCompleted, rejected } = witness;
        const sure = acknowledged.size - maybeCompleted.size - rejected.size;
        return producing ? goal : Math.min(goal, 0.9 * sure);
      };
      while (witness.completed.size < enough()) await Bun.sleep(5);
      await server.stop("SIGKILL");
      server = await startServer({ ...options, port: 0 });
    }
    await produced;
    for (let left = 1; left > 0; ) {
      await Bun.sleep(100);
      const reply = await admin.call("/v1/queue.inspect", { queue_name: "orders" });
      const stats = await admin.call("/v1/queue.stats", { queue_name: "orders" });
      if (reply?.status !== 200 || stats?.status !== 200) continue;
      const [logical] = stats.body["logical_queues"] as {
        partitions: { total: number; scheduled: number }[];
      }[];
      left = (logical?.partitions ?? []).reduce(
        (sum, { total, scheduled }) => sum + total + scheduled,
        0,
      );
    }
    drained = true;
    await Promise.all(consumers);

    // Items that died in another shard may still be in transit.
    let dead = await deadPayloads(admin);
    const isThere = () => {
      const there = new Set([...dead, ...witness.completed.keys(), ...witness.maybeCompleted]);
      return witness.acknowledged.isSubsetOf(there);
    };
    for (let looks = 0; looks < 1_000 && !isThere(); looks += 1) {
      await Bun.sleep(100);
      dead = await deadPayloads(admin);
    }
    admin.close();
    expect(new Set(dead).size).toBe(dead.length);
    const deadSet = new Set(dead);
    for (const payload of witness.rejected) expect(deadSet.has(payload)).toBe(true);
    const lost: string[] = [];
    const twice: string[] = [];
    for (const payload of witness.acknowledged) {
      const times = (witness.completed.get(payload) ?? 0) + (deadSet.has(payload) ? 1 : 0);
      if (times === 0 && !witness.maybeCompleted.has(payload)) lost.push(payload);
      if (times > 1) twice.push(payload);
    }
    expect({ lost, twice }).toEqual({ lost: [], twice: [] });
    expect(witness.retried).toBeGreaterThan(0);
    expect(witness.lapsed).toBeGreaterThan(0);
    expect(dead.length).toBeGreaterThan(0);
    if (kills === 0) expect(witness.completed.size + dead.length).toBe(itemCount);
  } finally {
    await server.stop("SIGKILL");
    rmSync(directory, { recursive: true, force: true });
  }
}

test("lifecycle: each acknowledged item is completed once or in the dead queue once", () =>
  lifecycle(0));

test("lifecycle: each acknowledged item is completed or dead once, across a kill -9", () =>
  lifecycle(3));
