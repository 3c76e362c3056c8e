// Spans of clients that call a real server. OpenTelemetry's SDK records them; a collector receives
// them from a producer and a worker in their own processes.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as api from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  CompositePropagator,
  W3CBaggagePropagator,
  W3CTraceContextPropagator,
} from "@opentelemetry/core";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { type ListeningApp, listeningApp } from "../server/testing/listening-app.ts";
import { type Client, type ClientOptions, createClient } from "./client.ts";
import { DeadLetter } from "./errors.ts";
import type { ItemFields, LeasedItem } from "./items.ts";
import type { Queue } from "./queue.ts";
import { settled, stillTime } from "./testing/still-time.ts";
import type { Handler, WorkOptions } from "./worker.ts";

const { CLIENT, PRODUCER, CONSUMER } = api.SpanKind;
const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const tracer = provider.getTracer("test");
let server: ListeningApp;
let client: Client;
let queue: Queue;
let dead: Queue;
let count = 0;

/** The setup of a program that traces. */
function register(): void {
  api.trace.setGlobalTracerProvider(provider);
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  api.propagation.setGlobalPropagator(
    new CompositePropagator({
      propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()],
    }),
  );
}

function unregister(): void {
  api.trace.disable();
  api.context.disable();
  api.propagation.disable();
}

beforeAll(async () => {
  server = await listeningApp();
});

beforeEach(async () => {
  register();
  exporter.reset();
  client = clientWith();
  [queue, dead] = await queues();
});

afterEach(unregister);
afterAll(() => server.stop());

function clientWith(options: ClientOptions = {}): Client {
  return createClient({ url: server.url, tracing: api, ...options });
}

/** A new queue with its dead queue, for each test. */
async function queues(): Promise<[Queue, Queue]> {
  count += 1;
  const name = `orders-${count}`;
  const times = { lease_timeout: "1m", expire_timeout: "1h" };
  await client.createQueue({ queue_name: `${name}-dead`, ...times });
  await client.createQueue({
    ...{ queue_name: name, ...times },
    ...{ dead_queue: `${name}-dead`, max_attempts: 2 },
  });
  return [client.queue(name), client.queue(`${name}-dead`)];
}

function named(wanted: string): ReadableSpan[] {
  return exporter.getFinishedSpans().filter(({ name }) => name === wanted);
}

function spans(operation: string): ReadableSpan[] {
  return named(`${operation} ${queue.name}`);
}

function only<T>(all: readonly T[]): T {
  const [one] = all;
  if (one === undefined || all.length > 1) throw new Error(`expected one, got ${all.length}`);
  return one;
}

/** The span's context as a W3C `traceparent`. */
function parentOf(span: ReadableSpan): string {
  const { traceId, spanId } = span.spanContext();
  return `00-${traceId}-${spanId}-01`;
}

function linksOf({ links }: ReadableSpan): string[] {
  return links.map(({ context: { traceId, spanId } }) => `00-${traceId}-${spanId}-01`);
}

async function within<T>(name: string, call: () => Promise<T>): Promise<T> {
  return tracer.startActiveSpan(name, async (span) => call().finally(() => span.end()));
}

/** Headers of leased items, by a client without tracing. */
async function headersOf(from: Queue, batch = 10): Promise<(LeasedItem["headers"] | null)[]> {
  const plain = createClient({ url: server.url }).queue(from.name);
  const lease = await plain.lease({ batch });
  await lease?.complete();
  return (lease?.items ?? []).map(({ headers }) => headers ?? null);
}

/** Runs a worker until `ends` handlers have ended. */
async function work(handler: Handler, ends: number, options: WorkOptions = {}): Promise<void> {
  const quiet = { backoff: () => 0, notice: () => undefined, processSignals: [] };
  const worker = queue.work(handler, { ...quiet, ...options });
  for (let ended = 0; ended < ends; ) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    const { running, ...counts } = worker.counts;
    ended = Object.values(counts).reduce((sum, one) => sum + one, 0);
  }
  await worker.stop();
}

