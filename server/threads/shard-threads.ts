// The main thread's view of the threads that share a server's shards. The main thread also runs
// some of the shards, and serves the calls about the server as a whole. All threads serve HTTP on
// one port.

import type { EngineStatus, ShardStatus } from "../../engine/model/api.ts";
import type { Histogram } from "../../engine/model/histogram.ts";
import { type Member, Shards, type ShardsOptions } from "../../engine/shards.ts";
import { mergedInfos } from "../auth/key-file.ts";
import type { Answer, Call } from "../calls/call.ts";
import { answerByShard, answerOf } from "../calls/call-server.ts";
import type { PlacedConfig } from "../config/settings.ts";
import {
  type Address,
  ListenError,
  type Listening,
  tryListening,
} from "../http/connections/listen.ts";
import type { Tls } from "../http/connections/tls.ts";
import { type LocalOptions, type OperationHandlers, statusOf } from "../http/operation-handlers.ts";
import type { SiteFolders } from "../http/site.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics, ServerGauges } from "../observability/metrics.ts";
import { RequestCounts } from "../observability/request-counts.ts";
import { type Caller, JsonText, type Routes } from "../routes/route.ts";
import { mergeStatuses } from "../shards/engine-status.ts";
import type { ShardRoutes } from "../shards/routes.ts";
import { Link } from "./link.ts";
import type { ShardMethods, ThreadFigures, ThreadMethods, ThreadStart } from "./messages.ts";
import { shardsOf, threadConfig } from "./placement.ts";
import { byShard, routesOfAll } from "./remote.ts";
import type { RpcMessage, Target } from "./rpc.ts";

export interface ShardThreadsOptions {
  readonly config: PlacedConfig;
  readonly site: SiteFolders;
  /** A module that calls `runShardThread`. */
  readonly module: URL;
  readonly engine: ShardsOptions<string>;
  readonly log: Log;
  /** Called when a thread has ended by itself: its shards and its share of the port are lost. */
  readonly broken: (cause: Error) => void;
}

/** A thread other than the main one. */
interface Thread {
  readonly shards: readonly number[];
  readonly link: Link;
  readonly methods: ThreadMethods;
  terminate(): void;
}

/** How long to wait for a busy thread when the result is useful without it. */
const silenceMsMax = 1_000;
const noFigures: ThreadFigures = {
  ...{ counted: [], keys: [] },
  gauges: { requestsInFlight: 0, bodyBytesInFlight: 0 },
};
/** How long a start waits for another server that starts on the same port. */
const turnMsMax = 10_000;
const turnPauseMs = 20;

export class ShardThreads {
  readonly #options: ShardThreadsOptions;
  /** The methods that other threads may call. */
  readonly #targets = new Map<Target, object>();
  readonly #threads: readonly Thread[];
  readonly #shards: Shards<string>;
  /** Answers the calls of other threads; set by `answerBy`. */
  #answer: (call: Call, caller: Caller) => Promise<Answer> = async () => ({ is: "failed" });
  /** The last status and figures of each thread. */
  readonly #statuses: EngineStatus[] = [];
  readonly #lastFigures: ThreadFigures[] = [];
  #isOver = false;

