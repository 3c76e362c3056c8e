// Runs `holdfast series` and `explain` for all queues against a server with a test clock.

import { expect, test } from "bun:test";
import { createClient } from "../client/client.ts";
import { listeningApp } from "../server/testing/listening-app.ts";
import { exitCodes } from "./exit-codes.ts";
import { runInProcess } from "./testing/in-process.ts";

async function setup() {
  const server = await listeningApp({}, { testClock: true });
  const client = createClient({ url: server.url });
  const run = (...words: string[]) => runInProcess(words, { env: { HOLDFAST_URL: server.url } });
  return { client, run, stop: () => server.stop() };
}

const timeouts = { lease_timeout: "1m", expire_timeout: "1h" };

async function setupOrders() {
  const { client, run, stop } = await setup();
  const orders = client.queue("orders");
  await orders.create(timeouts);
  // To the start of a minute.
  const { now } = await client.advance({ by: "1ms" });
  await client.advance({ by: `${60_000 - (Date.parse(now) % 60_000)}ms` });
  await orders.produce(["a", "b", "c"]);
  await client.advance({ by: "10s" });
  const lease = await orders.lease({ batch: 2 });
  await lease?.complete();
  await client.advance({ by: "15s" });
  return { orders, client, run, [Symbol.asyncDispose]: stop };
}

test("series: prints points, the latest ones, and totals of all queues", async () => {
  await using world = await setupOrders();
  const { run } = world;
  const { out } = await run("series", "orders", "-n", "2");
  const [head, ...lines] = out.trimEnd().split("\n");
  const names = "produced  arrived  leased  completed  lapsed  dead  ready  held";
  expect(head).toMatch(new RegExp(`^from +${names.replaceAll("  ", " +")}$`));
  expect(lines).toEqual([
    expect.stringMatching(/^20\S+Z( +\d+){8}$/),
    expect.stringMatching(/^20\S+Z( +\d+){8}$/),
    expect.stringMatching(/^2 points of \d, each of 10s, recorded since 20\S+Z$/),
  ]);
  const [first, second] = lines.map((line) => line.split(/ +/).slice(1, 9).map(Number));
  expect(first).toEqual([3, 0, 0, 0, 0, 0, 3, 0]);
  expect(second).toEqual([0, 0, 2, 2, 0, 0, 1, 0]);
  const { out: short } = await run("series", "--name", "completed", "--name", "ready", "-n", "1");
  expect(short).toMatch(/^from +completed +ready\n20\S+Z +2 +1\n1 point of \d, each of 10s, /);
  const { out: told } = await run("series", "orders", "--name", "ready", "--json");
  expect(JSON.parse(told)).toMatchObject({ step: "10s", series: [{ name: "ready" }] });
});

test("series: prints minutes and one shard, and refuses invalid options", async () => {
  await using world = await setupOrders();
  const { client, run } = world;
  await client.advance({ by: "1m" });
  expect((await run("series", "orders", "--step", "1m")).out).toMatch(/ of 1m0s, recorded since /);
  expect((await run("series", "orders", "--from", "2999-01-01T00:00:00Z")).out).toMatch(
    /^no point since 20\S+Z is complete yet\n$/,
  );
  expect((await run("series", "--shard", "0")).out).toMatch(
    /^from +commits +items_committed +commit_p50_us +commit_p99_us\n/,
  );
  const both = await run("series", "orders", "--shard", "0");
  expect([both.code, both.error]).toEqual([
    exitCodes.usage.code,
    expect.stringContaining("not both"),
  ]);
  const none = await run("series", "none");
  expect([none.code, none.error]).toEqual([
    exitCodes.refused.code,
    expect.stringContaining("no such queue named 'none'"),
  ]);
});

test("explain: reports if no queue has findings", async () => {
  const { client, run, stop } = await setup();
  await using _ = { [Symbol.asyncDispose]: stop };
  await client.queue("orders").create(timeouts);
  expect((await run("explain")).out).toBe("no findings in 1 queue\n");
});

test("explain: prints the findings of all queues, the worst first", async () => {
  await using world = await setupOrders();
  const { orders, client, run } = world;
  const others = client.queue("others");
  await others.create(timeouts);
  await others.produce("x");
  await others.pause({ reason: "moving" });
  await client.advance({ by: "1m" });
  // The overview is computed once per second.
  let out = "";
  while (!out.includes("others")) ({ out } = await run("explain"));
  const text = (what: string, queue: string) =>
    `${queue}: ${what}\n\n${what}, since \\S+\n  [^\n]+\n`;
  expect(out).toMatch(
    new RegExp(`^${text("no_consumers", "orders")}\n${text("paused", "others")}$`),
  );
  expect(out).toContain("Leases are paused: moving.");
  const { out: limited } = await run("explain", "--limit", "1");
  expect(limited).toEndWith("\n\nand 1 more queue; raise --limit to see them\n");
  const { queues, more } = JSON.parse((await run("explain", "--json")).out);
  expect(queues.map(({ queue_name }: { queue_name: string }) => queue_name)).toEqual([
    orders.name,
    others.name,
  ]);
  expect(more).toBe(0);
});
