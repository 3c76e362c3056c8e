// Clients that are slow, disconnect halfway or connect in crowds. None of them may keep resources,
// or keep other clients from being served.

import type { Socket } from "node:net";
import { exchange, openSocket } from "./raw/raw-exchange.ts";
import type { Target } from "./target.ts";

export interface ConnectionReport {
  readonly figures: Record<string, number>;
  readonly faults: string[];
}

/** A connection that sends nothing is closed after this time, with a margin. */
const closedMsMax = 75_000;
const trickleMs = 1_000;
const crowd = 1_000;
const crowdAtOnce = 200;
const readers = 20;

const host = "Host: localhost\r\n";
const json = "Content-Type: application/json\r\n";

function post(path: string, body: string, length = Buffer.byteLength(body)): string {
  return `POST ${path} HTTP/1.1\r\n${host}${json}Content-Length: ${length}\r\n\r\n${body}`;
}

const lease = (client: string) =>
  post(
    "/v1/queue.lease",
    JSON.stringify({ queue_name: "canary", client_id: client, request_timeout: "15m" }),
  );

/**
 * Clients that send very slowly, each until it is closed; this takes as long as the server's
 * timeouts.
 */
export async function trySlow(target: Target): Promise<ConnectionReport> {
  const faults: string[] = [];
  const healthy = `GET /health HTTP/1.1\r\n${host}\r\n`;
  const cases: Readonly<Record<string, readonly [first: string, trickle: string | null]>> = {
    "nothing at all": ["", null],
    "half a head": ["POST /v1/queue.stats HTTP/1.1\r\nHost: loc", null],
    "half a head after a whole request": [`${healthy}GET /health HTTP/1.1\r\nHo`, null],
    "a head that trickles": [`GET /health HTTP/1.1\r\n${host}X: `, "y"],
    "half a body": [post("/v1/queue.stats", '{"queue', 1_000), null],
    "a body that trickles": [post("/v1/queue.stats", '{"queue', 100_000), "x"],
    "a body in chunks that trickles": [
      `POST /v1/queue.stats HTTP/1.1\r\n${host}${json}Transfer-Encoding: chunked\r\n\r\n`,
      "1\r\nx\r\n",
    ],
  };
  let slowestMs = 0;
  await Promise.all(
    Object.entries(cases).map(async ([name, [first, trickle]]) => {
      const started = performance.now();
      const isClosed = await closes(target.port, first, trickle);
      slowestMs = Math.max(slowestMs, performance.now() - started);
      if (!isClosed) faults.push(`${name}: not closed within ${closedMsMax / 1_000} s`);
    }),
  );
  const figures = {
    slowClients: Object.keys(cases).length,
    slowClosedAfterMsMax: Math.round(slowestMs),
  };
  return { figures, faults };
}

function closes(port: number, first: string, trickle: string | null): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = openSocket(port);
    const finish = (isClosed: boolean) => {
      clearTimeout(timer);
      clearInterval(drip);
      socket.destroy();
      resolve(isClosed);
    };
    const timer = setTimeout(() => finish(false), closedMsMax);
    const drip = setInterval(() => {
      if (trickle !== null) socket.write(trickle);
    }, trickleMs);
    // Answers are read and ignored.
    socket.on("data", () => undefined);
    socket.on("end", () => finish(true));
    socket.on("close", () => finish(true));
    if (first !== "") socket.write(first);
  });
}

/** Leases whose clients disconnected, in each possible way. */
export async function tryHalfClosed(target: Target): Promise<ConnectionReport> {
  const faults: string[] = [];
  const ways = ["end", "destroy", "resetAndDestroy"] as const;
  for (const way of ways) {
    const sockets = await Promise.all(
      Array.from({ length: 50 }, (_, index) => opened(target.port, lease(`${way}-${index}`))),
    );
    await until(async () => (await target.holdings()).waitingLeases === sockets.length);
    for (const socket of sockets) socket[way]();
    const left = await until(async () => (await target.holdings()).waitingLeases === 0);
    if (!left) faults.push(`${way}: leases wait for clients who have gone`);
    for (const socket of sockets) socket.destroy();
  }
  // None of those leases received the next item.
  const canaryMs = await target.canary();
  return {
    figures: { halfClosed: ways.length * 50, halfClosedCanaryMs: Math.round(canaryMs) },
    faults,
  };
}

