// `bun bench/why.ts [--items 1000000]`: fills a queue in which a worker fails on one item in 50 for
// three reasons. Then it runs and prints the commands that lead from "something is wrong" to which
// items failed, why and since when. `content/docs/find-and-redrive.mdx` shows its output. `--url
// URL`: only makes the dead items, from failing items alone, on the given server.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Client, createClient } from "../client/client.ts";
import type { LeaseReply } from "../client/wire.ts";
import { startServer } from "../testing/server-process.ts";

const batch = 1_000;
const failsOf = 50;
/** One failure in this many has a reason that appears late. */
const rareOf = 19;
const rareFrom = 0.7036;
const timeouts = { lease_timeout: "1m", expire_timeout: "24h" };

interface World {
  readonly client: Client;
  readonly items: number;
  /** The queue contains only items that fail. */
  readonly isFailedOnly: boolean;
}

/** Why the worker fails on an order; `null` = it succeeds. */
function reasonOf(order: number, items: number): string | null {
  if (order % failsOf !== 0) return null;
  const failure = order / failsOf;
  const rare = Math.ceil((items / failsOf) * rareFrom);
  if (failure >= rare && (failure - rare) % rareOf === 0) return `order ${order}: no such account`;
  const id = Bun.hash(String(order)).toString(16).padStart(16, "0");
  return failure % 3 === 0
    ? `payments timed out after ${30 + (failure % 5)}s`
    : `card declined; charge ch_${id}`;
}

function countOf({ items, isFailedOnly }: World): number {
  return isFailedOnly ? Math.ceil(items / failsOf) : items;
}

async function produce(world: World): Promise<void> {
  const { client, isFailedOnly } = world;
  const count = countOf(world);
  for (let from = 0; from < count; from += batch) {
    const orders = Array.from({ length: Math.min(batch, count - from) }, (_, index) => {
      const order = (from + index) * (isFailedOnly ? failsOf : 1);
      const payload = { order, account: `a-${order % 9_973}` };
      return { utf8: JSON.stringify(payload), kind: "charge" };
    });
    await client.produce({ queue_name: "orders", items: orders });
  }
}

async function work(world: World): Promise<void> {
  for (let done = 0; done < countOf(world); ) {
    const lease = await world.client.lease({
      ...{ queue_name: "orders", client_id: "worker", batch_size: batch },
    });
    await finish(world, lease);
    done += lease.items.length;
  }
}

async function finish({ client, items }: World, lease: LeaseReply): Promise<void> {
  const at = { queue_name: "orders", partition: lease.partition };
  const failed: { readonly id: string; readonly reason: string }[] = [];
  const ids: string[] = [];
  for (const { id, bytes } of lease.items) {
    const reason = reasonOf(JSON.parse(atob(bytes)).order, items);
    if (reason === null) ids.push(id);
    else failed.push({ id, reason });
  }
  if (ids.length > 0) await client.complete({ ...at, ids });
  if (failed.length > 0) await client.retry({ ...at, items: failed });
}

/** Prints the command as typed, and its output. */
async function show(url: string, ...words: readonly string[]): Promise<string> {
  const shown = words.map((word) => (/^[\w.-]+$/.test(word) ? word : `'${word}'`));
  console.log(`$ holdfast ${shown.join(" ")}`);
  const main = join(import.meta.dir, "../cli/main.ts");
  const begun = performance.now();
  const child = Bun.spawn([process.execPath, main, ...words], {
    env: { ...process.env, HOLDFAST_URL: url },
    stdout: "pipe",
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`holdfast ${words[0]} failed`);
  console.log(text);
  console.error(`(${Math.round(performance.now() - begun)} ms)\n`);
  return text;
}

async function fill(world: World): Promise<void> {
  const { client } = world;
  await client.createQueue({ queue_name: "orders-dead", ...timeouts });
  const orders = { queue_name: "orders", ...timeouts, max_attempts: 1 };
  await client.createQueue({ ...orders, dead_queue: "orders-dead" });
  await produce(world);
  await work(world);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { items: { type: "string", default: "1000000" }, url: { type: "string" } },
  });
  const items = Number(values.items);
  if (values.url !== undefined) {
    await fill({ client: createClient({ url: values.url }), items, isFailedOnly: true });
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "holdfast-why-"));
  const flags = ["--log-level", "error"];
  const server = await startServer({ data: join(folder, "data"), flags });
  try {
    const url = `http://127.0.0.1:${server.port}`;
    const begun = performance.now();
    await fill({ client: createClient({ url }), items, isFailedOnly: false });
    const seconds = Math.round((performance.now() - begun) / 1_000);
    console.error(`${items} items produced and worked off in ${seconds} s\n`);

    const reason = "order <n>: no such account";
    await show(url, "queues", "list");
    await show(url, "items", "groups", "orders-dead");
    const found = await show(url, "items", "find", "orders-dead", "--reason", reason, "-n", "3");
    const [id = ""] = /\b[0-9A-Za-z]{27}\b/.exec(found) ?? [];
    await show(url, "items", "explain", id);
    await show(url, "redrive", "orders-dead", "--reason", reason, "--dry-run");
    await show(url, "redrive", "orders-dead", "--reason", reason, "--yes", "--follow");
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.main) await main();
