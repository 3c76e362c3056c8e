// Several threads that speak HTTP, in a process of its own.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../bench/peers/child-server.ts";
import { runServer, type ServerProcess, startServer } from "../../bench/server-process.ts";
import { ListenError } from "../listen.ts";
import { defaultConfig, silentLog } from "../testing/memory-engine.ts";
import { listenInThreads } from "./http-threads.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-threads-"));
const threads = ["--http-threads", "3"];
let server: ServerProcess;

beforeAll(async () => {
  server = await startServer({ data: join(folder, "data"), flags: threads });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const json = { "content-type": "application/json", connection: "close" };

/** On a connection of its own, which any of the threads may get. */
async function call(path: string, body: object, init: RequestInit = {}) {
  const url = `http://127.0.0.1:${server.port}/v1/${path}`;
  const headers = { ...json, ...(init.headers as Record<string, string>) };
  const response = await fetch(url, {
    method: "POST",
    body: JSON.stringify(body),
    ...init,
    headers,
  });
  return { code: response.status, body: await response.json(), headers: response.headers };
}

const timeouts = { lease_timeout: "1m", expire_timeout: "1h" };

async function createQueue(queue_name: string): Promise<void> {
  const { code } = await call("queues.create", {
    queue_name,
    ...timeouts,
    requested_partitions: 1,
  });
  expect(code).toBe(200);
}

function produce(queue_name: string, ...texts: readonly string[]) {
  const items = texts.map((utf8) => ({ utf8 }));
  return call("queue.produce", { queue_name, request_timeout: "1m", items });
}

function lease(queue_name: string, client_id: string, init: RequestInit = {}) {
  const asked = { queue_name, client_id, batch_size: 10, request_timeout: "1m" };
  return call("queue.lease", asked, init);
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
  return Number(
    text
      .split("\n")
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length),
  );
}

test("connections of every thread see one queue", async () => {
  await createQueue("orders");
  await Promise.all(Array.from({ length: 30 }, (_, index) => produce("orders", `${index}`)));
  const held = await Promise.all(["a", "b", "c"].map((client) => lease("orders", client)));
  const ids = held.flatMap(({ body }) => body.items.map(({ id }: { id: string }) => id));
  expect(new Set(ids).size).toBe(30);
  const completed = await call("queue.complete", {
    ...{ queue_name: "orders", partition: 0, request_timeout: "1m", ids },
  });
  expect(completed.code).toBe(200);
});

test("metrics are of all threads", async () => {
  const name = 'holdfast_requests_total{operation="queueInfo",code="200"}';
  await createQueue("counted");
  for (let count = 0; count < 24; count += 1) await call("queues.info", { queue_name: "counted" });
  expect(await metric(name)).toBe(24);
});

test("what happened to items is the same at every thread", async () => {
  await createQueue("told");
  await produce("told", "a", "b");
  const asked = { queue_name: "told" };
  for (let count = 0; count < 8; count += 1) {
    const { body } = await call("queue.stats", asked);
    expect(body.logical_queues).toMatchObject([{ counters: { produced: 2, leased: 0 } }]);
    const all = await call("server.series", { names: ["produced"] });
    expect(all.body).toMatchObject({ queue_name: "", since: expect.stringMatching(/^2/) });
  }
});

test("a lease waits for items of another connection, once for each client", async () => {
  await createQueue("late");
  const waiting = lease("late", "a");
  // Until it is in line, wherever the call came in.
  while ((await metric('holdfast_queue_waiting_leases{queue="late"}')) !== 1) await Bun.sleep(5);
  const refusals = await Promise.all(Array.from({ length: 8 }, () => lease("late", "a")));
  expect(new Set(refusals.map(({ body }) => body.reason))).toEqual(new Set(["duplicate_client"]));
  await produce("late", "x");
  expect((await waiting).body.items).toHaveLength(1);
});

test("a client that hangs up leaves the line", async () => {
  await createQueue("left");
  const controller = new AbortController();
  const gone = lease("left", "a", { signal: controller.signal }).catch(() => "gone");
  const inLine = 'holdfast_queue_waiting_leases{queue="left"}';
  while ((await metric(inLine)) !== 1) await Bun.sleep(5);
  controller.abort();
  expect(await gone).toBe("gone");
  while ((await metric(inLine)) !== 0) await Bun.sleep(5);
  await produce("left", "x");
  expect((await lease("left", "b")).body.items).toHaveLength(1);
});

test("a key is known to all threads", async () => {
  await createQueue("keyed");
  const keyed = { headers: { "idempotency-key": "one-key-of-this-test" } };
  const items = [{ utf8: "x" }];
  const asked = { queue_name: "keyed", request_timeout: "1m", items };
  const first = await call("queue.produce", asked, keyed);
  expect([first.code, first.headers.get("idempotency-replayed")]).toEqual([200, null]);
  for (let count = 0; count < 8; count += 1) {
    const again = await call("queue.produce", asked, keyed);
    expect([again.code, again.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
  }
  expect((await call("queue.inspect", { queue_name: "keyed" })).body).toMatchObject({ queued: 1 });
});

test("a transact is done once, whichever threads hear it", async () => {
  for (const queue of ["inputs", "outputs"]) await createQueue(queue);
  await produce("inputs", "x");
  const { body } = await lease("inputs", "a");
  const [{ id }] = body.items;
  const keyed = { headers: { "idempotency-key": "one-transact-of-this-test" } };
  const asked = {
    request_timeout: "1m",
    complete: [{ queue_name: "inputs", partition: body.partition, ids: [id] }],
    produce: [{ queue_name: "outputs", items: [{ utf8: "y" }] }],
  };
  const first = await call("queue.transact", asked, keyed);
  const produced = [{ queue_name: "outputs", partition: 0, delivered: expect.any(Boolean) }];
  expect(first).toMatchObject({ code: 200, body: { produced } });
  for (let count = 0; count < 8; count += 1) {
    const again = await call("queue.transact", asked, keyed);
    expect([again.code, again.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
    expect(again.body).toEqual(first.body);
  }
  expect((await lease("outputs", "a")).body.items).toHaveLength(1);
  expect((await call("queue.inspect", { queue_name: "outputs" })).body).toMatchObject({
    queued: 0,
  });
});

test("refusals are told as by one thread", async () => {
  const missing = await call("queue.inspect", { queue_name: "missing" });
  expect(missing).toMatchObject({ code: 400, body: { reason: "no_such_queue" } });
  const unknown = await call("queue.inspect", { queue: "orders" });
  expect(unknown).toMatchObject({ code: 400, body: { reason: "malformed" } });
  const backup = await fetch(`http://127.0.0.1:${server.port}/backup`, {
    ...{ method: "POST", headers: json, body: "{}" },
  });
  expect(await backup.json()).toMatchObject({ code: 453, reason: "backups_off" });
  for (const path of ["health", "readyz", "livez"]) {
    expect((await fetch(`http://127.0.0.1:${server.port}/${path}`)).status).toBe(200);
  }
});

test("a second server is refused the port, whether it has threads or not", async () => {
  for (const flags of [threads, ["--http-threads", "1"]]) {
    const data = ["--data", join(folder, "second"), "--port", String(server.port)];
    const { code, output } = await runServer([...data, ...flags]);
    expect({ code, output }).toEqual({
      code: 3,
      output: `port is taken; another program listens on 127.0.0.1:${server.port}\n`,
    });
  }
});

/** Threads that have nothing behind them. */
function idleThreads(host: string, port: number) {
  const unused = () => Promise.reject(new Error("nothing is asked"));
  return listenInThreads({
    ...{ config: { ...defaultConfig(), host }, tls: null, count: 2, port, log: silentLog },
    site: { site: folder, manifest: join(folder, "none"), building: join(folder, "none") },
    module: new URL("../http.worker.ts", import.meta.url),
    serving: {
      routes: {} as never,
      health: unused,
      ready: unused,
      metrics: unused,
      backup: unused,
    },
    metrics: { render: unused },
    broken: () => undefined,
  });
}

function refusalOf(threads: ReturnType<typeof idleThreads>): Promise<unknown> {
  return threads.catch((error: unknown) => error);
}

test("threads that are refused the port end, and say so", async () => {
  const other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const listening = idleThreads("127.0.0.1", Number(other.port));
  expect(await refusalOf(listening)).toBeInstanceOf(ListenError);
  await other.stop();
});

test.skipIf(process.platform !== "linux")(
  "a port of one address is another server's on another, and nobody's on all of them",
  async () => {
    const port = freePort();
    const one = await idleThreads("127.0.0.1", port);
    const beside = await idleThreads("127.0.0.2", port);
    for (const host of ["127.0.0.1", "127.0.0.2", "0.0.0.0"]) {
      expect(await refusalOf(idleThreads(host, port))).toMatchObject({ fault: "taken" });
    }
    for (const listening of [one, beside]) await listening.stop(0);
    // At once: whoever comes second hears it, also of all addresses.
    for (const host of ["127.0.0.1", "0.0.0.0"]) {
      const both = await Promise.allSettled([
        idleThreads("127.0.0.1", port),
        idleThreads(host, port),
      ]);
      expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      for (const done of both) if (done.status === "fulfilled") await done.value.stop(0);
    }
  },
);

test("a stop answers what waits and ends", async () => {
  const flags = [...threads, "--shutdown-timeout-ms", "600000"];
  const other = await startServer({ data: join(folder, "other"), flags });
  const url = `http://127.0.0.1:${other.port}/v1/`;
  const post = (path: string, body: object) =>
    fetch(url + path, { method: "POST", headers: json, body: JSON.stringify(body) });
  await post("queues.create", { queue_name: "q", ...timeouts, requested_partitions: 1 });
  const waiting = post("queue.lease", {
    ...{ queue_name: "q", client_id: "a", batch_size: 1, request_timeout: "1m" },
  });
  const metrics = async () => (await fetch(`http://127.0.0.1:${other.port}/metrics`)).text();
  while (!(await metrics()).includes('waiting_leases{queue="q"} 1')) await Bun.sleep(5);
  const stopped = other.stop();
  expect((await waiting).status).toBe(503);
  expect(await stopped).toBe(0);
});

test("the overview is made by the thread that has the queues, once for all who ask", async () => {
  await createQueue("seen");
  await produce("seen", "a");
  let latest = await call("server.overview", {});
  while (!latest.body.queues.queue_name.includes("seen"))
    latest = await call("server.overview", {});
  const looks = await Promise.all(Array.from({ length: 12 }, () => call("server.overview", {})));
  const made = [latest, ...looks].map(({ body }) => Date.parse(body.as_of));
  const moments = [...new Set(made)].sort((a, b) => a - b);
  for (const [index, moment] of moments.entries()) {
    expect(moment - (moments[index - 1] ?? 0)).toBeGreaterThanOrEqual(999);
  }
  expect((await call("queue.explain", { queue_name: "seen" })).body.queue_name).toBe("seen");
  expect((await call("queue.clients", { queue_name: "seen" })).body).toMatchObject({ asking: [] });
});