/** Expected attributes of a span. */
const at = (operation: string, type: string) => ({
  "messaging.system": "holdfast",
  "messaging.destination.name": queue.name,
  "messaging.operation.name": operation,
  "messaging.operation.type": type,
  "server.address": "127.0.0.1",
  "server.port": Number(new URL(server.url).port),
});

test("tracing: a produce has a producer span, whose context its items carry", async () => {
  await within("request", () => queue.produce("one"));
  await queue.produce(["two", { utf8: "three", headers: { tenant: "a" } }]);
  const [one, both] = spans("publish") as [ReadableSpan, ReadableSpan];
  expect([one.name, one.kind, both.kind]).toEqual([`publish ${queue.name}`, PRODUCER, PRODUCER]);
  expect(one.attributes).toEqual(at("publish", "send"));
  expect(both.attributes).toEqual({
    ...at("publish", "send"),
    "messaging.batch.message_count": 2,
  });
  expect(one.parentSpanContext?.spanId).toBe(only(named("request")).spanContext().spanId);
  expect(both.parentSpanContext).toBeUndefined();
  expect(await headersOf(queue)).toEqual([
    { traceparent: parentOf(one) },
    { traceparent: parentOf(both) },
    { traceparent: parentOf(both), tenant: "a" },
  ]);
});

test("tracing: items of gathered produces carry their own caller's context", async () => {
  const calls: string[] = [];
  const fetch: ClientOptions["fetch"] = (url, init) => {
    calls.push(String(init.body));
    return globalThis.fetch(url, init);
  };
  const gathering = clientWith({ fetch }).queue(queue.name);
  const callers = ["a", "b", "c"];
  await Promise.all(callers.map((name) => within(name, () => gathering.produce(name))));
  expect(calls).toHaveLength(1);
  const publishes = spans("publish");
  const traces = callers.map((name) => only(named(name)).spanContext().traceId);
  expect(publishes.map((span) => span.spanContext().traceId)).toEqual(traces);
  const carried = await headersOf(queue);
  expect(carried.map((headers) => headers?.["traceparent"])).toEqual(publishes.map(parentOf));
});

test("tracing: an item keeps its own context, and the produce span links to it", async () => {
  const own = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
  const passedOn = { utf8: "x", headers: { traceparent: own } };
  const baggage = api.propagation.createBaggage({ tenant: { value: "a" } });
  const context = api.propagation.setBaggage(api.ROOT_CONTEXT, baggage);
  await api.context.with(context, () => queue.produce([passedOn, "y"]));
  await queue.produce([passedOn]);
  const [both, alone] = spans("publish") as [ReadableSpan, ReadableSpan];
  expect(await headersOf(queue)).toEqual([
    { traceparent: own },
    { traceparent: parentOf(both), baggage: "tenant=a" },
    { traceparent: own },
  ]);
  expect([both, alone].map((span) => [span.kind, linksOf(span)])).toEqual([
    [PRODUCER, [own]],
    // The own context is unchanged.
    [CLIENT, [own]],
  ]);
});

test("tracing: baggage is added if it fits, and never fails a produce", async () => {
  const tenant = async (value: string, item: ItemFields) => {
    const baggage = api.propagation.createBaggage({ tenant: { value } });
    const context = api.propagation.setBaggage(api.ROOT_CONTEXT, baggage);
    await api.context.with(context, () => queue.produce(item));
  };
  const note = "n".repeat(2_030);
  await tenant("a", { utf8: "1" });
  await tenant("a".repeat(3_000), { utf8: "2" });
  await tenant("a", { utf8: "3", headers: { note } });
  const [one, two] = spans("publish") as [ReadableSpan, ReadableSpan];
  expect(await headersOf(queue)).toEqual([
    { traceparent: parentOf(one), baggage: "tenant=a" },
    { traceparent: parentOf(two) },
    { note },
  ]);
});

