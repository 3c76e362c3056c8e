import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { Metrics } from "../../observability/metrics.ts";
import { defaultConfig, memoryEngine, silentLog } from "../../testing/memory-engine.ts";
import { createApp } from "../../testing/one-thread-app.ts";
import { ListenError, listen, tryListening } from "./listen.ts";

async function setup() {
  const engine = await memoryEngine();
  const newApp = () =>
    createApp({
      engines: [engine],
      log: silentLog,
      version: "1.2.3",
      metrics: new Metrics({ version: "1.2.3", status: () => engine.status() }),
      isClosing: () => false,
      config: defaultConfig(),
    });
  const listening = listen(newApp(), { host: "127.0.0.1", port: 0 });
  const { port } = listening;
  await engine.createQueue({
    name: "orders",
    deadQueue: "",
    reference: "",
    leaseTimeoutMs: 60_000,
    expireTimeoutMs: 3_600_000,
    maxAttempts: 0,
    requestedPartitions: 1,
  });
  return {
    engine,
    listening,
    port,
    newApp,
    post: (path: string, body: unknown) =>
      fetch(listening.url + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    async [Symbol.asyncDispose]() {
      await engine.close();
      await listening.stop(100);
    },
  };
}

const lease = {
  queue_name: "orders",
  client_id: "worker-1",
  request_timeout: "1m",
  batch_size: 10,
};

function open(port: number): Socket {
  return connect(port, "127.0.0.1").on("error", () => undefined);
}

/** Sends raw bytes and returns the raw response. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = open(port);
    socket.on("data", (data) => {
      answer += data.toString();
      if (answer.includes("}") || answer.includes("close")) socket.destroy();
    });
    socket.on("close", () => resolve(answer));
    socket.write(text);
  });
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await Bun.sleep(1);
}

test("listen: a port in use is refused, and the first server keeps it", async () => {
  await using server = await setup();
  const second = () => listen(server.newApp(), { host: "127.0.0.1", port: server.port });
  expect(second).toThrow(ListenError);
  expect(second).toThrow(`port is in use; another program listens on 127.0.0.1:${server.port}`);
  expect((await fetch(`${server.listening.url}/health`)).status).toBe(200);
});

test("listen: an unusable address is refused with its reason before anything is created", async () => {
  await using server = await setup();
  const fault = (host: string, port: number) =>
    tryListening({ host, port }).catch(({ fault, message }: ListenError) => ({ fault, message }));
  expect(await fault("127.0.0.1", server.port)).toEqual({
    fault: "taken",
    message: `port is in use; another program listens on 127.0.0.1:${server.port}`,
  });
  for (const host of ["192.0.2.1", "nowhere.invalid"]) {
    expect(await fault(host, 9090)).toEqual({
      fault: "settings",
      message: `host is not an address of this machine; got '${host}'`,
    });
  }
  expect(await fault("127.0.0.1", 0)).toBeUndefined();
});

test("listen: a port that was tried is free afterwards", async () => {
  await using server = await setup();
  const { port } = server;
  await server.listening.stop(100);
  await tryListening({ host: "127.0.0.1", port });
  await listen(server.newApp(), { host: "127.0.0.1", port }).stop(100);
});

test("a lease waits on its socket and is answered by a produce", async () => {
  await using server = await setup();
  const waiting = server.post("/v1/queue.lease", lease);
  await until(() => server.engine.status().waitingLeases === 1);
  const produce = { queue_name: "orders", request_timeout: "1m", items: [{ utf8: "日本" }] };
  expect((await server.post("/v1/queue.produce", produce)).status).toBe(200);
  const { items } = (await (await waiting).json()) as { items: { bytes: string }[] };
  expect(items.map(({ bytes }) => Buffer.from(bytes, "base64").toString())).toEqual(["日本"]);
});

test("a lease of a client that hangs up, fully or half, stops waiting", async () => {
  await using server = await setup();
  const body = JSON.stringify(lease);
  for (const hangUp of ["destroy", "end", "resetAndDestroy"] as const) {
    const socket = open(server.port);
    socket.write(
      `POST /v1/queue.lease HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await until(() => server.engine.status().waitingLeases === 1);
    socket[hangUp]();
    await until(() => server.engine.status().waitingLeases === 0);
    socket.destroy();
  }
  // None of these leases received the item.
  await server.engine.produce({
    queue: "orders",
    requestTimeoutMs: 60_000,
    items: [{ payload: "x" }],
  });
  const answer = await server.post("/v1/queue.lease", lease);
  expect(await answer.json()).toMatchObject({ items: [{ attempts: 1 }] });
});

test("a body that is too large gets a JSON reply, however it is sent", async () => {
  await using server = await setup();
  const head =
    "POST /v1/queue.stats HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  const declared = await raw(server.port, `${head}Content-Length: 99999999999\r\n\r\n`);
  const block = `10000\r\n${"a".repeat(0x10000)}\r\n`;
  const chunked = await raw(
    server.port,
    `${head}Transfer-Encoding: chunked\r\n\r\n${block.repeat(5)}`,
  );
  for (const answer of [declared, chunked]) {
    expect(answer).toStartWith("HTTP/1.1 413");
    expect(answer).toContain('"message":"request body exceeds 250.0KiB limit"');
  }
});

test("a body in chunks is read like any other", async () => {
  await using server = await setup();
  const head =
    "POST /v1/queue.stats HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  const body = '{"queue_name":"orders"}';
  const chunks = [...body].map((one) => `1\r\n${one}\r\n`).join("");
  const answer = await raw(
    server.port,
    `${head}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
  );
  expect(answer).toStartWith("HTTP/1.1 200");
});

test.each([
  ["GET /health HTTP/1.1\r\nHost: local host\r\n\r\n", "403"],
  ["GET /health HTTP/1.1\r\nHost: localhost/\r\n\r\n", "403"],
  ["GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.com\r\n\r\n", "403"],
  ["GET http://evil.com/health HTTP/1.1\r\nHost: localhost\r\n\r\n", "200"],
  ["PROPFIND /v1/queue.stats HTTP/1.1\r\nHost: localhost\r\n\r\n", "405"],
  ["GET /v1/../health HTTP/1.1\r\nHost: localhost\r\n\r\n", "200"],
  ["GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"],
])("request line and host %p: %s", async (request, code) => {
  await using server = await setup();
  expect(await raw(server.port, request)).toStartWith(`HTTP/1.1 ${code}`);
});

test("stop: waiting leases are answered, then the port is free", async () => {
  await using server = await setup();
  const waiting = server.post("/v1/queue.lease", lease);
  await until(() => server.engine.status().waitingLeases === 1);
  const stopped = server.listening.stop(5_000);
  await server.engine.close();
  expect((await waiting).status).toBe(503);
  await stopped;
  const again = listen(server.newApp(), { host: "127.0.0.1", port: server.port });
  await again.stop(100);
});

test("stop: requests that are not answered in time are cut off", async () => {
  await using server = await setup();
  const waiting = server.post("/v1/queue.lease", lease).catch(() => "cut off");
  await until(() => server.engine.status().waitingLeases === 1);
  await server.listening.stop(10);
  expect(await waiting).toBe("cut off");
});

test("HTTP/1.0 without a Host is answered, at any path; a foreign Host or Origin is refused there too", async () => {
  await using server = await setup();
  const body = JSON.stringify({ queue_name: "orders", partition: 0, pivot: "", limit: 1 });
  const post = [
    "POST /v1/storage/items.list HTTP/1.0",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
  ];
  const status = async (lines: readonly string[], sent = "") =>
    (await raw(server.port, `${lines.join("\r\n")}\r\n\r\n${sent}`)).slice(9, 12);
  for (const path of ["/readyz", "/health", "/livez", "/metrics"]) {
    expect([path, await status([`GET ${path} HTTP/1.0`])]).toEqual([path, "200"]);
  }
  expect(await status(post, body)).toBe("200");
  expect(await status(["GET /readyz HTTP/1.0", "Host: evil.example"])).toBe("403");
  expect(await status([...post, "Origin: http://evil.example"], body)).toBe("403");
  expect(await status(["GET /readyz HTTP/1.1"])).toBe("400");
});
