// The engine as used by programs without a type checker; one test bundles it and runs it in its
// own process.

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine, type EmbeddedEngine, QueueError } from "./embed.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-embed-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const orders = {
  name: "orders",
  deadQueue: "",
  reference: "",
  leaseTimeoutMs: 60_000,
  expireTimeoutMs: 86_400_000,
  maxAttempts: 3,
  requestedPartitions: 1,
};
const produced = { queue: "orders", requestTimeoutMs: 900_000 };
const listed = { queue: "orders", partition: 0, pivot: "", limit: 10 };

async function opened(): Promise<EmbeddedEngine & AsyncDisposable> {
  const engine = await createEngine({ store: { kind: "memory" } });
  await engine.createQueue(orders);
  return { ...engine, [Symbol.asyncDispose]: () => engine.close() };
}

/** The message of the refusal, or `null`. Any other error fails the test. */
async function refusalOf(call: () => unknown): Promise<string | null> {
  try {
    await call();
    return null;
  } catch (error) {
    if (error instanceof QueueError && error.code === "invalid") return error.message;
    throw error;
  }
}

type Method = Exclude<keyof EmbeddedEngine, "status" | "close">;

/** Calls a method with one argument, ignoring the types. */
const calls = (engine: EmbeddedEngine, method: Method) =>
  engine[method] as (...argument: readonly unknown[]) => unknown;

const required = (key: string, expected: string): string =>
  `${key} is required; expected ${expected}, got undefined`;

test.each<[Method, string, string]>([
  ["produce", "queue", "a string"],
  ["lease", "queue", "a string"],
  ["complete", "queue", "a string"],
  ["retry", "queue", "a string"],
  ["extend", "queue", "a string"],
  ["release", "queue", "a string"],
  ["transact", "requestTimeoutMs", "a number"],
  ["listQueues", "pivot", "a string"],
  ["createQueue", "name", "a string"],
  ["ensureQueue", "name", "a string"],
  ["updateQueue", "name", "a string"],
  ["deleteQueue", "name", "a string"],
  ["clear", "queue", "a string"],
  ["listItems", "queue", "a string"],
  ["listScheduled", "queue", "a string"],
  ["importItems", "queue", "a string"],
  ["deleteItems", "queue", "a string"],
  ["clients", "queue", "a string"],
])(
  "%s: a request without its keys, and none at all, are refused",
  async (method, key, expected) => {
    await using engine = await opened();
    expect(await refusalOf(() => calls(engine, method)({}))).toBe(required(key, expected));
    expect(await refusalOf(() => calls(engine, method)())).toBe(required("argument", "an object"));
  },
);

test.each<[Method, string]>([
  ["queueInfo", "name"],
  ["stats", "queue"],
  ["inspect", "queue"],
  ["explain", "queue"],
  ["overview", "since"],
  ["reload", "queue"],
  ["backup", "folder"],
  ["requireQueue", "name"],
])("%s: an argument that is not a string is refused", async (method, key) => {
  await using engine = await opened();
  expect(await refusalOf(() => calls(engine, method)())).toBe(required(key, "a string"));
  expect(await refusalOf(() => calls(engine, method)({ name: "orders" }))).toBe(
    `${key} is invalid; expected a string, got Object`,
  );
});

test.each<[Method, unknown, string]>([
  ["produce", produced, required("items", "an array")],
  ["produce", { ...produced, items: "x" }, "items is invalid; expected an array, got 'x'"],
  [
    "produce",
    { ...produced, items: [{ payload: "x" }, {}] },
    required("items[1].payload", "a string or a Uint8Array"),
  ],
  // biome-ignore lint/suspicious/noSparseArray: the hole is the case under test.
  ["produce", { ...produced, items: [,] }, required("items[0]", "an object")],
  [
    "produce",
    { ...produced, items: [{ payload: 42 }] },
    "items[0].payload is invalid; expected a string or a Uint8Array, got 42",
  ],
  [
    "produce",
    { ...produced, items: [{ payload: "x", enqueAt: 1 }] },
    "items[0].enqueAt is unknown; expected one of payload, kind, encoding, reference, enqueueAt, headers, priority, group, uniqueKey, maxAttempts, leaseTimeoutMs",
  ],
  [
    "produce",
    { ...produced, items: [{ payload: "x", enqueueAt: 0.5 }] },
    "items[0].enqueueAt is invalid; expected a whole number of milliseconds since 1970, got 0.5",
  ],
  [
    "produce",
    { ...produced, requestTimeoutMs: "5m", items: [] },
    "requestTimeoutMs is invalid; expected a number, got '5m'",
  ],
  [
    "lease",
    { ...produced, clientId: "a", batchSize: 1, signal: new AbortController() },
    "signal is invalid; expected an AbortSignal, got AbortController",
  ],
  [
    "complete",
    { ...produced, partition: 0, ids: [null] },
    "ids[0] is invalid; expected a string, got null",
  ],
  [
    "retry",
    { queue: "orders", partition: 0, items: [{ id: "x", retryAt: 1.5, dead: false }] },
    "items[0].retryAt is invalid; expected a whole number of milliseconds since 1970, got 1.5",
  ],
  [
    "retry",
    { queue: "orders", partition: 0, items: [{ id: "x", retryAt: null }] },
    required("items[0].dead", "true or false"),
  ],
  ["createQueue", { ...orders, leaseTimeoutMs: undefined }, required("leaseTimeoutMs", "a number")],
  [
    "updateQueue",
    { name: "orders", deadQueue: null },
    "deadQueue is invalid; expected a string, got null",
  ],
  ["deleteQueue", { name: "orders" }, required("force", "true or false")],
  ["listItems", { ...listed, limit: "10" }, "limit is invalid; expected a number, got '10'"],
  [
    "importItems",
    { queue: "orders", partition: 0, items: [{ payload: "x", createdAt: Number.NaN }] },
    "items[0].createdAt is invalid; expected a whole number of milliseconds since 1970, got NaN",
  ],
])(
  "%s: %j is refused, with the expected and the received value",
  async (method, request, message) => {
    await using engine = await opened();
    expect(await refusalOf(() => calls(engine, method)(request))).toBe(message);
    expect(await engine.inspect("orders")).toMatchObject({ queued: 0, scheduled: 0, retried: 0 });
  },
);

