import { expect, test } from "bun:test";
import { connect } from "node:net";
import { operations } from "../openapi/operations.ts";
import { idleTimeoutSeconds } from "./silence.ts";
import { listeningApp } from "./testing/listening-app.ts";

/** More than the system holds of an answer, so that most of it is still the server's. */
const items = 24;
const itemBytes = 1_000_000;

test("a reader that takes no bytes for longer than a connection may be idle gets the whole answer", async () => {
  await using app = await listeningApp();
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
  const answer = await readSlowly(Number(new URL(app.url).port), page);
  const bodyAt = answer.indexOf("\r\n\r\n") + 4;
  expect(JSON.parse(answer.slice(bodyAt)).items).toHaveLength(items);
}, 120_000);

/** Reads the beginning, rests for longer than a connection may be idle, and reads the rest. */
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
  socket.write(
    `POST ${operations.listItems.path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  return promise;
}
