// The threads of a server with several shards, as the main thread sees them. It has the first shard, and
// answers for the server as a whole; each other shard has a thread of its own. All of them speak HTTP on
// one port.

import { ShardEngine } from "../../engine/engine.ts";
import type { EngineStatus } from "../../engine/model/api.ts";
import { noTestClock, QueueError } from "../../engine/model/errors.ts";
import type { OtherShard } from "../../engine/relay/other-shard.ts";
import { type Member, Shards, type ShardsOptions } from "../../engine/shards.ts";
import type { OperationId } from "../../openapi/operations.ts";
import type { Answer, Call } from "../calls/call.ts";
import { answerBy, answerOf } from "../calls/call-server.ts";
import type { ShardedConfig } from "../config.ts";
import { mergedInfos } from "../key-file.ts";
import { type Address, ListenError, type Listening, tryListening } from "../listen.ts";
import type { Log } from "../log.ts";
import type { Metrics, ServerGauges } from "../metrics.ts";
import { RequestCounts } from "../request-counts.ts";
import { type Caller, JsonText, type Routes } from "../routes/route.ts";
import type { Serving } from "../serving.ts";
import { mergeStatuses } from "../shards/engine-status.ts";
import type { ShardRoutes } from "../shards/routes.ts";
import type { SiteFolders } from "../site.ts";
import type { Tls } from "../tls.ts";
import { Link } from "./link.ts";
import type { MainMethods, ThreadFigures, ThreadMethods, ThreadStart } from "./messages.ts";
import { routesOver } from "./remote.ts";
import type { RpcMessage } from "./rpc.ts";

export interface ShardThreadsOptions {
  readonly config: ShardedConfig;
  readonly site: SiteFolders;
  /** A module that calls `runShardThread`. */
  readonly module: URL;
  readonly engine: ShardsOptions<string>;
  readonly log: Log;
  /** A thread has ended by itself, with a shard and a part of the port. */
  readonly broken: (cause: Error) => void;
}

/** The thread of one shard, other than the first. */
interface Thread {
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
  readonly engine: ShardEngine<string>;
  readonly #threads: readonly Thread[];
  readonly #shards: Shards;
  /** Answers what other threads ask. */
  #answer: (call: Call, caller: Caller) => Promise<Answer> = async () => ({ is: "failed" });
  /** By thread, what it said last. */
  readonly #statuses: EngineStatus[] = [];
  readonly #told: ThreadFigures[] = [];
  #isOver = false;

  /** Starts the threads; `open` comes next. */
  constructor(options: ShardThreadsOptions) {
    this.#options = options;
    const none = async (): Promise<never> => {
      throw QueueError.from(noTestClock);
    };
    this.engine = new ShardEngine<string>({
      ...{ ...options.engine, shard: 0 },
      reach: (shard) => this.#at(shard).methods as OtherShard,
      whole: {
        backup: (folder) => this.#shards.backup(folder),
        advance: none,
        close: () => this.close(),
      },
      lost: () => void this.#shards.reopen(),
    });
    this.#threads = this.#start();
    const members = [this.engine, ...this.#threads.map(memberOf)];
    const { clock, notice } = options.engine;
    this.#shards = new Shards({ members, machine: clock.machine, ...(notice && { notice }) });
  }

  #at(shard: number): Thread {
    const thread = this.#threads[shard - 1];
    if (thread === undefined) throw new Error("a thread is asked that is not there");
    return thread;
  }

  #start(): Thread[] {
    const { shardCount } = this.#options.engine;
    const ports = Array.from({ length: shardCount }, () => [] as (MessagePort | null)[]);
    for (const own of ports.keys()) for (const row of ports) row[own] = null;
    for (let one = 1; one < shardCount; one += 1) {
      for (let other = one + 1; other < shardCount; other += 1) {
        const { port1, port2 } = new MessageChannel();
        (ports[one] as (MessagePort | null)[])[other] = port1;
        (ports[other] as (MessagePort | null)[])[one] = port2;
      }
    }
    return ports.slice(1).map((own, index) => this.#startOne(index + 1, own));
  }

