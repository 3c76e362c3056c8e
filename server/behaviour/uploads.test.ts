// Stalled uploads over sockets: at each limit they are rejected in favour of other requests.

import { expect, test } from "bun:test";
import { connect } from "node:net";
import { operations } from "../../openapi/operations.ts";
import { listeningApp } from "../testing/listening-app.ts";

const { path } = operations.listQueues;

test.each([
  ["concurrent requests", { connectionsMax: 2 }, 0],
  ["body bytes", { bodiesMax: 200_000 }, 70_000],
])("a stalled upload is rejected at the limit of %s", async (_, config, sent) => {
  await using app = await listeningApp(config);
  const stalled = [stall(app.url, sent), stall(app.url, sent)];
  await Promise.all(stalled.map(({ isOpen }) => isOpen));
  const body = JSON.stringify({ pivot: "", limit: 10 });
  const padded = body + " ".repeat(sent);
  let served = 0;
  // Stalled uploads count as slow after a second.
  while (stalled.every(({ answer }) => answer() === "")) {
    const { status } = await fetch(app.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: padded,
    });
    if (status === 200) served += 1;
  }
  expect(served).toBeGreaterThan(0);
  expect(stalled.map(({ answer }) => answer()).join("")).toContain(
    "request body was received too slowly while others waited",
  );
  for (const { end } of stalled) end();
});

/** Starts an upload that stops after `sent` bytes of its body. */
function stall(url: string, sent: number) {
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" });
  let answer = "";
  socket.on("data", (bytes) => {
    answer += bytes;
  });
  socket.on("error", () => undefined);
  const head = [
    `POST ${path} HTTP/1.1`,
    "Host: localhost",
    "Content-Type: application/json",
    "Content-Length: 200000",
  ];
  const { promise: isOpen, resolve } = Promise.withResolvers<void>();
  socket.write(`${head.join("\r\n")}\r\n\r\n${"x".repeat(sent)}`, () => resolve());
  return { isOpen, answer: () => answer, end: () => socket.destroy() };
}