test("tracing: a produce with the caller's key has the same content in another trace", async () => {
  const again = () => within("run", () => queue.produce("one", { key: `once-${queue.name}` }));
  await again();
  await again();
  expect(spans("publish").map(({ kind }) => kind)).toEqual([CLIENT, CLIENT]);
  expect(await headersOf(queue)).toEqual([null]);
});

test("tracing: a value that is not an item is refused as without tracing", async () => {
  const messages = [];
  for (const tracing of [{}, { tracing: api }]) {
    const { produce } = createClient({ url: server.url, ...tracing });
    const produceOf = (items: unknown) =>
      produce({ queue_name: queue.name, items: items as [] }).catch(({ message }) => message);
    messages.push([
      await produceOf("x"),
      await produceOf([null]),
      await produceOf([{ utf8: "x", headers: "x" }]),
      await produceOf([{ utf8: "x", headers: ["x"] }]),
    ]);
  }
  expect(messages[1]).toEqual(messages[0] ?? []);
  expect(spans("publish").every(({ status }) => status.code === api.SpanStatusCode.ERROR)).toBe(
    true,
  );
});

test("tracing: a produce is sent within its span", async () => {
  const active: unknown[] = [];
  const fetch: ClientOptions["fetch"] = (url, init) => {
    active.push(api.trace.getActiveSpan()?.spanContext());
    return globalThis.fetch(url, init);
  };
  await clientWith({ fetch }).queue(queue.name).produce("one");
  expect(active).toEqual([only(spans("publish")).spanContext()]);
});

test("tracing: the span of a failed produce has the error", async () => {
  const nowhere = client.queue("nowhere").produce("x");
  const { message } = await nowhere.catch((error) => error);
  const span = only(named("publish nowhere"));
  expect(span.status).toEqual({ code: api.SpanStatusCode.ERROR, message });
  expect(span.attributes["error.type"]).toBe("InvalidRequest");
});

test("tracing: without tracing or an SDK, nothing is added to items", async () => {
  const bodies: string[] = [];
  const fetch: ClientOptions["fetch"] = (url, init) => {
    bodies.push(String(init.body));
    return globalThis.fetch(url, init);
  };
  const plain = createClient({ url: server.url, fetch }).queue(queue.name);
  await within("request", () => plain.produce(["one", "two"]));
  unregister();
  const idle = clientWith({ fetch }).queue(queue.name);
  await idle.produce(["three"]);
  const items = bodies.flatMap((body) => JSON.parse(body).items);
  expect(items).toEqual([{ utf8: "one" }, { utf8: "two" }, { utf8: "three" }]);
  expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(["request"]);
});

test("tracing: a lease has a span with one link per producer; an empty lease has none", async () => {
  // Never aborts a request, so that only the server ends it.
  const patient = clientWith({
    fetch: (url, init) => globalThis.fetch(url, { ...init, signal: null }),
  });
  expect(await patient.queue(queue.name).lease({ timeoutMs: 20 })).toBeNull();
  await queue.produce(["one", "two"]);
  await queue.produce("three");
  await within("request", () => queue.lease({ batch: 10 }));
  const span = only(spans("receive"));
  expect(span.kind).toBe(CLIENT);
  expect(linksOf(span)).toEqual(spans("publish").map(parentOf));
  expect(span.parentSpanContext?.spanId).toBe(only(named("request")).spanContext().spanId);
  expect(span.attributes).toEqual({
    ...at("receive", "receive"),
    "messaging.batch.message_count": 3,
    "messaging.destination.partition.id": "0",
  });
});

test("tracing: a lease's span includes its wait, and the error of a failed one", async () => {
  const leased = queue.lease();
  for (let waiting = 0; waiting === 0; ) {
    waiting = (await queue.stats()).logical_queues[0]?.lease_waiting ?? 0;
  }
  const waitedMs = 30;
  await Bun.sleep(waitedMs);
  await queue.produce("one");
  await leased;
  const [seconds, nanos] = only(spans("receive")).duration;
  // Timers may be a millisecond early.
  expect(seconds * 1_000 + nanos / 1e6).toBeGreaterThan(waitedMs - 2);
  await client
    .queue("nowhere")
    .lease()
    .catch(() => undefined);
  const failed = only(named("receive nowhere"));
  expect(failed.attributes["error.type"]).toBe("InvalidRequest");
  expect(failed.status.code).toBe(api.SpanStatusCode.ERROR);
});

