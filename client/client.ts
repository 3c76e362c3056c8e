// The client: a method for each call of the contract, and queues by their names.

import { afterHandshake } from "./bun-fetch.ts";
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
import type { Pace } from "./repeat.ts";
import { forget, safely } from "./shown.ts";
import { traced } from "./tracing.ts";
import { type Build, transact } from "./transaction.ts";
import { type CallOptions, type Fetch, openTransport } from "./transport.ts";
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
   * Where the server is; default `http://localhost:9090`. Of several nodes all: calls go to one of
   * them, and on to the next when it is dead.
   */
  readonly url?: string | readonly string[];
  /** Sent as `Authorization: Bearer …`. */
  readonly apiKey?: string;
  /** How often a call is sent at most, where sending it again is right; default until its time is up. */
  readonly attemptsMax?: number;
  /** The pauses in between: drawn from 0 to a bound that doubles. Default 100 ms to 5 s. */
  readonly pace?: Pace;
  /**
   * Whether each call that changes items has a key, by which it can be sent again when its outcome
   * is unknown; without, such a call throws `OutcomeUnknown`. Default true.
   */
  readonly keys?: boolean;
  /** Whether produces of one queue that come together go together; default true. */
  readonly gather?: boolean;
  /**
   * Calls under way at once; what comes beyond that waits its turn. Leases, which wait at the
   * server, have three quarters of them and no more. Default 256.
   */
  readonly connectionsMax?: number;
  /** Receives trouble with calls that are repeated; default a line on the console. */
  readonly notice?: (notice: ClientNotice) => void;
  /** In place of the runtime's own; on Node, in place of `node:http`, which takes less time. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** In place of `Math.random`. */
  readonly random?: () => number;
  /**
   * The module `@opentelemetry/api`: produces, leases and handled items have spans, and items carry
   * the context of their producer. Default none.
   */
  readonly tracing?: OpenTelemetryApi;
}

/** A backup, where the server wrote it. */
export interface Backup {
  readonly folder: string;
  readonly made_at: string;
  readonly version: string;
  readonly shards: readonly { readonly file: string; readonly bytes: number }[];
}

export interface Client extends Omit<Calls<CallOptions>, "transact"> {
  /** Finishes items and produces others, all of it or nothing; as a function says, or a request. */
  transact(what: Build | RequestFor<"transact">, options?: CallOptions): Promise<TransactReply>;
  queue<Json = unknown>(name: string): Queue<Json>;
  /** All queues at a glance; with the `since` of an earlier one, those that have changed. */
  overview(
    request?: { readonly since?: string },
    options?: CallOptions,
  ): Promise<ServerOverviewReply>;
  health(options?: CallOptions): Promise<Health>;
  /** In the text format of Prometheus. */
  metrics(options?: CallOptions): Promise<string>;
  /** Has the server write a backup; resolves when it is on disk there. Not repeated by itself. */
  backup(options?: CallOptions): Promise<Backup>;
}

function ownFetch(): Fetch {
  // Called as a method of something else, the browser's own refuses to work.
  const ofRuntime = (url: string, init: RequestInit) => fetch(url, init);
  return hintingHttps(nodeFetch() ?? ("Bun" in globalThis ? afterHandshake(ofRuntime) : ofRuntime));
}

/** From 0 to 1, whatever the program's own returns. */
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

/** Throws a `TypeError` where no call could ever be right. */
function checkClient(options: ClientOptions): void {
  checkOptions(options, clientChecks);
  if (options.pace !== undefined) checkOptions(options.pace, paceChecks);
  const { apiKey = "" } = options;
  // It may be read from a file, whose end is easily taken along; a runtime would refuse the header.
  if (/[^\x21-\x7e]/.test(apiKey)) {
    const where = apiKey.search(/[^\x21-\x7e]/) + 1;
    const at = `character ${where} of ${apiKey.length} is none`;
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
    pace: options.pace ?? { baseMs: 100, capMs: 5_000 },
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
        ? transact(transport, what, callOptions)
        : (await transport.call("transact", what, callOptions)).reply,
    queue: <Json>(name: string) => openQueue(transport, name) as Queue<Json>,
    health: async (callOptions) => JSON.parse(await transport.page("/health", callOptions)),
    metrics: (callOptions) => transport.page("/metrics", callOptions),
    backup: async (callOptions) => JSON.parse(await transport.page("/backup", callOptions, "POST")),
  };
}
