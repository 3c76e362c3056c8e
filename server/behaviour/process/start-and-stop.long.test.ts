// Tests that need a process: start, stop, refused starts, and the data on disk after a kill.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Connection } from "../../../testing/http-client.ts";
import {
  runServer,
  type ServerOptions,
  type ServerProcess,
  startCommand,
  startServer,
} from "../../../testing/server-process.ts";

function scratch() {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-process-"));
  return {
    data: join(directory, "not", "yet", "there"),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

async function start(options: ServerOptions): Promise<ServerProcess & AsyncDisposable> {
  const server = await startServer(options);
  return { ...server, [Symbol.asyncDispose]: async () => void (await server.stop("SIGKILL")) };
}

interface Body {
  readonly [key: string]: unknown;
}

async function call(
  connection: Connection,
  path: string,
  body: Body,
): Promise<{ status: number; body: Body }> {
  const reply = await connection.post(path, JSON.stringify(body));
  return { status: reply.status, body: JSON.parse(reply.body) as Body };
}

async function create(connection: Connection, settings: Body): Promise<void> {
  const reply = await call(connection, "/v1/queues.create", {
    lease_timeout: "60m",
    expire_timeout: "24h",
    max_attempts: 0,
    requested_partitions: 1,
    ...settings,
  });
  expect(reply).toEqual({ status: 200, body: { code: 200, code_text: "OK", message: "" } });
}

test("start: creates the data folder, prints its address, and is healthy", async () => {
  using files = scratch();
  await using server = await start({ data: files.data });
  const health = await fetch(`http://127.0.0.1:${server.port}/health`);
  expect(health.status).toBe(200);
  expect(readdirSync(files.data)).toContain("shard-0.db");
});

test("start: a second server on the same data is refused with the reason", async () => {
  using files = scratch();
  await using _server = await start({ data: files.data });
  const second = await runServer(["--port", "0", "--data", files.data]);
  expect(second.code).toBe(3);
  expect(second.output).toContain("the data folder is in use by another server");
  expect(second.output).not.toMatch(/\n +at |"stack"/);
});

test("log: an item that is removed because there is no dead queue is named, with its queue", async () => {
  using files = scratch();
  await using server = await start({ data: files.data });
  const connection = await Connection.open(server.port);
  await create(connection, { queue_name: "orders", max_attempts: 1 });
  const timed = { queue_name: "orders", request_timeout: "1m" };
  await call(connection, "/v1/queue.produce", { ...timed, items: [{ utf8: "secret" }] });
  const lease = { ...timed, client_id: "a", batch_size: 1 };
  const { body } = await call(connection, "/v1/queue.lease", lease);
  const [{ id = "" } = {}] = body["items"] as { id: string }[];
  const items = [{ id, dead: false }];
  await call(connection, "/v1/queue.retry", { queue_name: "orders", partition: 0, items });
  connection.close();
  await server.stop();
  const line = (await server.wholeLog())
    .split("\n")
    .find((text) => text.includes("there is no dead queue"));
  expect(JSON.parse(line ?? "{}")).toEqual({
    level: "warn",
    time: expect.any(String),
    shard: 0,
    queue: "orders",
    count: 1,
    ids: [id],
    event: "items were removed because there is no dead queue",
  });
  expect(line).not.toContain("secret");
});

test("start: items hidden by a damaged file are reported, and the rest is served", async () => {
  using files = scratch();
  const first = await startServer({ data: files.data });
  const connection = await Connection.open(first.port);
  await create(connection, { queue_name: "orders" });
  for (const kind of ["a", "b", "c"]) {
    const items = [{ utf8: "hello", kind }];
    await call(connection, "/v1/queue.produce", {
      queue_name: "orders",
      request_timeout: "1m",
      items,
    });
  }
  connection.close();
  await first.stop();
  const path = join(files.data, "shard-0.db");
  const database = new Database(path);
  database.run("DELETE FROM item WHERE kind = 'b'");
  database.close();
  const again = await startServer({ data: files.data });
  const stats = await fetch(`http://127.0.0.1:${again.port}/metrics`);
  const lines = (await stats.text()).split("\n");
  expect(lines).toContain('holdfast_miscounted_items{shard="0"} 1');
  expect(lines).toContain('holdfast_items{queue="orders",state="queued"} 2');
  await again.stop();

  const bytes = readFileSync(path);
  bytes.fill(0, 4_096 * 3, 4_096 * 4);
  writeFileSync(path, bytes);
  const refused = await runServer(["--port", "0", "--data", files.data]);
  expect(refused.code).toBe(2);
  expect(refused.output).toContain("the store's file is damaged; restore a backup");
  expect(refused.output).not.toMatch(/\n +at |"stack"/);
});

test("start: variables of a Service named holdfast are ignored and logged once", async () => {
  using files = scratch();
  const command = [
    process.execPath,
    join(import.meta.dir, "../../../cli/main.ts"),
    "serve",
    "--port=0",
  ];
  const env = { ...process.env, HOLDFAST_PORT: "tcp://10.0.0.1:9090", HOLDFAST_DATA: files.data };
  const server = await startCommand(command, { env });
  expect(await server.stop()).toBe(0);
  const logged = (await server.wholeLog())
    .split("\n")
    .filter((line) => line.includes("HOLDFAST_PORT"));
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([
    { event: "variables of a Service were ignored", variables: ["HOLDFAST_PORT"] },
  ]);
});

test("start: a second server on the same port is refused with the reason", async () => {
  using files = scratch();
  using others = scratch();
  await using server = await start({ data: files.data });
  const second = await runServer(["--port", String(server.port), "--data", others.data]);
  expect(second.code).toBe(3);
  expect(second.output).toContain(String(server.port));
  expect(second.output).not.toMatch(/\n +at |"stack"/);
});

test("start: a failure because of the port or address leaves nothing behind", async () => {
  using files = scratch();
  using others = scratch();
  await using server = await start({ data: files.data });
  const taken = await runServer(["--port", String(server.port), "--data", others.data]);
  expect(taken.code).toBe(3);
  const absent = ["--host", "192.0.2.1", "--insecure", "--port", "0", "--data", others.data];
  expect(await runServer(absent)).toEqual({
    code: 2,
    output: "host is not an address of this machine; got '192.0.2.1'\n",
  });
  expect(existsSync(join(others.data, "../.."))).toBe(false);
});

test("start: a server on every address prints that", async () => {
  using files = scratch();
  const flags = ["--host", "0.0.0.0", "--insecure", "--port", "0", "--data", files.data];
  const child = Bun.spawn([
    process.execPath,
    join(import.meta.dir, "../../../cli/main.ts"),
    "serve",
    ...flags,
  ]);
  let greeting = "";
  const decoder = new TextDecoder();
  for await (const bytes of child.stdout) {
    greeting += decoder.decode(bytes, { stream: true });
    if (greeting.includes("everything.\n")) child.kill();
  }
  expect(greeting).toMatch(
    /^Holdfast \S+ listens on 0\.0\.0\.0:(\d+), every address of this machine\n/,
  );
  expect(greeting).toMatch(/\n {2}health {3}http:\/\/localhost:\d+\/health\n/);
});

test("start: every fault of the configuration is reported, and nothing is created", async () => {
  using files = scratch();
  const faulty = await runServer(["--port", "99999", "--shards", "none", "--data", files.data]);
  expect(faulty.code).toBe(2);
  expect(faulty.output).toContain("--port");
  expect(faulty.output).toContain("--shards");
  expect(existsSync(files.data)).toBe(false);
});

test("SIGTERM: waiting leases are answered, accepted items are kept, and the exit code is 0", async () => {
  using files = scratch();
  {
    await using server = await start({ data: files.data });
    const [producer, consumer] = [
      await Connection.open(server.port),
      await Connection.open(server.port),
    ];
    await create(producer, { queue_name: "orders" });
    await create(producer, { queue_name: "empty" });
    const produced = await call(producer, "/v1/queue.produce", {
      queue_name: "orders",
      request_timeout: "5m",
      items: [{ utf8: "kept" }],
    });
    expect(produced.status).toBe(200);
    const waiting = call(consumer, "/v1/queue.lease", {
      queue_name: "empty",
      client_id: "one",
      request_timeout: "15m",
      batch_size: 1,
    });
    // The lease waits once the statistics count it.
    for (let seen = 0; seen !== 1; ) {
      const { body } = await call(producer, "/v1/queue.stats", { queue_name: "empty" });
      seen = (body["logical_queues"] as { lease_waiting: number }[])[0]?.lease_waiting ?? 0;
    }
    const stopped = server.stop("SIGTERM");
    expect((await waiting).status).toBe(503);
    expect(await stopped).toBe(0);
  }
  await using again = await start({ data: files.data });
  const connection = await Connection.open(again.port);
  const { body } = await call(connection, "/v1/storage/items.list", {
    queue_name: "orders",
    partition: 0,
    pivot: "",
    limit: 10,
  });
  expect(body["items"]).toMatchObject([{ payload: btoa("kept") }]);
});

test("SIGTERM: takes effect as soon as the server prints its address", async () => {
  using files = scratch();
  for (let start = 0; start < 5; start += 1) {
    const server = await startServer({ data: files.data });
    expect(await server.stop("SIGTERM")).toBe(0);
  }
});

test("1,025 partitions cost rows, not files, and are all there after a restart", async () => {
  using files = scratch();
  {
    await using server = await start({ data: files.data });
    const connection = await Connection.open(server.port);
    await create(connection, { queue_name: "wide", requested_partitions: 1_025 });
    for (let index = 0; index < 1_025; index += 1) {
      const reply = await call(connection, "/v1/queue.produce", {
        queue_name: "wide",
        request_timeout: "1m",
        items: [{ utf8: String(index) }],
      });
      expect(reply.status).toBe(200);
    }
    expect(readdirSync(files.data).length).toBeLessThan(20);
    expect(await server.stop()).toBe(0);
  }
  await using again = await start({ data: files.data });
  const connection = await Connection.open(again.port);
  const { body } = await call(connection, "/v1/queue.stats", { queue_name: "wide" });
  const [stats] = body["logical_queues"] as { partitions: { total: number }[] }[];
  expect(stats?.partitions.map(({ total }) => total)).toEqual(Array(1_025).fill(1));
});

test("memory: a backlog on disk is not held by the server", async () => {
  using files = scratch();
  const items = 300_000;
  {
    await using server = await start({ data: files.data });
    const connection = await Connection.open(server.port);
    await create(connection, { queue_name: "backlog" });
    const batch = Array.from({ length: 1_000 }, () => ({ utf8: "x".repeat(1_000) }));
    for (let count = 0; count < items; count += 1_000) {
      await call(connection, "/v1/queue.produce", {
        queue_name: "backlog",
        request_timeout: "1m",
        items: batch,
      });
    }
    await server.stop();
  }
  using others = scratch();
  await using full = await start({ data: files.data });
  await using empty = await start({ data: others.data });
  const connection = await Connection.open(full.port);
  const { body } = await call(connection, "/v1/queue.inspect", { queue_name: "backlog" });
  expect(body["queued"]).toBe(items);
  // The payloads alone are six times this.
  const growth = (await full.memoryBytes()) - (await empty.memoryBytes());
  expect(growth).toBeLessThan((items * 1_000) / 6);
});

test("1,000 waiting leases are all answered, each with one item, and leave nothing behind", async () => {
  using files = scratch();
  await using server = await start({ data: files.data });
  const producer = await Connection.open(server.port);
  await create(producer, { queue_name: "waiting" });
  const leases = Array.from({ length: 1_000 }, async (_, index) => {
    const connection = await Connection.open(server.port);
    const reply = await call(connection, "/v1/queue.lease", {
      queue_name: "waiting",
      client_id: `client-${index}`,
      request_timeout: "5m",
      batch_size: 1,
    });
    connection.close();
    return (reply.body["items"] as { bytes: string }[] | undefined)?.map(({ bytes }) =>
      atob(bytes),
    );
  });
  for (let waiting = 0; waiting < 1_000; ) {
    const { body } = await call(producer, "/v1/queue.stats", { queue_name: "waiting" });
    waiting = (body["logical_queues"] as { lease_waiting: number }[])[0]?.lease_waiting ?? 0;
  }
  const items = Array.from({ length: 1_000 }, (_, index) => ({ utf8: `item ${index}` }));
  await call(producer, "/v1/queue.produce", {
    queue_name: "waiting",
    request_timeout: "1m",
    items,
  });
  const got = (await Promise.all(leases)).flat();
  expect(new Set(got)).toEqual(new Set(items.map(({ utf8 }) => utf8)));
  expect(got).toHaveLength(1_000);
});

const testClock = ["--test-clock", "--shards", "2"];
const machineClock = ["--shards", "2"];

test("clock.advance: over HTTP each lapse and wake happens at its own instant, also after a restart", async () => {
  using files = scratch();
  let now: string;
  {
    await using server = await start({ data: files.data, flags: testClock });
    const connection = await Connection.open(server.port);
    await create(connection, { queue_name: "dead" });
    const dying = { queue_name: "orders", dead_queue: "dead", max_attempts: 1 };
    await create(connection, { ...dying, lease_timeout: "30s", requested_partitions: 2 });
    const timed = { queue_name: "orders", request_timeout: "1m" };
    await call(connection, "/v1/queue.produce", { ...timed, items: [{ utf8: "a" }] });
    const lease = { ...timed, client_id: "a", batch_size: 1 };
    const { body } = await call(connection, "/v1/queue.lease", lease);
    const [{ lease_deadline = "" } = {}] = body["items"] as { lease_deadline: string }[];
    const advanced = await fetch(`http://127.0.0.1:${server.port}/v1/clock.advance`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ by: "7d" }),
    });
    ({ now } = (await advanced.json()) as { now: string });
    expect(Date.parse(now)).toBe(Date.parse(lease_deadline) - 30_000 + 7 * 24 * 3_600_000);
    const dead = await call(connection, "/v1/queue.stats", { queue_name: "dead" });
    expect(dead.body).toMatchObject({ logical_queues: [{ partitions: [{ total: 0 }] }] });
    connection.close();
  }
  await using server = await start({ data: files.data, flags: testClock });
  const connection = await Connection.open(server.port);
  const { body } = await call(connection, "/v1/clock.advance", { by: "1ms" });
  expect(Date.parse(String(body["now"]))).toBe(Date.parse(now) + 1);
  connection.close();
});