test("tracing: a handler runs in a new trace, whose span links to the producer", async () => {
  const baggage = api.propagation.createBaggage({ tenant: { value: "a" } });
  const context = api.propagation.setBaggage(api.ROOT_CONTEXT, baggage);
  await api.context.with(context, () => queue.produce(["one"]));
  const seen: unknown[] = [];
  let item: LeasedItem | undefined;
  // The span in which the worker is started is not the parent of its items' spans.
  await within("start", () =>
    work(async (leased) => {
      item = leased;
      await Promise.resolve();
      seen.push(api.trace.getActiveSpan()?.spanContext());
      seen.push(api.propagation.getActiveBaggage()?.getEntry("tenant")?.value);
      await dead.produce("follows");
    }, 1),
  );
  const span = only(spans("process"));
  expect(seen).toEqual([span.spanContext(), "a"]);
  expect([span.kind, linksOf(span)]).toEqual([CONSUMER, [parentOf(only(spans("publish")))]]);
  expect(span.parentSpanContext).toBeUndefined();
  expect(only(spans("receive")).parentSpanContext).toBeUndefined();
  expect(span.spanContext().traceId).not.toBe(only(spans("publish")).spanContext().traceId);
  expect(span.attributes).toEqual({
    ...at("process", "process"),
    "messaging.destination.partition.id": "0",
    "messaging.message.id": item?.id ?? "",
    "holdfast.item.origin_id": item?.id ?? "",
    "holdfast.item.attempts": 1,
    "holdfast.item.outcome": "completed",
  });
  expect(span.status.code).toBe(api.SpanStatusCode.UNSET);
  const follows = only(named(`publish ${dead.name}`));
  expect(follows.parentSpanContext?.spanId).toBe(span.spanContext().spanId);
});

test("tracing: retried and dead items keep their context", async () => {
  await queue.produce(["one"]);
  await work(() => Promise.reject(new TypeError("no card")), 2);
  const publish = parentOf(only(spans("publish")));
  const processes = spans("process");
  const [first, second] = processes.map(({ attributes }) => attributes);
  expect(processes.map(linksOf)).toEqual([[publish], [publish]]);
  expect([first, second].map((of) => of?.["holdfast.item.outcome"])).toEqual(["retried", "dead"]);
  expect([first, second].map((of) => of?.["holdfast.item.attempts"])).toEqual([1, 2]);
  expect(second?.["holdfast.item.origin_id"]).toBe(first?.["messaging.message.id"]);
  expect(second?.["messaging.message.id"]).not.toBe(first?.["messaging.message.id"]);
  for (const { status, events, attributes } of processes) {
    expect(attributes["error.type"]).toBe("TypeError");
    expect(status).toEqual({ code: api.SpanStatusCode.ERROR, message: "no card" });
    expect(only(events).attributes).toMatchObject({
      "exception.type": "TypeError",
      "exception.message": "no card",
    });
  }
  expect(await headersOf(dead)).toEqual([{ traceparent: publish }]);
});

test("tracing: the span of a handler has the item's outcome", async () => {
  await queue.produce(["given up", "lost"]);
  await work(async (item) => {
    if (item.text() === "given up") throw new DeadLetter("no address");
    // Another client completes it, so that the worker is refused.
    await client.complete({ queue_name: queue.name, partition: 0, ids: [item.id] });
  }, 2);
  const told = spans("process").map(({ attributes, status }) => [
    attributes["holdfast.item.outcome"],
    attributes["error.type"],
    status.code,
  ]);
  expect(told.sort()).toEqual([
    ["dead", "DeadLetter", api.SpanStatusCode.ERROR],
    ["lost", "LeaseLost", api.SpanStatusCode.ERROR],
  ]);
});

