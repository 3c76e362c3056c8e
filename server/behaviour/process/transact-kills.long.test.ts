// The real server is killed repeatedly while workers finish items and produce others in one
// transact. In the end each input was finished once, and each of its outputs exists once.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "../../../client/client.ts";
import { HoldfastError } from "../../../client/errors.ts";
import { freePort } from "../../../testing/child-server.ts";
import { startServer } from "../../../testing/server-process.ts";

const inputs = 400;
const kills = 6;
/**
 * Of three shards, the names place the second queue in the shard of `orders`, the first elsewhere.
 */
const outputs = ["invoices", "{orders}-mails"];

function scratch() {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-transacts-"));
  return {
    data: join(directory, "data"),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Leases a few items and transacts them in one call, until no item is left. */
async function work(client: Client, done: (texts: readonly string[]) => void): Promise<void> {
  const orders = client.queue("orders");
  for (;;) {
    try {
      const lease = await orders.lease({ batch: 3, timeoutMs: 500 });
      if (lease === null) {
        if (await isDrained(client)) return;
        continue;
      }
      const texts = lease.items.map((item) => item.text());
      await client.transact((t) => {
        t.complete(lease);
        for (const queue of outputs) t.produce(queue, texts);
      });
      done(texts);
    } catch (error) {
      // The server was down, or another worker has leased the items since.
      if (!(error instanceof HoldfastError)) throw error;
    }
  }
}

async function isDrained(client: Client): Promise<boolean> {
  const { logical_queues: lines } = await client.stats({ queue_name: "orders" });
  return lines.every(({ partitions }) =>
    partitions.every(({ total, scheduled }) => total + scheduled === 0),
  );
}

/** Waits for an output of every input: they may arrive from another shard. */
async function textsOf(client: Client, queue: string): Promise<string[]> {
  for (;;) {
    const found = client.queue(queue).find({ payload_head: 9, limit: 1_000 });
    const texts = (await Array.fromAsync(found)).map(({ payload }) => atob(payload));
    if (texts.length >= inputs) return texts;
  }
}

test("transact: under kills each input is finished once, and each of its outputs exists once", async () => {
  using files = scratch();
  const port = freePort();
  const options = { data: files.data, port, flags: ["--shards", "3", "--threads", "3"] };
  let server = await startServer(options);
  try {
    const url = `http://127.0.0.1:${port}`;
    const pace = { baseMs: 5, capMs: 50 };
    const client = createClient({ url, pace });
    const settings = { lease_timeout: "2s", expire_timeout: "24h" };
    await client.queue("orders").create({ ...settings, requested_partitions: 3 });
    for (const queue of outputs) await client.queue(queue).create(settings);
    const numbers = Array.from({ length: inputs }, (_, index) => `${index}`);
    for (let at = 0; at < inputs; at += 20) {
      await client.queue("orders").produce(numbers.slice(at, at + 20));
    }
    let count = 0;
    // With keys a client learns the outcome of a repeated call; without, the item may be leased
    // again.
    const workers = [true, true, false, false].map((keys) =>
      work(createClient({ url, pace, keys }), (texts) => {
        count += texts.length;
      }),
    );
    for (let kill = 1; kill <= kills; kill += 1) {
      while (count < (kill * inputs) / (kills + 2)) await Bun.sleep(1);
      await server.stop("SIGKILL");
      server = await startServer(options);
    }
    await Promise.all(workers);
    const sorted = numbers.toSorted();
    for (const queue of outputs) {
      expect([queue, (await textsOf(client, queue)).toSorted()]).toEqual([queue, sorted]);
    }
    expect(await client.queue("orders").inspect()).toMatchObject({ queued: 0, retried: 0 });
  } finally {
    await server.stop("SIGKILL");
  }
});
