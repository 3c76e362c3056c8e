// Transactions with a real server: of a program, and of a worker's handler for its item.

import { expect, test } from "bun:test";
import { listeningApp } from "../server/testing/listening-app.ts";
import { type ClientOptions, createClient } from "./client.ts";
import { InvalidRequest, RequestFailed } from "./errors.ts";
import type { Lease } from "./lease.ts";
import type { WorkerNotice } from "./notice.ts";
import type { Queue } from "./queue.ts";
import { settled, stillTime } from "./testing/still-time.ts";

type Fetch = NonNullable<ClientOptions["fetch"]>;

const settings = { lease_timeout: "1m", expire_timeout: "1h", dead_queue: "dead" };

async function setup(options: ClientOptions = {}) {
  const server = await listeningApp();
  const client = createClient({ url: server.url, pace: { baseMs: 1, capMs: 1 }, ...options });
  const { dead_queue: _, ...plain } = settings;
  const names = ["orders", "invoices", "mails"];
  await client.queue("dead").create(plain);
  for (const name of names) await client.queue(name).create(settings);
  const [orders, invoices, mails] = names.map((name) => client.queue(name)) as [
    Queue,
    Queue,
    Queue,
  ];
  const notices: WorkerNotice[] = [];
  const quiet = {
    notice: (notice: WorkerNotice) => void notices.push(notice),
    processSignals: [],
  };
  return {
    ...{ client, orders, invoices, mails, notices, quiet },
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

async function leased(queue: Queue, ...texts: string[]): Promise<Lease> {
  await queue.produce(texts);
  const lease = await queue.lease({ batch: texts.length });
  if (lease === null) throw new Error("nothing was leased");
  return lease;
}

const textsOf = async (queue: Queue, count: number): Promise<string[]> =>
  (await queue.lease({ batch: count }))?.items.map((item) => item.text()) ?? [];

test("transact: completes a lease and produces its results in one call", async () => {
  const calls: string[] = [];
  const fetch: Fetch = (url, init) => {
    calls.push(url.slice(url.lastIndexOf(".") + 1));
    return globalThis.fetch(url, init);
  };
  await using at = await setup({ fetch });
  const lease = await leased(at.orders, "a", "b");
  calls.length = 0;
  const { produced } = await at.orders.transact((t) => {
    t.complete(lease);
    t.produce("invoices", [{ json: { order: 1 } }, "text"]);
    t.produce(at.mails, "thanks");
    t.produce("invoices", new Uint8Array([0x62]));
  });
  expect(calls).toEqual(["transact"]);
  const delivered = { partition: 0, delivered: true };
  expect(produced).toEqual([
    { queue_name: "invoices", ...delivered },
    { queue_name: "mails", ...delivered },
  ]);
  expect(await textsOf(at.invoices, 5)).toEqual(['{"order":1}', "text", "b"]);
  expect(await textsOf(at.mails, 5)).toEqual(["thanks"]);
  // The lease has no unfinished items.
  expect(await lease.complete()).toEqual({});
  expect(await at.orders.inspect()).toMatchObject({ queued: 0 });
});

test("transact: finishes items of several leases; the others stay with their lease", async () => {
  await using at = await setup();
  const lease = await leased(at.orders, "a", "b", "c", "d");
  const other = await leased(at.mails, "m");
  const [a, b, c] = lease.items;
  if (a === undefined || b === undefined || c === undefined) throw new Error("too few were leased");
  await at.client.transact(async (t) => {
    await Promise.resolve();
    t.complete([a, ...other.items]);
    t.retry(b, { at: new Date(Date.now() + 3_600_000) });
    t.retry(c, { dead: true });
  });
  expect(await at.orders.inspect()).toMatchObject({ retried: 1, dead_letter: 1 });
  expect(await lease.complete()).toEqual({});
  expect(await at.orders.inspect()).toMatchObject({ queued: 0, retried: 1 });
});

test("transact: one invalid item refuses everything, and the lease keeps its items", async () => {
  await using at = await setup();
  const lease = await leased(at.orders, "a", "b");
  const [a] = lease.items;
  if (a === undefined) throw new Error("nothing was leased");
  await lease.complete([a]);
  const failed = at.client.transact((t) => {
    t.complete(lease);
    t.complete(a);
    t.produce("invoices", "x");
  });
  expect(await failed.catch((error: unknown) => error)).toMatchObject({
    code: "failed",
    details: { [a.id]: expect.stringContaining("does not exist") },
  });
  expect(await at.invoices.inspect()).toMatchObject({ queued: 0 });
  expect(await lease.complete()).toEqual({});
});

test("transact: an invalid change is refused before sending; a plain request is accepted", async () => {
  await using at = await setup();
  const lease = await leased(at.orders, "a");
  const stranger = { ...lease.items[0] } as Lease["items"][number];
  const builds = [
    [
      "items[1] is invalid; expected a text",
      () => at.client.transact((t) => t.produce("mails", ["a", 7 as never])),
    ],
    [
      "transaction is invalid; expected an item of a lease of this client",
      () => at.client.transact((t) => t.complete(stranger)),
    ],
    [
      "transact is invalid; expected complete, retry or produce",
      () => at.client.transact(() => undefined),
    ],
  ] as const;
  for (const [message, send] of builds) {
    const error = await send().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(InvalidRequest);
    expect((error as Error).message).toStartWith(message);
  }
  const { queue_name, partition } = lease;
  const ids = lease.items.map(({ id }) => id);
  const request = { complete: [{ queue_name, partition, ids }] };
  expect(await at.client.transact(request)).toEqual({ produced: [] });
});

test("transact: is repeated if its answer is lost, and done once", async () => {
  let lost = 0;
  const fetch: Fetch = async (url, init) => {
    const answer = await globalThis.fetch(url, init);
    if (!url.endsWith(".transact") || lost > 0) return answer;
    lost += 1;
    throw new Error("ECONNRESET");
  };
  await using at = await setup({ fetch });
  const lease = await leased(at.orders, "a");
  await at.client.transact((t) => {
    t.complete(lease);
    t.produce("invoices", "x");
  });
  expect(lost).toBe(1);
  expect(await at.invoices.inspect()).toMatchObject({ queued: 1 });
});

/** Runs a worker until one item is handled, and returns its counts. */
async function worked(
  at: Awaited<ReturnType<typeof setup>>,
  handler: Parameters<Queue["work"]>[0],
) {
  const ended = Promise.withResolvers<void>();
  // With concurrency 1 no second lease waits while the item is handled.
  const worker = at.orders.work(
    async (item, handling) => {
      try {
        await handler(item, handling);
      } finally {
        ended.resolve();
      }
    },
    { concurrency: 1, ...at.quiet },
  );
  await ended.promise;
  await worker.stop();
  return worker.counts;
}

const none = { completed: 0, retried: 0, dead: 0, removed: 0, released: 0, lost: 0, running: 0 };

test("transact: a handler's completes its item, and the worker does not report it again", async () => {
  const calls: string[] = [];
  const fetch: Fetch = (url, init) => {
    calls.push(url.slice(url.lastIndexOf(".") + 1));
    return globalThis.fetch(url, init);
  };
  await using at = await setup({ fetch });
  await at.orders.produce("a");
  const counts = await worked(at, async (item, { transact }) => {
    await transact((t) => t.produce("invoices", `for ${item.text()}`));
  });
  expect(counts).toEqual({ ...none, completed: 1 });
  expect(at.notices).toEqual([]);
  expect(calls.filter((call) => call === "complete" || call === "retry")).toEqual([]);
  expect(await textsOf(at.invoices, 2)).toEqual(["for a"]);
  expect(await at.orders.inspect()).toMatchObject({ queued: 0, dead_letter: 0 });
});

test("transact: a handler may retry its item together with its outputs", async () => {
  await using at = await setup();
  await at.orders.produce("a");
  const counts = await worked(at, async (item, { transact }) => {
    await transact((t) => {
      t.retry(item, { dead: true });
      t.produce("mails", "sorry");
    });
  });
  expect(counts).toEqual({ ...none, dead: 1 });
  expect(await at.orders.inspect()).toMatchObject({ queued: 0, dead_letter: 1 });
});

test("transact: a retried item has the given reason", async () => {
  await using at = await setup();
  const lease = await leased(at.orders, "a", "b");
  const [a, b] = lease.items;
  if (a === undefined || b === undefined) throw new Error("nothing was leased");
  await at.client.transact((t) => {
    t.retry(a, { reason: "the till is closed" });
    t.retry(b);
  });
  const again = await at.orders.lease({ batch: 2 });
  expect(again?.items.map((item) => [item.text(), item.reason])).toEqual([
    ["a", "the till is closed"],
    ["b", undefined],
  ]);
});

test("transact: an item retried in its last attempt counts as dead", async () => {
  await using at = await setup();
  await at.orders.update({ max_attempts: 1 });
  await at.orders.produce("a");
  const counts = await worked(at, async (item, { transact }) => {
    await transact((t) => t.retry(item));
  });
  expect(counts).toEqual({ ...none, dead: 1 });
  expect(await at.orders.inspect()).toMatchObject({ queued: 0, dead_letter: 1 });
});

test("transact: if the handler throws afterwards, the item stays completed and a notice follows", async () => {
  await using at = await setup();
  await at.orders.produce("a");
  const counts = await worked(at, async (_, { transact }) => {
    await transact((t) => t.produce("invoices", "x"));
    throw new Error("too late");
  });
  expect(counts).toEqual({ ...none, completed: 1 });
  expect(at.notices).toMatchObject([{ kind: "failed", error: { message: "too late" } }]);
  expect(await at.orders.inspect()).toMatchObject({ queued: 0, retried: 0 });
});

test("transact: the worker waits for one that the handler did not await", async () => {
  await using at = await setup();
  await at.orders.produce("a");
  const counts = await worked(at, (_, { transact }) => {
    void transact((t) => t.produce("invoices", "x"));
  });
  expect(counts).toEqual({ ...none, completed: 1 });
  expect(at.notices).toEqual([]);
  expect(await at.invoices.inspect()).toMatchObject({ queued: 1 });
});

test("transact: if it is refused, the handler fails and its item is retried", async () => {
  await using at = await setup();
  await at.mails.pause({ produce: true });
  await at.orders.produce("a");
  const counts = await worked(at, async (_, { transact }) => {
    await transact((t) => t.produce("mails", "x"));
  });
  expect(counts).toEqual({ ...none, retried: 1 });
  expect(at.notices).toMatchObject([{ kind: "retried", error: expect.any(RequestFailed) }]);
});

test("transact: a finished item is not extended, and its signal is not aborted", async () => {
  using time = stillTime();
  const calls: string[] = [];
  const fetch: Fetch = (url, init) => {
    calls.push(url.slice(url.lastIndexOf(".") + 1));
    return globalThis.fetch(url, init);
  };
  await using at = await setup({ fetch });
  await at.orders.produce("a");
  let wasAborted = true;
  const counts = await worked(at, async (_, { transact, signal }) => {
    await transact((t) => t.produce("invoices", "x"));
    // In small steps, for longer than the lease of a minute.
    for (let seconds = 0; seconds < 90; seconds += 1) {
      time.advance(1_000);
      await settled();
    }
    wasAborted = signal.aborted;
  });
  expect(wasAborted).toBe(false);
  expect(calls).not.toContain("extend");
  expect(counts).toEqual({ ...none, completed: 1 });
  expect(at.notices).toEqual([]);
});
