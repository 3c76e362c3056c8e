import { expect, test } from "bun:test";
import { shardOf } from "../../engine/model/placement.ts";
import { type Contradiction, History } from "../histories/history.ts";
import { Client, deadQueueName, listItems, otherQueueName, produce, queueName } from "./clients.ts";
import { isDrained } from "./load.ts";

test.each([2, 3])("queues: outputs for another queue cross between %d shards", (count) => {
  for (const name of [otherQueueName, deadQueueName]) {
    expect(shardOf(name, count)).not.toBe(shardOf(queueName, count));
  }
});

test("isDrained: false while a queue cannot be deleted, because an item is in transit to it", async () => {
  const inUse = new Set(["orders", "invoices"]);
  const received: unknown[] = [];
  using server = Bun.serve({
    port: 0,
    async fetch(request) {
      const body = (await request.json()) as { queue_name: string };
      received.push({ path: new URL(request.url).pathname, ...body });
      return Response.json({}, { status: inUse.has(body.queue_name) ? 453 : 200 });
    },
  });
  const client = new Client("drain", { port: Promise.resolve(server.port ?? 0) });
  expect(await isDrained(client)).toBe(false);
  inUse.delete("orders");
  expect(await isDrained(client)).toBe(false);
  inUse.delete("invoices");
  expect(await isDrained(client)).toBe(true);
  const harmless = { path: "/v1/queues.delete", force: false, dry_run: true };
  expect(received.at(-1)).toEqual({ ...harmless, queue_name: "invoices" });
  client.close();
});

test.each([
  ["all its items are duplicates", [0, 1], 0],
  ["only one of its items is a duplicate", [0], 1],
])(
  "produce: a call with unique keys is repeated, and %s",
  async (_, duplicates, contradictions) => {
    const replies = [Response.json({}, { status: 504 }), Response.json({})];
    const received: unknown[] = [];
    using server = Bun.serve({
      port: 0,
      async fetch(request) {
        received.push(await request.json());
        return replies.shift() ?? Response.json({ duplicates });
      },
    });
    const client = new Client("producer", { port: Promise.resolve(server.port ?? 0) });
    const repeats = { count: 0, contradictions: [] as Contradiction[] };
    expect(await produce(client, new History(), { numbers: [7, 8], unique: repeats })).toBe("ok");
    client.close();
    expect(received).toHaveLength(3);
    const keys = [7, 8].map((number) => ({ unique_key: client.uniqueKey(number) }));
    expect(received[0]).toMatchObject({ items: keys });
    // Another load restarts the numbers.
    const other = new Client("producer", { port: Promise.resolve(0) });
    expect(other.uniqueKey(7)).not.toBe(client.uniqueKey(7));
    expect(received[2]).toEqual(received[0]);
    expect(repeats.count).toBe(2);
    expect(repeats.contradictions).toHaveLength(contradictions);
  },
);

test("client: an idle connection closed by the server is reopened, and no call is lost", async () => {
  using server = Bun.serve({
    port: 0,
    fetch: () => Response.json({ items: [] }),
  });
  const client = new Client("drain", { port: Promise.resolve(server.port ?? 0) });
  expect(await listItems(client, "orders", 0)).toEqual([]);
  server.closeIdleConnections();
  // By then the client has received the answer.
  for (let round = 0; round < 20; round += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(await listItems(client, "orders", 0)).toEqual([]);
  client.close();
});