test("produce: a request with all its keys, optional ones as undefined and null, is accepted", async () => {
  await using engine = await opened();
  const absent = { kind: undefined, encoding: undefined, reference: undefined, enqueueAt: null };
  const request = { ...produced, items: [{ payload: Buffer.from("x"), ...absent }] };
  expect(await refusalOf(() => calls(engine, "produce")(request))).toBeNull();
  expect(await engine.listItems(listed)).toMatchObject([{ payload: new Uint8Array([120]) }]);
});

test.each<[unknown, string]>([
  [undefined, required("argument", "an object")],
  [{}, required("store", "an object")],
  [{ store: {} }, required("store.kind", "'memory', 'sqlite' or 'postgres'")],
  [
    { store: { kind: "redis" } },
    "store.kind is invalid; expected 'memory', 'sqlite' or 'postgres', got 'redis'",
  ],
  [{ store: { kind: "sqlite" } }, required("store.directory", "a string")],
  [
    { store: { kind: "sqlite", directory: folder, durability: "half" } },
    "store.durability is invalid; expected 'full' or 'normal', got 'half'",
  ],
  [
    { store: { kind: "memory" }, shard: 2 },
    "shard is unknown; expected one of store, notice, receiptsWindowMs, receiptsMax, seriesBytes, historyBytes, testClock",
  ],
])("createEngine: %j is refused", async (options, message) => {
  const create = createEngine as (options: unknown) => Promise<unknown>;
  expect(await refusalOf(() => create(options))).toBe(message);
});

test("ensureQueue: creates the queue once, returns how it differs, and changes it only on request", async () => {
  await using engine = await createEngine({ store: { kind: "memory" } }).then((made) => ({
    ...made,
    [Symbol.asyncDispose]: () => made.close(),
  }));
  expect(await engine.ensureQueue(orders)).toEqual({});
  expect(await engine.ensureQueue(orders)).toEqual({});
  const other = { ...orders, leaseTimeoutMs: 5_000, maxAttempts: 7 };
  const differences = {
    leaseTimeoutMs: { requested: 5_000, actual: 60_000 },
    maxAttempts: { requested: 7, actual: 3 },
  };
  expect(await engine.ensureQueue(other)).toEqual(differences);
  expect(engine.queueInfo("orders")).toMatchObject({ leaseTimeoutMs: 60_000, maxAttempts: 3 });
  expect(await engine.ensureQueue(other, { update: true })).toEqual({});
  expect(engine.queueInfo("orders")).toMatchObject({ leaseTimeoutMs: 5_000, maxAttempts: 7 });
});

test("ensureQueue: unspecified settings may have any value, and an empty one equals an absent one", async () => {
  await using engine = await opened();
  const none = { leasedMax: 0, leaseRate: "", waitingMax: 0, retryBackoff: "", uniqueForMs: 0 };
  expect(await engine.ensureQueue({ ...orders, ...none })).toEqual({});
  await engine.updateQueue({ name: "orders", leasedMax: 5, leaseRate: "10/1s" });
  expect(await engine.ensureQueue(orders)).toEqual({});
  expect(await engine.ensureQueue({ ...orders, ...none })).toEqual({
    leasedMax: { requested: 0, actual: 5 },
    leaseRate: { requested: "", actual: "10/1s" },
  });
});

test("createEngine: series and history can be disabled explicitly", async () => {
  const store = { kind: "memory" } as const;
  const engine = await createEngine({ store, seriesBytes: 0, historyBytes: 0 });
  await engine.close();
});

test("ensureQueue: invalid settings are refused, and so is a missing queue", async () => {
  await using engine = await opened();
  const none = { ...orders, name: "none", deadQueue: "nowhere" };
  expect(await refusalOf(() => engine.ensureQueue(none))).toContain("nowhere");
  expect(await refusalOf(() => engine.ensureQueue({ ...orders, maxAttempts: -1 }))).toBeNull();
  expect(
    await refusalOf(() => engine.ensureQueue({ ...orders, maxAttempts: -1 }, { update: true })),
  ).toBe("max attempts is invalid; cannot be negative number");
});

test("bundle: a program that bundles the sources runs", async () => {
  const program = `
import { createEngine } from ${JSON.stringify(join(import.meta.dir, "embed.ts"))};
const engine = await createEngine({ store: { kind: "memory" } });
await engine.close();
console.log("closed");
`;
  const source = join(folder, "program.ts");
  writeFileSync(source, program);
  const built = await Bun.build({
    entrypoints: [source],
    target: "bun",
    outdir: join(folder, "out"),
  });
  expect(built.success).toBe(true);
  const file = join(folder, "out/program.js");
  expect((await Bun.$`${process.execPath} ${file}`.quiet().text()).trim()).toBe("closed");
});