test("tracing: a transact has a producer span, and ends the span of the item that it finishes", async () => {
  await queue.produce(["one"]);
  await work(async (_, { transact }) => {
    await transact((t) => t.produce(dead, "follows"));
    throw new Error("too late");
  }, 1);
  const process = only(spans("process"));
  expect(process.attributes["holdfast.item.outcome"]).toBe("completed");
  expect(process.status).toEqual({ code: api.SpanStatusCode.ERROR, message: "too late" });
  const span = only(named(`transact ${dead.name}`));
  expect([span.kind, span.parentSpanContext?.spanId]).toEqual([
    PRODUCER,
    process.spanContext().spanId,
  ]);
  expect(span.attributes).toMatchObject({
    "messaging.operation.name": "transact",
    "messaging.operation.type": "send",
    "messaging.destination.name": dead.name,
  });
  expect(await headersOf(dead)).toEqual([{ traceparent: parentOf(span) }]);
});

test("tracing: a transact to several queues names none; one that produces nothing has no span", async () => {
  const own = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
  await queue.produce("one");
  const lease = await queue.lease();
  if (lease === null) throw new Error("nothing was leased");
  await client.transact((t) => {
    t.produce(queue, ["two", { utf8: "three", headers: { traceparent: own } }]);
    t.produce(dead, "four");
  });
  await client.transact((t) => t.produce(queue, "five"), { key: `once-${queue.name}` });
  await client.transact((t) => t.complete(lease));
  const span = only(named("transact"));
  expect(span.attributes).toMatchObject({ "messaging.batch.message_count": 3 });
  expect(span.attributes).not.toHaveProperty(["messaging.destination.name"]);
  expect(linksOf(span)).toEqual([own]);
  expect(only(spans("transact")).kind).toBe(CLIENT);
  expect(await headersOf(queue)).toEqual([
    { traceparent: parentOf(span) },
    { traceparent: own },
    null,
  ]);
  expect(await headersOf(dead)).toEqual([{ traceparent: parentOf(span) }]);
});

test("tracing: an item fails if a transact that was not awaited fails", async () => {
  await queue.produce(["one"]);
  const handler: Handler = (_, { transact }) => {
    void transact((t) => t.produce("nowhere", "follows")).catch(() => undefined);
  };
  await work(handler, 1, { backoff: () => 60_000 });
  const { attributes, status } = only(spans("process"));
  expect(attributes["holdfast.item.outcome"]).toBe("retried");
  expect(status.code).toBe(api.SpanStatusCode.ERROR);
});

test("tracing: an item that a stop interrupts is not an error", async () => {
  using time = stillTime();
  await using own = await listeningApp();
  const interrupted = createClient({ url: own.url, tracing: api }).queue(queue.name);
  await interrupted.create({ lease_timeout: "1m", expire_timeout: "1h" });
  await interrupted.produce(["one"]);
  const begun = Promise.withResolvers<void>();
  const worker = interrupted.work(
    (_, { signal }) => {
      const aborted = new Promise((__, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
      begun.resolve();
      return aborted;
    },
    { concurrency: 1, drainMs: 1, processSignals: [] },
  );
  await begun.promise;
  const stopped = worker.stop();
  await settled();
  time.advance(1);
  await stopped;
  const { attributes, status, events } = only(spans("process"));
  expect([attributes["holdfast.item.outcome"], status.code, events]).toEqual([
    "released",
    api.SpanStatusCode.UNSET,
    [],
  ]);
});

/** A program that exports its spans to a collector: a producer, or a worker for so many items. */
const program = `
import * as api from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BasicTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { createClient } from "./index.ts";

const { URL, COLLECTOR, QUEUE, ROLE } = process.env;
const exporter = new OTLPTraceExporter({ url: COLLECTOR });
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
api.trace.setGlobalTracerProvider(provider);
api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
api.propagation.setGlobalPropagator(new W3CTraceContextPropagator());
const queue = createClient({ url: URL, tracing: api }).queue(QUEUE);
const tracer = provider.getTracer("shop");
if (ROLE === "producer") {
  await tracer.startActiveSpan("checkout", async (span) => {
    await queue.produce(["paid", "unpaid"]);
    span.end();
  });
} else {
  let left = 3;
  const worker = queue.work(async (item) => {
    await tracer.startActiveSpan("charge", async (span) => span.end());
    left -= 1;
    if (left === 0) void worker.stop();
    if (item.text() === "unpaid") throw new Error("no card");
  }, { concurrency: 1, backoff: () => 0, notice: () => undefined });
  await worker.stopped;
}
await provider.shutdown();
`;

interface Exported {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code: number; readonly message?: string };
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}

/** A collector for OTLP over HTTP in JSON. */
function collecting() {
  const exported: Exported[] = [];
  const collector = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      if (new URL(request.url).pathname !== "/v1/traces") return new Response("", { status: 404 });
      const { resourceSpans } = (await request.json()) as {
        resourceSpans: { scopeSpans: { spans: Exported[] }[] }[];
      };
      for (const { scopeSpans } of resourceSpans) {
        for (const { spans } of scopeSpans) exported.push(...spans);
      }
      return Response.json({ partialSuccess: {} });
    },
  });
  const url = `http://127.0.0.1:${collector.port}/v1/traces`;
  return { exported, url, [Symbol.asyncDispose]: () => collector.stop(true) };
}