test("clock.advance: refused without --test-clock", async () => {
  using files = scratch();
  await using server = await start({ data: files.data });
  const connection = await Connection.open(server.port);
  expect(await call(connection, "/v1/clock.advance", { by: "10m" })).toEqual({
    status: 453,
    body: {
      code: 453,
      code_text: "Request Failed",
      reason: "no_test_clock",
      message: "there is no test clock; start with --test-clock or testClock",
    },
  });
  connection.close();
});

test.each([
  ["with --test-clock", testClock, machineClock],
  ["without --test-clock", machineClock, testClock],
])("start: a folder that was used %s is refused in the other mode", async (_, first, second) => {
  using files = scratch();
  {
    await using _server = await start({ data: files.data, flags: first });
  }
  const other = await runServer(["--port", "0", "--data", files.data, ...second]);
  expect(other.code).toBe(2);
  expect(other.output).toMatch(/the store was used with(out)? a test clock.*; data folder '/);
  await using _again = await start({ data: files.data, flags: first });
});

test("--metrics-queues-max and --series-bytes bound the metrics and series of queues", async () => {
  using files = scratch();
  const flags = ["--metrics-queues-max", "1", "--series-bytes", "0"];
  await using server = await start({ data: files.data, flags });
  const connection = await Connection.open(server.port);
  for (const queue_name of ["a", "b", "c"]) await create(connection, { queue_name });
  const metrics = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
  const labels = [...metrics.matchAll(/^holdfast_items\{queue="([^"]+)"/gm)].map(([, one]) => one);
  expect([...new Set(labels)]).toEqual(["a", "~other"]);
  const { body } = await call(connection, "/v1/server.series", { names: ["ready"] });
  expect(body["since"]).toBeNull();
  connection.close();
});
