// Runs `holdfast shards` against a server with three shards.

import { expect, test } from "bun:test";
import { createClient } from "../client/client.ts";
import { shardOf } from "../engine/model/placement.ts";
import { operations } from "../openapi/operations.ts";
import { listeningApp } from "../server/testing/listening-app.ts";
import { exitCodes } from "./exit-codes.ts";
import { runInProcess } from "./testing/in-process.ts";

function runAt(url: string, ...words: string[]) {
  return runInProcess(words, { env: { HOLDFAST_URL: url } });
}

async function setup(shards: number) {
  const server = await listeningApp({}, { shards });
  const client = createClient({ url: server.url });
  const run = (...words: string[]) => runAt(server.url, ...words);
  const queueOf = async (name: string) => {
    const queue = client.queue(name);
    await queue.create({ lease_timeout: "1m", expire_timeout: "1h" });
    return queue;
  };
  return { client, run, queueOf, [Symbol.asyncDispose]: () => server.stop() };
}

const names = ["{shop}.orders", "{shop}.invoices", "orders"];
const shop = shardOf("{shop}.orders", 3);
const orders = shardOf("orders", 3);

test("shards: a row for each shard with its queues, and a total", async () => {
  await using world = await setup(3);
  const { client, run, queueOf } = world;
  for (const name of names) await (await queueOf(name)).produce(["a", "b"]);
  await client.queue("orders").lease();
  // The overview is computed once per second.
  for (;;) {
    const { totals } = await client.overview();
    if (totals.queues === 3 && totals.ready === 5 && totals.leased === 1) break;
    await Bun.sleep(100);
  }
  expect(shop).not.toBe(orders);
  const rows = JSON.parse((await run("shards", "--json")).out);
  const none = { queues: 0, ready: 0, leased: 0, scheduled: 0 };
  const loadOf = (shard: number) => {
    if (shard === shop) return { ...none, queues: 2, ready: 4 };
    return shard === orders ? { ...none, queues: 1, ready: 1, leased: 1 } : none;
  };
  expect(rows).toEqual(
    [0, 1, 2].map((shard) => ({
      ...{ shard, state: "up", since: null, ...loadOf(shard), waiting: 0 },
      items_per_second: loadOf(shard).queues > 0 ? 1 : 0,
      ...{ commit_p50_us: expect.any(Number), commit_p99_us: expect.any(Number) },
      ...{ log_bytes: 0, file_bytes: 0 },
    })),
  );

  const { code, out, error } = await run("shards");
  expect({ code, error }).toEqual({ code: 0, error: "" });
  const [head, ...lines] = out.trimEnd().split("\n");
  expect(head?.split(/ {2,}/)).toEqual([
    ...["shard", "state", "queues", "ready", "leased", "scheduled", "waiting"],
    ...["items/s", "commit p50", "p99", "log", "file"],
  ]);
  expect(lines.map((line) => line.split(/ {2,}/).slice(0, 8))).toEqual([
    ...[0, 1, 2].map((shard) => {
      const { queues, ready, leased } = loadOf(shard);
      return [...[shard, "up", queues, ready, leased, 0, 0, queues > 0 ? 1 : 0].map(String)];
    }),
    ["total", "3 of 3 up", "3", "5", "1", "0", "0", "2"],
  ]);
});

test("shards: one shard has no total", async () => {
  await using world = await setup(1);
  const { out } = await world.run("shards");
  expect(out.trimEnd().split("\n")).toEqual([
    expect.stringMatching(/^shard +state +queues /),
    expect.stringMatching(/^ +0 +up +0 /),
  ]);
});

test("shards: prints one that is down, and since when", async () => {
  const { example } = operations.overview.replies[200];
  const [shard] = example.shards;
  const since = "2026-03-01T12:00:00.000Z";
  const shards = [
    { ...shard, commit_p50_us: 0, commit_p99_us: 184_000, log_bytes: 40_960, file_bytes: 2.5e9 },
    { ...shard, shard: 1, state: "down", since },
  ];
  await using server = Bun.serve({ port: 0, fetch: () => Response.json({ ...example, shards }) });
  const { out } = await runAt(`http://127.0.0.1:${server.port}`, "shards");
  const lines = out.trimEnd().split("\n");
  expect(lines[1]).toMatch(/^0 +up +1 .* 0 +120 +184 ms +41 kB +2\.5 GB$/);
  expect(lines[2]).toStartWith(`1      down since ${since}  `);
  expect(lines[3]).toMatch(/^total +1 of 2 up /);
});

test("shards: prints the shard of a queue, existing or not", async () => {
  await using world = await setup(3);
  const { run, queueOf } = world;
  // Makes the server cache an overview, which lacks the queues created next.
  await run("shards");
  for (const name of names) await queueOf(name);
  expect(await run("shards", "orders", "{shop}.orders", "{shop}.new", "new")).toEqual({
    code: 0,
    out: [
      `orders is in shard ${orders}`,
      `{shop}.orders is in shard ${shop}, by its tag {shop}`,
      `{shop}.new does not exist; it would be in shard ${shop}, by its tag {shop}`,
      `new does not exist; it would be in shard ${shardOf("new", 3)}\n`,
    ].join("\n"),
    error: "",
  });
  expect(JSON.parse((await run("shards", "orders", "{shop}.new", "--json")).out)).toEqual([
    { queue_name: "orders", shard: orders, exists: true, tag: "" },
    { queue_name: "{shop}.new", shard: shop, exists: false, tag: "shop" },
  ]);
});

test.each(["", "a b", "a~b", "\u0007", "x".repeat(513)])(
  "shards: %p cannot be the name of a queue",
  async (name) => {
    await using world = await setup(1);
    const { code, out, error } = await world.run("shards", "orders", name);
    expect({ code, out }).toEqual({ code: exitCodes.usage.code, out: "" });
    expect(error).toContain("expected 1 to 512 bytes without whitespace, control characters or ~");
  },
);