/** Clients that request large answers and read none of them, while others work. */
export async function trySlowReaders(target: Target): Promise<ConnectionReport> {
  const items = Array.from({ length: 1_000 }, () => ({ utf8: "x".repeat(4_000) }));
  const produce = { queue_name: "large", request_timeout: "1m", items };
  const produced = await opened(target.port, post("/v1/queue.produce", JSON.stringify(produce)));
  await new Promise<void>((resolve) => produced.once("data", () => resolve()));
  produced.destroy();
  const page = { queue_name: "large", partition: 0, pivot: "", limit: 20_000 };
  const before = await target.holdings();
  const sockets = await Promise.all(
    Array.from({ length: readers }, async () => {
      const socket = await opened(
        target.port,
        post("/v1/storage/items.list", JSON.stringify(page)),
      );
      socket.pause();
      return socket;
    }),
  );
  let canaryMsMax = 0;
  for (let round = 0; round < 10; round += 1) {
    canaryMsMax = Math.max(canaryMsMax, await target.canary());
  }
  const during = await target.holdings();
  for (const socket of sockets) socket.destroy();
  return {
    figures: {
      slowReaders: readers,
      slowReadersCanaryMsMax: Math.round(canaryMsMax),
      slowReadersMemoryBytes: Math.max(0, during.memoryBytes - before.memoryBytes),
    },
    faults: [],
  };
}

const defaultBodiesMax = 256 * 1024 * 1024;
const sentBytes = 4_400_000;

/** The stalled uploads: bytes announced, bytes sent, and their number. */
function stalls(bodiesMax: number) {
  const path = "/v1/queue.produce";
  const count = Math.ceil(bodiesMax / sentBytes) + 1;
  return {
    "nothing sent": [
      { path: "/v1/storage/items.import", announced: 64_000_000, sent: 0, count: 10 },
      { path, announced: 4_900_000, sent: 0, count: 60 },
      { path: "/v1/queue.stats", announced: 250_000, sent: 0, count: 60 },
    ],
    "most sent": [{ path, announced: 4_900_000, sent: sentBytes, count }],
  };
}

/**
 * Uploads that stall. Meanwhile small calls continue. A large produce is served at once if the
 * stalled uploads sent nothing, and otherwise once they count as slow.
 */
export async function tryStalledUploads(
  target: Target,
  bodiesMax = defaultBodiesMax,
): Promise<ConnectionReport> {
  const faults: string[] = [];
  let count = 0;
  let canaryMsMax = 0;
  await target.create("uploads");
  for (const [name, uploads] of Object.entries(stalls(bodiesMax))) {
    const sockets = await Promise.all(
      uploads.flatMap(({ path, announced, sent, count }) =>
        Array.from({ length: count }, () =>
          opened(target.port, post(path, "x".repeat(sent), announced)),
        ),
      ),
    );
    count += sockets.length;
    try {
      for (let round = 0; round < 10; round += 1) {
        canaryMsMax = Math.max(canaryMsMax, await target.canary());
      }
    } catch (error) {
      faults.push(`${name}: ${error instanceof Error ? error.message : error}`);
    }
    const isProduced =
      name === "nothing sent" ? await large(target) : await until(() => large(target));
    if (!isProduced) faults.push(`${name}: a large produce is kept out`);
    for (const socket of sockets) socket.destroy();
  }
  return {
    figures: { stalledUploads: count, stalledCanaryMs: Math.round(canaryMsMax) },
    faults,
  };
}

/** Whether a large produce is answered 200. */
async function large({ port }: Target): Promise<boolean> {
  const items = [{ utf8: "x".repeat(4_500_000) }];
  const body = JSON.stringify({ queue_name: "uploads", request_timeout: "1m", items });
  const bytes = Buffer.from(post("/v1/queue.produce", body));
  return (await exchange({ port, bytes, quietMs: 60_000 })).outcome === 200;
}

/** Connections that are opened and dropped after nothing, half a request or a whole one. */
export async function tryCrowd(target: Target): Promise<ConnectionReport> {
  const sent = ["", "GET /hea", `GET /health HTTP/1.1\r\n${host}\r\n`, lease("crowd")];
  for (let done = 0; done < crowd; done += crowdAtOnce) {
    const sockets = await Promise.all(
      Array.from({ length: crowdAtOnce }, (_, index) =>
        opened(target.port, sent[index % sent.length] ?? ""),
      ),
    );
    for (const [index, socket] of sockets.entries()) {
      if (index % 2 === 0) socket.destroy();
      else socket.resetAndDestroy();
    }
  }
  const canaryMs = await target.canary();
  return { figures: { crowd, crowdCanaryMs: Math.round(canaryMs) }, faults: [] };
}

function opened(port: number, first: string): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = openSocket(port);
    const isOpen = () => resolve(socket);
    socket.on("close", isOpen);
    socket.on("connect", () => {
      if (first === "") isOpen();
      else socket.write(first, isOpen);
    });
  });
}

/** Whether the condition becomes true before a client would give up. */
async function until(condition: () => Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + 30_000;
  while (performance.now() < deadline) {
    if (await condition()) return true;
    await Bun.sleep(10);
  }
  return false;
}