  /** Starts the threads; call `open` next. */
  constructor(options: ShardThreadsOptions) {
    this.#options = options;
    this.#threads = this.#start();
    const elsewhere = this.#threads.flatMap(({ shards, link }) =>
      shards.map((shard) => [shard, memberOf(link, shard)] as const),
    );
    this.#shards = new Shards(options.engine, new Map(elsewhere));
    for (const { shard, other } of this.engines) this.#targets.set(shard, other);
  }

  /** The engines of the shards in this thread. */
  get engines() {
    return this.#shards.engines;
  }

  #start(): Thread[] {
    const { threads } = this.#options.config;
    const ports = Array.from({ length: threads }, () => [] as (MessagePort | null)[]);
    for (const own of ports.keys()) for (const row of ports) row[own] = null;
    for (let one = 1; one < threads; one += 1) {
      for (let other = one + 1; other < threads; other += 1) {
        const { port1, port2 } = new MessageChannel();
        (ports[one] as (MessagePort | null)[])[other] = port1;
        (ports[other] as (MessagePort | null)[])[one] = port2;
      }
    }
    return ports.slice(1).map((own, index) => this.#startOne(index + 1, own));
  }

  #startOne(thread: number, ports: readonly (MessagePort | null)[]): Thread {
    const { config, site, module, log, broken } = this.#options;
    const shards = shardsOf(thread, config);
    const worker = new Worker(module.href);
    const link = new Link({
      port: worker,
      answer: (call, caller) => this.#answer(call, caller),
      ...{ targets: this.#targets, log },
    });
    worker.onmessage = ({ data }: MessageEvent<string | RpcMessage>) => link.receive(data);
    const end = (text: string): void => {
      if (this.#isOver) return;
      this.#isOver = true;
      const named = `${shards.length === 1 ? "shard" : "shards"} ${shards.join(", ")}`;
      broken(new Error(`the thread of ${named} stopped; ${text}`));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      end(errorTextOf(event.message));
    };
    worker.addEventListener("close", () => end("by itself"));
    const start: ThreadStart = { thread, config: threadConfig(config), site, ports };
    worker.postMessage(
      start,
      ports.filter((port) => port !== null),
    );
    return {
      ...{ shards, link, methods: link.rpc.remote<ThreadMethods>("thread") },
      terminate: () => worker.terminate(),
    };
  }

  /** Opens every shard. Throws a `StoreError` after ending the threads. */
  async open(): Promise<void> {
    try {
      await this.#shards.open();
    } catch (error) {
      this.terminate();
      throw error;
    }
  }

  /** The routes and the status of all shards. `own`: the routes of this thread's shards. */
  parts(own: readonly ShardRoutes[]): Pick<LocalOptions, "shards" | "status"> {
    const linkTo = (thread: number): Link => {
      const link = this.#threads[thread - 1]?.link;
      if (link === undefined) throw new Error("a call names a thread that does not exist");
      return link;
    };
    const shards = routesOfAll(byShard(this.engines, own), this.#options.config, linkTo);
    return { shards, status: () => this.status() };
  }

  /** A shard counts as down if its thread does not report a status in time. */
  async status(): Promise<EngineStatus> {
    const here = statusOf(this.engines);
    const others = this.#threads.map(async ({ methods, shards }, index) => {
      const status = await within(silenceMsMax, methods.status());
      if (status !== null) this.#statuses[index] = status;
      return status ?? notUp(this.#statuses[index] ?? unreported(here, shards));
    });
    return mergeStatuses([here, ...(await Promise.all(others))]);
  }

  /** Answers other threads' calls: for this thread's shards with `own`, else with `handlers`. */
  answerBy(
    own: readonly ShardRoutes[],
    handlers: OperationHandlers,
    gauges: () => ServerGauges,
  ): void {
    const answer = answerByShard(
      new Map<number | null, Partial<Routes>>([
        ...byShard(this.engines, own),
        [null, handlers.routes],
      ]),
    );
    const text = async (response: Response | Promise<Response>) =>
      new JsonText(await (await response).text());
    const pages = {
      health: () => text(handlers.health()),
      readyz: () => text(handlers.ready()),
      backup: ({ identity }: Caller) => text(handlers.backup(identity)),
      metrics: async () => new JsonText(await handlers.metrics(gauges())),
    };
    this.#answer = (call, caller) => {
      const page = pages[call.operation as keyof typeof pages];
      if (page === undefined) return answer(call, caller);
      return answerOf(
        Promise.resolve().then(() => page(caller)),
        caller,
      );
    };
  }

  /** The figures of the other threads; a thread that does not answer keeps its last ones. */
  #figures(): Promise<ThreadFigures[]> {
    return Promise.all(
      this.#threads.map(async ({ methods }, index) => {
        const figures = await within(silenceMsMax, methods.figures());
        if (figures !== null) this.#lastFigures[index] = figures;
        return figures ?? this.#lastFigures[index] ?? noFigures;
      }),
    );
  }

  /** The text of `/metrics`, with the counts of all threads. */
  async render(metrics: Metrics, own: ServerGauges): Promise<string> {
    const requests = new RequestCounts();
    requests.add(metrics.requests.counted);
    const gauges = { ...own };
    for (const figures of await this.#figures()) {
      requests.add(figures.counted);
      gauges.requestsInFlight += figures.gauges.requestsInFlight;
      gauges.bodyBytesInFlight += figures.gauges.bodyBytesInFlight;
    }
    return metrics.render(gauges, requests);
  }

  /** The API keys, with the usage of all threads. */
  async keys(own: ThreadFigures["keys"]): Promise<ThreadFigures["keys"]> {
    return mergedInfos([own, ...(await this.#figures()).map(({ keys }) => keys)]);
  }

  /** Makes all threads listen, this one with `own`. Throws a `ListenError` with none listening. */
  async listen(tls: Tls | null, own: (isShared: boolean) => Listening): Promise<Listening> {
    if (this.#threads.length === 0) return own(false);
    return await inTurn(this.#options.config, async () => {
      const first = own(true);
      const methods = this.#threads.map((thread) => thread.methods);
      const stop = async (timeoutMs: number): Promise<void> => {
        const others = Promise.all(methods.map((one) => one.stop(timeoutMs)));
        // Do not wait longer for a busy thread.
        await Promise.all([first.stop(timeoutMs), within(timeoutMs + silenceMsMax, others)]);
      };
      try {
        await Promise.all(methods.map((one) => one.listen(first.port, tls)));
      } catch (error) {
        await stop(0);
        throw error;
      }
      const renew = (renewed: Tls): void => {
        first.renew(renewed);
        for (const one of methods) void one.renew(renewed);
      };
      return { url: first.url, port: first.port, renew, stop };
    });
  }

  backup(folder: string) {
    return this.#shards.backup(folder);
  }

  close(): Promise<void> {
    return this.#shards.close();
  }

  terminate(): void {
    this.#isOver = true;
    for (const thread of this.#threads) thread.terminate();
  }
}

/**
 * Returns the error and the place where it was thrown. Bun reports a worker's error as it would
 * print it: source lines with a pointer to the place, then the error, then its stack frames.
 */
function errorTextOf(message: string): string {
  const lines = message.split("\n");
  const pointer = lines.findIndex((line) => line.trim() === "^");
  const rest = lines.slice(pointer + 1);
  const frame = rest.find((line) => line.startsWith("      at "));
  return [rest[0] ?? "", ...(frame === undefined ? [] : [frame.trim()])].join(" ");
}

function memberOf({ rpc }: Link, shard: number): Member {
  const methods = rpc.remote<ShardMethods>(shard);
  return {
    other: methods,
    load: () => methods.load(),
    meet: () => methods.meet(),
    start: () => void methods.start(),
    giveUp: () => methods.giveUp(),
    hold: async () => {
      const number = await methods.hold();
      return { release: () => void methods.release(number) };
    },
    copy: (folder) => methods.copy(folder),
    end: () => methods.end(),
    // Only nodes abandon shards, and a node has a single thread.
    abandon: () => void methods.giveUp(),
  };
}

/** Resolves to `null` if the work takes longer. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | null> {
  let timer: Timer | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The status of a silent thread's shards: the last one it reported, but not up. */
function notUp({ shards, ...last }: EngineStatus): EngineStatus {
  return { ...last, shards: shards.map((one) => ({ ...one, up: false })) };
}

/** The status of a thread that has never reported one. */
function unreported(other: EngineStatus, shards: readonly number[]): EngineStatus {
  const [sample] = other.shards;
  const blank = sample === undefined ? [] : shards.map((shard) => ({ ...blankOf(sample), shard }));
  return { ...other, shards: blank, queues: [], waitingLeases: 0 };
}

/** An empty status, with the histogram bounds of another shard. */
function blankOf(sample: ShardStatus): ShardStatus {
  const empty = ({ bounds, counts }: Histogram) => ({
    bounds,
    counts: counts.map(() => 0),
    sum: 0,
  });
  return {
    ...{ shard: 0, up: false, full: false, restarts: 0, failures: 0, commits: 0 },
    ...{ itemsCommitted: 0, walBytes: 0, fileBytes: 0, quarantined: 0, miscounted: 0, receipts: 0 },
    itemsPerCommit: empty(sample.itemsPerCommit),
    commitSeconds: empty(sample.commitSeconds),
  };
}

/**
 * A port that threads share could silently be shared with another server as well. So each start
 * first binds the port exclusively, because only the system knows all addresses. Starts on one port
 * take turns: a socket name can be bound only once per machine, and is freed when the process ends.
 */
async function inTurn<T>({ host, port }: Address, begin: () => Promise<T>): Promise<T> {
  if (process.platform !== "linux" || port === 0) return await begin();
  const turn = await turnOf({ host, port });
  try {
    await tryListening({ host, port });
    return await begin();
  } finally {
    turn.stop(true);
  }
}

async function turnOf(address: Address): Promise<Bun.UnixSocketListener<unknown>> {
  const name = { unix: `\0holdfast ${address.port}`, socket: { data: () => undefined } };
  for (const until = performance.now() + turnMsMax; ; await Bun.sleep(turnPauseMs)) {
    try {
      return Bun.listen(name);
    } catch (cause) {
      if (performance.now() > until) throw new ListenError(cause, address);
    }
  }
}