  #startOne(shard: number, ports: readonly (MessagePort | null)[]): Thread {
    const { config, site, module, log, broken } = this.#options;
    const worker = new Worker(module.href);
    const methods: MainMethods = {
      ...this.engine.other,
      lost: async () => void this.#shards.reopen(),
    };
    const link = new Link({
      port: worker,
      answer: (call, caller) => this.#answer(call, caller),
      ...{ methods, log },
    });
    worker.onmessage = ({ data }: MessageEvent<string | RpcMessage>) => link.receive(data);
    const end = (text: string): void => {
      if (this.#isOver) return;
      this.#isOver = true;
      broken(new Error(`the thread of shard ${shard} stopped; ${text}`));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      end(errorTextOf(event.message));
    };
    worker.addEventListener("close", () => end("by itself"));
    const start: ThreadStart = { shard, config: shareOf(config), site, ports };
    worker.postMessage(
      start,
      ports.filter((port) => port !== null),
    );
    return {
      ...{ link, methods: link.rpc.remote<ThreadMethods>() },
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

  /** In the order of their numbers; `own`: those of the shard in this thread. */
  routes(own: ShardRoutes): ShardRoutes[] {
    return [own, ...this.#threads.map(({ link }) => routesOver(link))];
  }

  get #nothing(): EngineStatus {
    return { ...this.engine.status(), queues: [], waitingLeases: 0 };
  }

  /** A shard whose thread does not say in time how it is counts as not up. */
  async status(): Promise<EngineStatus> {
    const others = this.#threads.map(async ({ methods }, index) => {
      const status = await within(silenceMsMax, methods.status());
      if (status !== null) this.#statuses[index] = status;
      return status ?? notUp(this.#statuses[index] ?? this.#nothing, index + 1);
    });
    return mergeStatuses([this.engine.status(), ...(await Promise.all(others))]);
  }

  /** What is answered for other threads: `own` by the shard in this one, and pages by `serving`. */
  answerBy(own: ShardRoutes, serving: Serving, gauges: () => ServerGauges): void {
    const byShard = answerBy({ ...serving.routes, ...own } as Routes);
    const text = async (response: Response | Promise<Response>) =>
      new JsonText(await (await response).text());
    const wholes = {
      health: () => text(serving.health()),
      readyz: () => text(serving.ready()),
      backup: ({ grant }: Caller) => text(serving.backup(grant)),
      metrics: async () => new JsonText(await serving.metrics(gauges())),
    };
    this.#answer = (call, caller) => {
      const whole = wholes[call.operation as keyof typeof wholes];
      if (whole === undefined) {
        return byShard({ ...call, operation: call.operation as OperationId }, caller);
      }
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
  async listen(tls: Tls | null, own: () => Listening): Promise<Listening> {
    return await inTurn(this.#options.config, async () => {
      const first = own();
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

/** As the shards' common life needs it. */
function memberOf({ methods }: Thread): Member {
  return {
    load: () => methods.load(),
    meet: (standings) => methods.meet(standings),
    start: () => void methods.start(),
    drop: () => methods.drop(),
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

/** What is said of the shard of a thread that says nothing. */
function notUp({ shards, ...last }: EngineStatus, shard: number): EngineStatus {
  return { ...last, shards: shards.slice(0, 1).map((one) => ({ ...one, shard, up: false })) };
}

/** A thread's part of what is bounded for the server as a whole; the largest bodies fit into it. */
export function shareOf(config: ShardedConfig): ShardedConfig {
  const part = (whole: number): number => Math.ceil(whole / config.shards);
  const { connectionsMax, bodiesMax, importBodyMax } = config;
  const bodies = Math.min(bodiesMax, Math.max(part(bodiesMax), 2 * importBodyMax));
  return { ...config, connectionsMax: part(connectionsMax), bodiesMax: bodies };
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
