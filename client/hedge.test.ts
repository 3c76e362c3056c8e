// Silent connections and dead nodes: calls continue on other connections, and nothing is done
// twice.

import { expect, test } from "bun:test";
import { listeningApp } from "../server/testing/listening-app.ts";
import { type ClientOptions, createClient } from "./client.ts";
import { HoldfastError } from "./errors.ts";
import { nextRound, settled, stillTime } from "./testing/still-time.ts";
import { type Operation, operationPaths } from "./wire.ts";

type Fetch = NonNullable<ClientOptions["fetch"]>;

const settings = { lease_timeout: "1m", expire_timeout: "1h" };
const quickly = { pace: { baseMs: 1, capMs: 1 } };

/** Records each request's key and whether it has its own connection. Silent requests never end. */
function silencing(isSilent: (path: string, init: RequestInit) => boolean, isHeard = false) {
  const asked: { call: string; isApart: boolean; key: string | null; signal: AbortSignal }[] = [];
  const fetch: Fetch = async (url, init) => {
    const call = url.slice(url.lastIndexOf(".") + 1);
    const key = new Headers(init.headers).get("idempotency-key");
    const signal = init.signal as AbortSignal;
    asked.push({ call, isApart: init.keepalive === false, key, signal });
    if (!isSilent(call, init)) return globalThis.fetch(url, init);
    // The server receives it, but its answer is lost.
    if (isHeard) await globalThis.fetch(url, { ...init, signal: null });
    return new Promise<Response>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  };
  return { asked, fetch };
}

test.each([false, true])(
  "copy: a produce without an answer is copied, and stored once (received: %p)",
  async (isHeard) => {
    using time = stillTime();
    await using server = await listeningApp();
    const { asked, fetch } = silencing(
      (call, { keepalive }) => call === "produce" && keepalive !== false,
      isHeard,
    );
    const queue = createClient({ url: server.url, fetch }).queue("orders");
    await queue.create(settings);
    const produced = queue.produce("a");
    while (asked.length < 2) await nextRound();
    if (isHeard) while ((await queue.inspect()).queued === 0);
    time.advance(4_900);
    await settled();
    expect(asked.filter(({ call }) => call === "produce")).toHaveLength(1);
    time.advance(200);
    await produced;
    const [first, second, ...others] = asked.filter(({ call }) => call === "produce");
    expect(others).toEqual([]);
    expect([first?.isApart, second?.isApart]).toEqual([false, true]);
    expect(second?.key).toBe(first?.key ?? "none");
    expect(first?.signal.aborted).toBe(true);
    expect(await queue.inspect()).toMatchObject({ queued: 1 });
  },
);

test("copy: if a slow server answers the first request, that answer counts", async () => {
  using time = stillTime();
  const { promise: answer, resolve } = Promise.withResolvers<Response>();
  const signals: AbortSignal[] = [];
  const client = createClient({
    fetch: (_, init) => {
      signals.push(init.signal as AbortSignal);
      return signals.length === 1 ? answer : new Promise(() => undefined);
    },
  });
  const produced = client.queue("orders").produce("a");
  await settled();
  time.advance(5_000);
  await settled();
  expect(signals).toHaveLength(2);
  resolve(Response.json({ code: 200, code_text: "OK", message: "" }));
  await produced;
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});

test.each([
  ["refused with 429", 429, "unknown"],
  ["late", 454, "unknown"],
  ["refused for good", 453, "failed"],
] as const)(
  "copy: one that is %s decides the outcome as far as it can",
  async (_, status, code) => {
    using time = stillTime();
    let asked = 0;
    const client = createClient({
      attemptsMax: 1,
      fetch: (__, init) => {
        asked += 1;
        if (asked > 1) {
          const body = { code: status, code_text: "", message: "why", reason: "any" };
          return Promise.resolve(Response.json(body, { status }));
        }
        const signal = init.signal as AbortSignal;
        return new Promise((___, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        });
      },
    });
    const ended = client
      .queue("orders")
      .produce("a")
      .catch((error: unknown) => error);
    await settled();
    for (let passedMs = 0; passedMs < 65_000; passedMs += 5_000) {
      time.advance(5_000);
      await settled();
    }
    const error = await ended;
    expect(error instanceof HoldfastError && error.code).toBe(code);
    expect(asked).toBe(2);
  },
);

