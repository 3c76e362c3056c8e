// Spans for produces, leases and handled items, and the trace context in the items' headers. Names
// and attributes follow OpenTelemetry's semantic conventions for messaging. Handling an item starts
// a new trace, whose span links to the span that produced the item.

import { bounds } from "../openapi/bounds.ts";
import type { Answered, CallOptions } from "./call.ts";
import { HoldfastError, LeaseEmpty } from "./errors.ts";
import { formatError, isInstance, kindOf, safely } from "./format-error.ts";
import type { Handling } from "./handling.ts";
import type { LeasedItem } from "./items.ts";
import type { OpenTelemetryApi, Span, SpanContext, Tracer } from "./opentelemetry.ts";
import type { LeaseReply, ProduceItem, RequestFor } from "./wire.ts";

type Headers = Readonly<Record<string, string>>;
type Produce = RequestFor<"produce">;
type Transact = RequestFor<"transact">;
type Handler = (item: LeasedItem, handling: Handling) => unknown;

/** A call that produces items into one or several queues. */
interface Sending {
  readonly operation: string;
  /** `null` = several. */
  readonly queue: string | null;
  readonly items: ProduceItem[];
  readonly key: string | undefined;
}

/** The span of a handler that has ended, until the item's outcome is known. */
interface Handled {
  readonly span: Span;
  readonly thrown: { readonly error: unknown } | null;
  readonly endedAt: number;
}

export class Tracing {
  readonly #api: OpenTelemetryApi;
  readonly #tracer: Tracer;
  readonly #server: Readonly<Record<string, string | number>>;
  readonly #handled = new WeakMap<LeasedItem, Handled>();

  constructor(api: OpenTelemetryApi, url: string) {
    this.#api = api;
    this.#tracer = api.trace.getTracer("holdfast");
    this.#server = serverOf(url);
  }

  /** Runs a long-lived call without the context in which the program started it. */
  apart<T>(call: () => T): T {
    return this.#api.context.with(this.#api.ROOT_CONTEXT, call);
  }

