// The threads that share the shards of a server, as the main thread sees them. It has some of the shards,
// and answers for the server as a whole. All of them speak HTTP on one port.

import type { EngineStatus, Histogram, ShardStatus } from "../../engine/model/api.ts";
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
  /** A thread has ended by itself, with its shards and a part of the port. */
  readonly broken: (cause: Error) => void;
}

/** A thread other than the main one. */
interface Thread {
  /** Their numbers. */
  readonly shards: readonly number[];
  readonly link: Link;
  readonly methods: ThreadMethods;
  terminate(): void;
}

/** How long a thread that is busy is waited for where the others can be told without it. */
const silenceMsMax = 1_000;
const noFigures: ThreadFigures = {
  ...{ counted: [], keys: [] },
  gauges: { requestsInFlight: 0, bodyBytesInFlight: 0 },
};
/** How long a start waits for another one on its port. */
const turnMsMax = 10_000;
const turnPauseMs = 20;

export class ShardThreads {
  readonly #options: ShardThreadsOptions;
  /** What other threads may ask of this one. */
  readonly #targets = new Map<Target, object>();
  readonly #threads: readonly Thread[];
  readonly #shards: Shards<string>;
  /** Answers what other threads ask. */
  #answer: (call: Call, caller: Caller) => Promise<Answer> = async () => ({ is: "failed" });
  /** By thread, what it said last. */
  readonly #statuses: EngineStatus[] = [];
  readonly #told: ThreadFigures[] = [];
  #isOver = false;

  /** Starts the threads; `open` comes next. */
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

  /** Opens every shard. Throws `StoreError`, and has then ended the threads. */
  async open(): Promise<void> {
    try {
      await this.#shards.open();
    } catch (error) {
      this.terminate();
      throw error;
    }
  }

  /** What is asked of all shards. `own`: the routes of those in this thread. */
  parts(own: readonly ShardRoutes[]): Pick<LocalOptions, "shards" | "status"> {
    const linkTo = (thread: number): Link => {
      const link = this.#threads[thread - 1]?.link;
      if (link === undefined) throw new Error("a thread is asked that is not there");
      return link;
    };
    const shards = routesOfAll(byShard(this.engines, own), this.#options.config, linkTo);
    return { shards, status: () => this.status() };
  }

  /** A shard whose thread does not say in time how it is counts as not up. */
  async status(): Promise<EngineStatus> {
    const here = statusOf(this.engines);
    const others = this.#threads.map(async ({ methods, shards }, index) => {
      const status = await within(silenceMsMax, methods.status());
      if (status !== null) this.#statuses[index] = status;
      return status ?? notUp(this.#statuses[index] ?? unreported(here, shards));
    });
    return mergeStatuses([here, ...(await Promise.all(others))]);
  }

  /** What is answered for other threads: `own` by the shards in this one, and all else by `serving`. */
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
    const wholes = {
      health: () => text(handlers.health()),
      readyz: () => text(handlers.ready()),
      backup: ({ grant }: Caller) => text(handlers.backup(grant)),
      metrics: async () => new JsonText(await handlers.metrics(gauges())),
    };
    this.#answer = (call, caller) => {
      const whole = wholes[call.operation as keyof typeof wholes];
      if (whole === undefined) return answer(call, caller);
      return answerOf(
        Promise.resolve().then(() => whole(caller)),
        caller,
      );
    };
  }

  /** Of the other threads: of one that is silent those that it told last. */
  #figures(): Promise<ThreadFigures[]> {
    return Promise.all(
      this.#threads.map(async ({ methods }, index) => {
        const figures = await within(silenceMsMax, methods.figures());
        if (figures !== null) this.#told[index] = figures;
        return figures ?? this.#told[index] ?? noFigures;
      }),
    );
  }

  /** The text of `/metrics`, of what all threads have counted. */
  async render(metrics: Metrics, own: ServerGauges): Promise<string> {
    const requests = new RequestCounts();
    requests.add(metrics.requests.asked);
    const gauges = { ...own };
    for (const figures of await this.#figures()) {
      requests.add(figures.counted);
      gauges.requestsInFlight += figures.gauges.requestsInFlight;
      gauges.bodyBytesInFlight += figures.gauges.bodyBytesInFlight;
    }
    return metrics.render(gauges, requests);
  }

  /** API keys as all threads know them. */
  async keys(own: ThreadFigures["keys"]): Promise<ThreadFigures["keys"]> {
    return mergedInfos([own, ...(await this.#figures()).map(({ keys }) => keys)]);
  }

  /** Has all threads listen, this one by `own`. Throws a `ListenError`, and has then left nothing open. */
  async listen(tls: Tls | null, own: (isShared: boolean) => Listening): Promise<Listening> {
    if (this.#threads.length === 0) return own(false);
    return await inTurn(this.#options.config, async () => {
      const first = own(true);
      const methods = this.#threads.map((thread) => thread.methods);
      const stop = async (timeoutMs: number): Promise<void> => {
        const others = Promise.all(methods.map((one) => one.stop(timeoutMs)));
        // A thread that is busy all the while is not waited for.
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
 * The error and where it was thrown. Bun reports the error of a worker as it would print it: behind
 * lines of source, of which the last points to the place, and before its frames.
 */
function errorTextOf(message: string): string {
  const lines = message.split("\n");
  const pointer = lines.findIndex((line) => line.trim() === "^");
  const rest = lines.slice(pointer + 1);
  const frame = rest.find((line) => line.startsWith("      at "));
  return [rest[0] ?? "", ...(frame === undefined ? [] : [frame.trim()])].join(" ");
}

/** A shard of another thread. */
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
    // Only nodes abandon shards, and theirs are in one thread.
    abandon: () => void methods.giveUp(),
  };
}

/** `null` = it takes longer. */
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
  const [like] = other.shards;
  const blank = like === undefined ? [] : shards.map((shard) => ({ ...blankOf(like), shard }));
  return { ...other, shards: blank, queues: [], waitingLeases: 0 };
}

/** Nothing counted, in buckets with the bounds of another shard's. */
function blankOf(like: ShardStatus): ShardStatus {
  const empty = ({ bounds, counts }: Histogram) => ({
    bounds,
    counts: counts.map(() => 0),
    sum: 0,
  });
  return {
    ...{ shard: 0, up: false, full: false, restarts: 0, failures: 0, commits: 0 },
    ...{ itemsCommitted: 0, walBytes: 0, fileBytes: 0, quarantined: 0, miscounted: 0, receipts: 0 },
    itemsPerCommit: empty(like.itemsPerCommit),
    commitSeconds: empty(like.commitSeconds),
  };
}

/**
 * A port that is shared among threads could be shared with another server as well, without a word.
 * So each asks the system for all of it first, which knows every address, and no two servers of this
 * machine start on one port at a time: that name can be had once, and goes with the process.
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