test.each([
  [
    "a lease, which may wait",
    (client: ReturnType<typeof createClient>) =>
      client.queue("orders").lease({ timeoutMs: 60_000 }),
  ],
  [
    "a produce without a key",
    (client: ReturnType<typeof createClient>) => client.queue("orders").produce("a"),
  ],
  [
    "a deletion of items",
    (client: ReturnType<typeof createClient>) =>
      client.deleteItems({ queue_name: "orders", partition: 0, ids: ["x"] }),
  ],
  [
    "a creation of a queue",
    (client: ReturnType<typeof createClient>) => client.queue("orders").create(settings),
  ],
])("copy: %s is not copied", async (_, begin) => {
  using time = stillTime();
  let asked = 0;
  const client = createClient({
    keys: false,
    attemptsMax: 1,
    fetch: () => {
      asked += 1;
      return new Promise(() => undefined);
    },
  });
  void begin(client).catch(() => undefined);
  await settled();
  time.advance(50_000);
  await settled();
  expect(asked).toBe(1);
});

const reading: readonly Operation[] = [
  "listQueues",
  "queueInfo",
  "stats",
  "inspect",
  "explain",
  "clients",
  "overview",
  "series",
  "listNodes",
  "whoAmI",
  "listKeys",
  "listActions",
  "listItems",
  "listGroups",
  "listScheduled",
  "findItems",
  "summarizeItems",
  "getItem",
  "explainItem",
  "listTasks",
  "taskInfo",
];

test.each(Object.keys(operationPaths) as Operation[])(
  "copy: %s without a key is copied only if it is a read",
  async (operation) => {
    using time = stillTime();
    let asked = 0;
    const client = createClient({
      keys: false,
      attemptsMax: 1,
      notice: () => undefined,
      fetch: () => {
        asked += 1;
        return new Promise(() => undefined);
      },
    });
    const call = client[operation] as (request: object) => Promise<unknown>;
    const items = [{ source_id: "a", utf8: "x" }];
    void call({ queue_name: "orders", items }).catch(() => undefined);
    await settled();
    time.advance(50_000);
    await settled();
    expect(asked).toBe(reading.includes(operation) ? 2 : 1);
  },
);

/** A fake server that never answers the first requests, and later ones when a test says so. */
function holding() {
  const asked: { url: string; isApart: boolean; answer: () => void }[] = [];
  const fetch: Fetch = (url, { keepalive, signal }) =>
    new Promise((resolve, reject) => {
      const answer = (): void =>
        resolve(Response.json({ code: 200, code_text: "OK", message: "" }));
      asked.push({ url, isApart: keepalive === false, answer });
      signal?.addEventListener("abort", () => reject(signal.reason));
    });
  return { asked, fetch, copies: () => asked.filter(({ isApart }) => isApart) };
}

test("copy: copies do not exceed connectionsMax", async () => {
  using time = stillTime();
  const { asked, fetch, copies } = holding();
  const client = createClient({ fetch, connectionsMax: 40 });
  const calls = Array.from({ length: 10 }, () => client.queue("orders").stats());
  await settled();
  time.advance(20_000);
  await settled();
  expect(asked).toHaveLength(10);
  // An answered call frees a connection for the copy of another.
  asked[0]?.answer();
  await settled();
  expect(copies()).toHaveLength(1);
  for (const { answer } of asked) answer();
  await settled();
  for (const { answer } of asked) answer();
  await Promise.all(calls);
});

test("copy: an address receives one copy at a time", async () => {
  using time = stillTime();
  const { asked, fetch, copies } = holding();
  const client = createClient({ fetch });
  const calls = Array.from({ length: 3 }, () => client.queue("orders").stats());
  await settled();
  time.advance(5_000);
  await settled();
  expect(copies()).toHaveLength(1);
  time.advance(10_000);
  await settled();
  expect(copies()).toHaveLength(1);
  for (let count = 1; count <= 3; count += 1) {
    expect(copies()).toHaveLength(count);
    copies().at(-1)?.answer();
    await settled();
  }
  await Promise.all(calls);
  expect(asked).toHaveLength(6);
});

test("copy: waiting for a copy does not prolong the call", async () => {
  using time = stillTime();
  const { fetch, copies } = holding();
  const client = createClient({ fetch, attemptsMax: 1, notice: () => undefined });
  const ended: number[] = [];
  const codes = [8_000, 30_000].map((timeoutMs) =>
    client
      .queue("orders")
      .stats({ timeoutMs })
      .catch((error) => {
        ended.push(timeoutMs);
        return error.code;
      }),
  );
  await settled();
  for (let passedMs = 0; passedMs < 8_000; passedMs += 1_000) {
    time.advance(1_000);
    await settled();
  }
  expect(ended).toEqual([8_000]);
  expect(copies()).toHaveLength(2);
  for (let passedMs = 8_000; passedMs < 30_000; passedMs += 1_000) {
    time.advance(1_000);
    await settled();
  }
  expect(await Promise.all(codes)).toEqual(["unknown", "unknown"]);
});