function attributesOf({ attributes }: Exported): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

const runtimes = [
  ["Bun", process.execPath],
  ["Node", Bun.which("node")],
] as const;

test.each(runtimes.filter(([, path]) => path !== null))(
  "%s: a collector links a worker's spans to a producer in another process",
  async (_, path) => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-tracing-"));
    const entry = join(import.meta.dir, "traced-program.ts");
    const built = await Bun.build({
      entrypoints: [entry],
      files: { [entry]: program },
      target: "node",
      format: "esm",
    });
    const file = join(folder, "program.mjs");
    writeFileSync(file, (await built.outputs[0]?.text()) ?? "");
    await using collector = collecting();
    for (const role of ["producer", "worker"]) {
      const own = { URL: server.url, COLLECTOR: collector.url, QUEUE: queue.name, ROLE: role };
      const child = Bun.spawn([path ?? "", file], {
        env: { ...process.env, ...own },
        stdio: ["ignore", "inherit", "inherit"],
      });
      expect(await child.exited).toBe(0);
    }
    rmSync(folder, { recursive: true, force: true });
    const all = (name: string) => collector.exported.filter((span) => span.name === name);
    const checkout = only(all("checkout"));
    const publish = only(all(`publish ${queue.name}`));
    expect([publish.traceId, publish.parentSpanId]).toEqual([checkout.traceId, checkout.spanId]);
    // OTLP counts kinds from 1.
    expect(publish.kind).toBe(PRODUCER + 1);
    const producer = { traceId: publish.traceId, spanId: publish.spanId };
    const processes = all(`process ${queue.name}`);
    for (const { kind, links } of processes) {
      expect(kind).toBe(CONSUMER + 1);
      expect(links).toMatchObject([producer]);
    }
    const told = processes.map((span) => [
      attributesOf(span)["holdfast.item.outcome"],
      attributesOf(span)["holdfast.item.attempts"],
      attributesOf(span)["messaging.system"],
      span.status.message ?? "",
    ]);
    // Each span is exported separately, in any order.
    expect(told.sort()).toEqual([
      ["completed", 1, "holdfast", ""],
      ["dead", 2, "holdfast", "no card"],
      ["retried", 1, "holdfast", "no card"],
    ]);
    expect(
      all("charge")
        .map(({ parentSpanId }) => parentSpanId ?? "")
        .sort(),
    ).toEqual(processes.map(({ spanId }) => spanId).sort());
    for (const { links } of all(`receive ${queue.name}`)) expect(links).toMatchObject([producer]);
    expect(await headersOf(dead)).toEqual([
      { traceparent: `00-${publish.traceId}-${publish.spanId}-01` },
    ]);
  },
);
