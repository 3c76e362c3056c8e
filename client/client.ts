// The client: a method per operation of the contract, and queues by name.

import { afterHandshake } from "./bun-fetch.ts";
import type { CallOptions } from "./call.ts";
import type { Fetch } from "./exchange.ts";
import { forget, safely } from "./format-error.ts";
import { hintingHttps } from "./https-hint.ts";
import { nodeFetch } from "./node-fetch.ts";
import { guarded } from "./notice.ts";
import type { OpenTelemetryApi } from "./opentelemetry.ts";
import {
  anything,
  type Checks,
  call,
  checkOptions,
  count,
  flag,
  length,
  object,
  text,
} from "./options.ts";
import { openQueue, type Queue } from "./queue.ts";
import { defaultPace, type Pace } from "./repeat.ts";
import { traced } from "./traced-transport.ts";
import { type Build, transact } from "./transaction.ts";
import { openTransport } from "./transport.ts";
import { type ClientNotice, printTrouble } from "./trouble.ts";
import {
  type Calls,
  type Health,
  type Operation,
  operationPaths,
  type RequestFor,
  type ServerOverviewReply,
  type TransactReply,
} from "./wire.ts";

export interface ClientOptions {
  /**
   * URL of the server, or of all nodes; default `http://localhost:9090`. Calls go to one node, and
   * switch to the next when it fails.
   */
  readonly url?: string | readonly string[];
  /** Sent as `Authorization: Bearer …`. */
  readonly apiKey?: string;
  /**
   * Maximum attempts of a call that may be repeated; default unlimited within its time. A copy on
   * another connection, sent after 5 s without an answer, is part of its attempt.
   */
  readonly attemptsMax?: number;
  /** Pauses between attempts: random, up to a bound that doubles from 100 ms to 5 s by default. */
  readonly pace?: Pace;
  /**
   * Whether each call that changes items gets an idempotency key, so that it can be repeated if its
   * outcome is unknown. Without a key such a call throws `OutcomeUnknown`. Default true.
   */
  readonly keys?: boolean;
  /** Whether concurrent produces of one queue are combined into one call; default true. */
  readonly gather?: boolean;
  /**
   * Maximum number of concurrent calls; further calls wait. Leases, which wait at the server, have
   * at most three quarters of them. Default 256.
   */
  readonly connectionsMax?: number;
  /** Receives notices about repeated calls; default prints a line on the console. */
  readonly notice?: (notice: ClientNotice) => void;
  /** Replaces the runtime's `fetch`; on Node, replaces `node:http`, which uses less CPU time. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Replaces `Math.random`. */
  readonly random?: () => number;
  /**
   * The module `@opentelemetry/api`. Produces, leases and handled items then have spans, and items
   * carry the trace context of their producer. Default no tracing.
   */
  readonly tracing?: OpenTelemetryApi;
}

/** A backup on the server's disk. */
export interface Backup {
  readonly folder: string;
  readonly made_at: string;
  readonly version: string;
  readonly shards: readonly { readonly file: string; readonly bytes: number }[];
}

export interface Client extends Omit<Calls<CallOptions>, "transact"> {
  /** Finishes items and produces others atomically, as collected by a function or as a request. */
  transact(what: Build | RequestFor<"transact">, options?: CallOptions): Promise<TransactReply>;
  queue<Json = unknown>(name: string): Queue<Json>;
  /** Overview of all queues; with the `since` of an earlier reply, of those that have changed. */
  overview(
    request?: { readonly since?: string },
    options?: CallOptions,
  ): Promise<ServerOverviewReply>;
  health(options?: CallOptions): Promise<Health>;
  /** Metrics in the text format of Prometheus. */
  metrics(options?: CallOptions): Promise<string>;
  /** Writes a backup on the server; resolves once it is on disk. Never repeated automatically. */
  backup(options?: CallOptions): Promise<Backup>;
}

function ownFetch(): Fetch {
  // A wrapper, because a browser's `fetch` fails as a method of another object.
  const ofRuntime = (url: string, init: RequestInit) => fetch(url, init);
  return hintingHttps(nodeFetch() ?? ("Bun" in globalThis ? afterHandshake(ofRuntime) : ofRuntime));
}

/** Returns a number from 0 to 1, even if the program's function does not. */
function randomOf(own: ClientOptions["random"]): () => number {
  if (own === undefined) return Math.random;
  return () => {
    const drawn: unknown = safely(Number.NaN, own);
    if (typeof drawn === "number" && drawn >= 0 && drawn <= 1) return drawn;
    forget(drawn);
    return Math.random();
  };
}

const clientChecks: Checks<ClientOptions> = {
  url: anything,
  apiKey: text,
  attemptsMax: count,
  pace: object,
  keys: flag,
  gather: flag,
  connectionsMax: anything,
  notice: call,
  fetch: call,
  random: call,
  tracing: object,
};
const paceChecks: Checks<Pace> = { baseMs: length, capMs: length };

/** Throws a `TypeError` if no call could ever work. */
function checkClient(options: ClientOptions): void {
  checkOptions(options, clientChecks);
  if (options.pace !== undefined) checkOptions(options.pace, paceChecks);
  const { apiKey = "" } = options;
  // A key read from a file may end with a newline, and the runtime would refuse the header.
  if (/[^\x21-\x7e]/.test(apiKey)) {
    const where = apiKey.search(/[^\x21-\x7e]/) + 1;
    const at = `character ${where} of ${apiKey.length} is another`;
    throw new TypeError(`apiKey is invalid; expected visible ASCII characters, ${at}`);
  }
}

const operations = Object.keys(operationPaths) as readonly Operation[];

export function createClient(options: ClientOptions = {}): Client {
  checkClient(options);
  const { url = "http://localhost:9090", tracing } = options;
  const untraced = openTransport({
    url,
    apiKey: options.apiKey,
    fetch: options.fetch ?? ownFetch(),
    random: randomOf(options.random),
    attemptsMax: options.attemptsMax ?? Number.POSITIVE_INFINITY,
    pace: options.pace ?? defaultPace,
    connectionsMax: options.connectionsMax ?? 256,
    keys: options.keys ?? true,
    gather: options.gather ?? true,
    notice: guarded(options.notice ?? printTrouble),
  });
  const transport =
    tracing === undefined
      ? untraced
      : traced(untraced, tracing, typeof url === "string" ? url : (url[0] ?? ""));
  const calls = Object.fromEntries(
    operations.map((operation) => [
      operation,
      async (request: never, callOptions?: CallOptions) =>
        (await transport.call(operation, request, callOptions)).reply,
    ]),
  ) as unknown as Calls<CallOptions>;
  return {
    ...calls,
    produce: async (request, callOptions) => (await transport.produce(request, callOptions)).reply,
    overview: (request = {}, callOptions) => calls.overview(request, callOptions),
    transact: async (what, callOptions) =>
      typeof what === "function"
        ? transact(transport.call, what, callOptions)
        : (await transport.call("transact", what, callOptions)).reply,
    queue: <Json>(name: string) => openQueue(transport, name) as Queue<Json>,
    health: async (callOptions) => JSON.parse(await transport.page("/health", callOptions)),
    metrics: (callOptions) => transport.page("/metrics", callOptions),
    backup: async (callOptions) => JSON.parse(await transport.page("/backup", callOptions, "POST")),
  };
}