test("several addresses: a copy skips silent and unreachable ones", async () => {
  using time = stillTime();
  await using server = await listeningApp();
  await createClient({ url: server.url }).queue("orders").create(settings);
  const [silent, dead] = ["http://silent.test", "http://dead.test"];
  const asked: string[] = [];
  const client = createClient({
    url: [silent, dead, server.url],
    fetch: (url, init) => {
      const { origin } = new URL(url);
      asked.push(origin);
      if (origin === silent) return new Promise(() => undefined);
      const refused = Object.assign(new TypeError("fetch failed"), { code: "ECONNREFUSED" });
      return origin === dead ? Promise.reject(refused) : fetch(url, init);
    },
  });
  const queue = client.queue("orders");
  const produced = queue.produce("a");
  await settled();
  time.advance(5_000);
  for (let round = 0; round < 200 && asked.length < 3; round += 1) await nextRound();
  expect(asked).toEqual([silent, dead, server.url]);
  await produced;
  // Later calls use the address that answered.
  await queue.produce("b");
  expect(asked.slice(3)).toEqual([server.url]);
  expect(await queue.inspect()).toMatchObject({ queued: 2 });
});

test("several addresses: if all others are unreachable, each is tried once", async () => {
  using time = stillTime();
  const asked: string[] = [];
  const silent = "http://silent.test";
  const client = createClient({
    url: [silent, "http://dead.test", "http://gone.test"],
    attemptsMax: 1,
    notice: () => undefined,
    fetch: (url, { signal, keepalive }) => {
      const { origin } = new URL(url);
      asked.push(origin);
      const refused = Object.assign(new TypeError("fetch failed"), { code: "ECONNREFUSED" });
      if (origin !== silent || keepalive === false) return Promise.reject(refused);
      return new Promise((_, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
      });
    },
  });
  const code = client
    .queue("orders")
    .stats({ timeoutMs: 30_000 })
    .catch((error) => error.code);
  await settled();
  time.advance(5_000);
  await settled();
  time.advance(25_000);
  expect(await code).toBe("unknown");
  expect(asked).toEqual([silent, "http://dead.test", "http://gone.test", silent]);
});

test("several addresses: calls switch from an unreachable one, and stay while the next answers", async () => {
  await using server = await listeningApp();
  const asked: string[] = [];
  const dead = "http://127.0.0.1:2";
  const client = createClient({
    url: [dead, `${server.url}/`],
    ...quickly,
    fetch: (url, init) => {
      asked.push(new URL(url).origin);
      return fetch(url, init);
    },
  });
  const queue = client.queue("orders");
  await queue.create(settings);
  await queue.produce("a");
  const worker = queue.work(() => undefined, { processSignals: [] });
  while (worker.counts.completed === 0) await Bun.sleep(1);
  await worker.stop();
  expect(asked.slice(0, 2)).toEqual([dead, server.url]);
  expect(asked.slice(1).every((origin) => origin === server.url)).toBe(true);
});

test("several addresses: calls switch from a silent one, with the same key", async () => {
  using time = stillTime();
  await using server = await listeningApp();
  await createClient({ url: server.url }).queue("orders").create(settings);
  const silent = "http://silent.test";
  const keys: (string | null)[] = [];
  const client = createClient({
    url: [silent, server.url],
    fetch: (url, init) => {
      if (url.endsWith(".produce")) keys.push(new Headers(init.headers).get("idempotency-key"));
      return url.startsWith(silent) ? new Promise(() => undefined) : fetch(url, init);
    },
  });
  const queue = client.queue("orders");
  const produced = queue.produce("a");
  await settled();
  time.advance(5_000);
  await produced;
  await queue.produce("b");
  expect(keys).toEqual([expect.any(String), keys[0] ?? "", expect.any(String)]);
  expect(await queue.inspect()).toMatchObject({ queued: 2 });
});

test("several addresses: calls switch from a node that answers 503", async () => {
  await using server = await listeningApp();
  await using closing = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () =>
      Response.json(
        { code: 503, code_text: "", message: "it is closing", reason: "closing" },
        { status: 503 },
      ),
  });
  const client = createClient({ url: [String(closing.url), server.url], ...quickly });
  await client.queue("orders").create(settings);
  expect(await client.queue("orders").inspect()).toMatchObject({ queued: 0 });
});

test.each([
  [[], "url is invalid; expected at least one, got none"],
  [["http://localhost:9090", "localhost"], "url is invalid; expected one such as"],
  [7, "url is invalid; expected one such as http://localhost:9090, got '7'"],
])("createClient: the url %p is refused", (url, message) => {
  expect(() => createClient({ url: url as string[] })).toThrow(message);
});
