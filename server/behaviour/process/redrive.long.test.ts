// A redrive in a server that is killed repeatedly, and searches that only processes can test.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "../../../client/client.ts";
import { type Postgres, startPostgres } from "../../../scripts/postgres.ts";
import { type ServerProcess, startServer } from "../../../testing/server-process.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-redrive-"));
let database: Postgres;

beforeAll(async () => {
  chmodSync(folder, 0o755);
  database = await startPostgres({ data: join(folder, "postgres") });
});
afterAll(async () => {
  await database.stop();
  rmSync(folder, { recursive: true, force: true });
});

const clientOf = ({ port }: ServerProcess): Client =>
  createClient({ url: `http://127.0.0.1:${port}` });
const timeouts = { lease_timeout: "1m", expire_timeout: "1h", requested_partitions: 2 };
const texts = Array.from({ length: 3_000 }, (_, index) => String(index).padStart(4, "0"));

/** Produces all texts to `orders`. */
async function fill(client: Client): Promise<void> {
  await client.queue("dead").create(timeouts);
  const orders = client.queue("orders");
  await orders.create({ ...timeouts, dead_queue: "dead" });
  for (let from = 0; from < texts.length; from += 1_000) {
    await orders.produce(texts.slice(from, from + 1_000));
  }
}

/** Sends all items of `orders` to its dead queue. */
async function bury(client: Client): Promise<void> {
  for (let left = texts.length; left > 0; ) {
    const asked = { queue_name: "orders", client_id: "a", batch_size: 1_000 };
    const { partition, items } = await client.lease(asked);
    const given = items.map(({ id }) => ({ id, dead: true, reason: "no card" }));
    await client.retry({ queue_name: "orders", partition, items: given });
    left -= items.length;
  }
  // Items reach a queue in another shard milliseconds after the reply.
  while ((await client.queue("dead").inspect()).queued < texts.length) await Bun.sleep(5);
}

async function allOf(client: Client, queue: string): Promise<string[]> {
  const found: string[] = [];
  for await (const item of client.queue(queue).find({ payload_head: 9, limit: 1_000 })) {
    found.push(atob(item.payload));
  }
  return found;
}

test.each(["sqlite", "postgres"] as const)(
  "redrive: after a kill each item is in one place, and the task completes; %s",
  async (store) => {
    const own = ["--store", "postgres", "--database-url", database.url];
    const flags = ["--shards", "2", "--threads", "2", ...(store === "postgres" ? own : [])];
    const start = () => startServer({ data: join(folder, store), flags });
    let server = await start();
    await fill(clientOf(server));
    // On a machine that stalls, a task may end before it is checked; then another one is started.
    for (let kills = 0; kills < 3; ) {
      await bury(clientOf(server));
      const redrive = { queue_name: "dead", per_second: 1_500 };
      const { task_id, matched } = await clientOf(server).redrive(redrive);
      expect(matched).toBe(texts.length);
      const look = () => clientOf(server).taskInfo({ task_id });
      let [task, seen] = [await look(), 0];
      while (task.state === "running") {
        if (kills === 3 || task.moved === seen) {
          await Bun.sleep(5);
        } else {
          seen = task.moved;
          await server.stop("SIGKILL");
          server = await start();
          kills += 1;
        }
        task = await look();
        // The reported progress never falls.
        expect(task.moved).toBeGreaterThanOrEqual(seen);
      }
      expect(task).toMatchObject({ state: "done", moved: texts.length, skipped: 0 });
      expect(await allOf(clientOf(server), "dead")).toEqual([]);
      expect((await allOf(clientOf(server), "orders")).toSorted()).toEqual(texts);
    }
    expect(await server.stop()).toBe(0);
  },
);

test("find, explain and redrive work on every thread of a server", async () => {
  const flags = ["--shards", "3", "--threads", "3"];
  const server = await startServer({ data: join(folder, "threads"), flags });
  const client = clientOf(server);
  await fill(client);
  await bury(client);
  const post = async (path: string, body: object) => {
    // Each call has its own connection, which any of the threads may accept.
    const headers = { "content-type": "application/json", connection: "close" };
    const url = `http://127.0.0.1:${server.port}/v1/${path}`;
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await fetch(url, init);
    return { code: response.status, body: await response.json() };
  };
  const queue = { queue_name: "dead" };
  const { body: begun } = await post("queue.redrive", { ...queue, limit: 10 });
  const { task_id } = begun;
  while ((await post("tasks.info", { task_id })).body.state === "running") await Bun.sleep(5);
  for (let count = 0; count < 8; count += 1) {
    const { body } = await post("storage/items.find", { ...queue, limit: 1 });
    const [{ id, origin_id }] = body.items;
    expect((await post("storage/items.get", { id })).body).toMatchObject({ id, reason: "no card" });
    const explained = await post("storage/items.explain", { id: origin_id });
    expect(explained.body).toMatchObject({ item: { id } });
    const summarized = await post("storage/items.summarize", { ...queue, by: "reason" });
    expect(summarized.body.summaries).toMatchObject([{ value: "no card" }]);
    const info = await post("tasks.info", { task_id });
    expect(info.body).toMatchObject({ ...queue, matched: 10 });
    expect((await post("tasks.list", {})).body.tasks).toHaveLength(1);
    expect((await post("tasks.cancel", { task_id: "x" })).code).toBe(453);
    expect((await post("storage/items.find", { queue_name: "none" })).code).toBe(400);
  }
  expect(await server.stop()).toBe(0);
});
