import { expect, test } from "bun:test";
import { connect } from "node:net";
import { operations } from "../../openapi/operations.ts";
import { idleTimeoutSeconds, readerTimeoutSeconds } from "../http/connections/idle-timeouts.ts";
import { listeningApp } from "../testing/listening-app.ts";

/** More than the system buffers of a response, so that the server still has most of it. */
const items = 24;
const itemBytes = 1_000_000;

/** Returns an app with items, and the request for a page of all items. */
async function setup() {
  const app = await listeningApp();
  const post = (path: string, body: object) =>
    fetch(app.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const queue_name = "orders";
  const timeouts = { lease_timeout: "1m", expire_timeout: "1h" };
  await post(operations.createQueue.path, { queue_name, ...timeouts });
  for (let count = 0; count < items; count += 4) {
    const four = Array.from({ length: 4 }, () => ({ utf8: "x".repeat(itemBytes) }));
    await post(operations.produce.path, { queue_name, request_timeout: "1m", items: four });
  }
  const page = JSON.stringify({ queue_name, partition: 0, pivot: "", limit: items });
  return { app, page, port: Number(new URL(app.url).port) };
}

test.concurrent("a reader that takes no bytes for longer than a connection may be idle gets the whole answer", async () => {
  const { app, page, port } = await setup();
  await using _ = app;
  const answer = await readSlowly(port, page);
  const bodyAt = answer.indexOf("\r\n\r\n") + 4;
  expect(JSON.parse(answer.slice(bodyAt)).items).toHaveLength(items);
}, 120_000);

test.concurrent("an upload that stalls behind a large answer is given no longer than any other", async () => {
  const { app, page, port } = await setup();
  await using _ = app;
  const closed = Promise.withResolvers<void>();
  const read = Promise.withResolvers<void>();
  const socket = connect({ port, host: "127.0.0.1" });
  let missing: number | null = null;
  socket.on("data", (chunk: Buffer) => {
    if (missing === null) {
      const text = chunk.toString("latin1");
      const declared = /content-length: (\d+)/i.exec(text)?.[1];
      missing = text.indexOf("\r\n\r\n") + 4 + Number(declared);
    }
    missing -= chunk.length;
    if (missing === 0) read.resolve();
  });
  socket.on("close", () => closed.resolve());
  socket.write(listRequest(page.length, page));
  await read.promise;
  socket.write(listRequest(page.length, page.slice(1)));
  const started = performance.now();
  await closed.promise;
  expect(performance.now() - started).toBeLessThan((readerTimeoutSeconds / 2) * 1_000);
}, 300_000);

function listRequest(bytes: number, body: string, header = ""): string {
  return `POST ${operations.listItems.path} HTTP/1.1\r\nHost: localhost\r\n${header}Content-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n${body}`;
}

/** Reads the beginning, pauses for longer than a connection may be idle, and reads the rest. */
function readSlowly(port: number, body: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  const socket = connect({ port, host: "127.0.0.1" });
  socket.once("data", () => {
    socket.pause();
    setTimeout(() => socket.resume(), (idleTimeoutSeconds + 10) * 1_000);
  });
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.on("close", () => resolve(Buffer.concat(chunks).toString()));
  socket.write(listRequest(body.length, body, "Connection: close\r\n"));
  return promise;
}