  publish<T>(request: Produce, { key }: CallOptions, send: (request: Produce) => Promise<T>) {
    const { items, queue_name: queue } = request;
    // The server refuses it with a better message.
    if (!Array.isArray(items)) return send(request);
    return this.#sent({ operation: "publish", queue, items, key }, (carrying) =>
      send({ ...request, items: carrying }),
    );
  }

  /** A transact that only finishes items has no span, like a complete. */
  transact<T>(request: Transact, { key }: CallOptions, send: (request: Transact) => Promise<T>) {
    const parts = request.produce ?? [];
    const items = Array.isArray(parts) ? parts.flatMap((part) => part?.items ?? []) : [];
    if (items.length === 0) return send(request);
    const [queue, ...others] = new Set(parts.map(({ queue_name }) => queue_name));
    const one = others.length === 0 && queue !== undefined ? queue : null;
    return this.#sent({ operation: "transact", queue: one, items, key }, (carrying) => {
      const left = [...carrying];
      const produce = parts.map((part) => ({ ...part, items: left.splice(0, part.items.length) }));
      return send({ ...request, produce });
    });
  }

  /** Sends within a span. Items without a context of their own carry the span's. */
  async #sent<T>(
    { operation, queue, items, key }: Sending,
    send: (items: ProduceItem[]) => Promise<T>,
  ): Promise<T> {
    const { context, trace, SpanKind } = this.#api;
    const own = items.filter(hasContext);
    // With the caller's own key a repetition in another trace must have the same content.
    const isCarried = key === undefined && own.length < items.length;
    const active = context.active();
    const span = this.#tracer.startSpan(
      queue === null ? operation : `${operation} ${queue}`,
      {
        kind: isCarried ? SpanKind.PRODUCER : SpanKind.CLIENT,
        attributes: {
          ...this.#attributes(queue, operation, "send"),
          ...(items.length > 1 && { "messaging.batch.message_count": items.length }),
        },
        links: this.#linksTo(own),
      },
      active,
    );
    const within = trace.setSpan(active, span);
    const carrying = isCarried ? this.#carrying(items, within) : items;
    try {
      return await context.with(within, () => send(carrying));
    } catch (error) {
      this.#fail(span, error);
      throw error;
    } finally {
      span.end();
    }
  }

  /** Creates the span after the answer: most leases of an idle worker are empty and get no span. */
  async receive<T>(queue: string, call: () => Promise<Answered<T>>): Promise<Answered<T>> {
    const active = this.#api.context.active();
    const startTime = performance.now();
    const start = (more: Record<string, string | number>, items: LeaseReply["items"]) => {
      const attributes = { ...this.#attributes(queue, "receive", "receive"), ...more };
      const kind = this.#api.SpanKind.CLIENT;
      const links = this.#linksTo(items);
      const name = `receive ${queue}`;
      return this.#tracer.startSpan(name, { kind, attributes, links, startTime }, active);
    };
    try {
      const answered = await call();
      const { partition, items } = answered.reply as LeaseReply;
      const count = { "messaging.batch.message_count": items.length };
      start({ ...count, ...partitionOf(partition) }, items).end(performance.now());
      return answered;
    } catch (error) {
      if (error instanceof HoldfastError && !(error instanceof LeaseEmpty)) {
        const span = start({}, []);
        this.#fail(span, error);
        span.end(performance.now());
      }
      throw error;
    }
  }

  /** Runs the handler of each item in its own span, which `settled` ends. */
  handling(handler: Handler): Handler {
    return async (item, handling) => {
      const { context, propagation, trace, ROOT_CONTEXT, SpanKind } = this.#api;
      const startTime = performance.now();
      // The producer's span is not the parent, but its baggage applies to the handler.
      const origin = propagation.extract(ROOT_CONTEXT, item.headers ?? {});
      const span = this.#tracer.startSpan(
        `process ${handling.queue}`,
        {
          kind: SpanKind.CONSUMER,
          root: true,
          attributes: {
            ...this.#attributes(handling.queue, "process", "process"),
            ...partitionOf(handling.partition),
            "messaging.message.id": item.id,
            "holdfast.item.origin_id": item.origin_id ?? item.id,
            "holdfast.item.attempts": item.attempts,
          },
          links: this.#linksTo([item]),
          startTime,
        },
        origin,
      );
      let thrown: Handled["thrown"] = null;
      try {
        await context.with(trace.setSpan(origin, span), () => handler(item, handling));
      } catch (error) {
        thrown = { error };
        throw error;
      } finally {
        this.#handled.set(item, { span, thrown, endedAt: performance.now() });
      }
    };
  }

  /** Ends the item's span. `error`: what failed, if not the handler. */
  settled(item: LeasedItem, outcome: string, error?: unknown): void {
    const handled = this.#handled.get(item);
    if (handled === undefined) return;
    const { span, endedAt } = handled;
    const thrown = handled.thrown ?? (error === undefined ? null : { error });
    span.setAttribute("holdfast.item.outcome", outcome);
    // An interrupted handler has not failed.
    if (thrown !== null && outcome !== "released") this.#fail(span, thrown.error, endedAt);
    span.end(endedAt);
  }

  #attributes(queue: string | null, name: string, type: string): Record<string, string | number> {
    return {
      "messaging.system": "holdfast",
      ...(queue !== null && { "messaging.destination.name": queue }),
      "messaging.operation.name": name,
      "messaging.operation.type": type,
      ...this.#server,
    };
  }

  /** Links to the spans that produced the items, without duplicates. */
  #linksTo(items: readonly Pick<ProduceItem, "headers">[]): { context: SpanContext }[] {
    const { propagation, trace, ROOT_CONTEXT } = this.#api;
    const links = new Map<string, { context: SpanContext }>();
    for (const { headers } of items) {
      if (headers === undefined) continue;
      const context = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, headers));
      if (context !== undefined) links.set(`${context.traceId}/${context.spanId}`, { context });
    }
    return [...links.values()];
  }

  #carrying(items: ProduceItem[], context: object): ProduceItem[] {
    const added: Record<string, string> = {};
    this.#api.propagation.inject(context, added);
    if (Object.keys(added).length === 0) return items;
    const alone = joined({}, added);
    return items.map((item) => {
      if (kindOf(item) !== "Object" || hasContext(item)) return item;
      if (item.headers == null) return { ...item, headers: alone };
      return kindOf(item.headers) === "Object"
        ? { ...item, headers: joined(item.headers, added) }
        : item;
    });
  }

  #fail(span: Span, error: unknown, at?: number): void {
    const message = formatError(error);
    const isError = isInstance(error, Error);
    const type = isError ? safely("Error", () => error.name) : "_OTHER";
    span.setAttribute("error.type", type);
    span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message });
    span.recordException(isError ? error : message, at);
  }
}

function partitionOf(partition: number): Record<string, string> {
  return { "messaging.destination.partition.id": String(partition) };
}

/** Whether the program has set a context, for example by forwarding an item. */
function hasContext(item: ProduceItem): boolean {
  return kindOf(item?.headers) === "Object" && item.headers?.["traceparent"] != null;
}

/** Adds as much as fits: all, or the trace alone, or nothing. Existing headers are kept. */
function joined(own: Headers, added: Headers): Headers {
  const { traceparent } = added;
  const trace: Headers = traceparent === undefined ? own : { traceparent, ...own };
  return [{ ...added, ...own }, trace].find(fits) ?? own;
}

const encoder = new TextEncoder();

function fits(headers: Headers): boolean {
  return encoder.encode(JSON.stringify(headers)).length <= bounds.headersBytesMax;
}

function serverOf(url: string): Record<string, string | number> {
  // In a browser the URL may be a path on the page's server.
  const page = "location" in globalThis ? globalThis.location?.href : undefined;
  const { hostname, port, protocol } = new URL(url, page);
  const usual = protocol === "https:" ? 443 : 80;
  return { "server.address": hostname, "server.port": port === "" ? usual : Number(port) };
}
