// The threads that speak HTTP, as the one that has the engine sees them: they share the port, and
// each sends its calls to the engine.

import type { OperationId } from "../../openapi/operations.ts";
import type { Call } from "../calls/call.ts";
import { answerBy, answerOf, CallServer } from "../calls/call-server.ts";
import { mergedInfos } from "../key-file.ts";
import { type Address, ListenError, type Listening, tryListening } from "../listen.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { RequestCounts } from "../request-counts.ts";
import { type Caller, JsonText } from "../routes/route.ts";
import type { Serving } from "../serving.ts";
import type { Tls } from "../tls.ts";
import type { FromThread, ThreadFigures, ThreadOptions, ToThread } from "./messages.ts";

export interface HttpThreadsOptions extends ThreadOptions {
  /** At least 2; of one, the engine's own thread does the work without a hop. */
  readonly count: number;
  /** A module that calls `runHttpThread`. */
  readonly module: URL;
  /** By the engine of this thread. */
  readonly serving: Serving;
  /** Renders what all threads have counted. */
  readonly metrics: Pick<Metrics, "render">;
  readonly log: Log;
  /** A thread has ended by itself, which leaves the others with its port. */
  readonly broken: (cause: Error) => void;
}

/** How long a start waits for another one on its port. */
const turnMsMax = 10_000;
const turnPauseMs = 20;

/** Throws a `ListenError`, and has then left nothing open. */
export async function listenInThreads(options: HttpThreadsOptions): Promise<Listening> {
  const { config, port } = options;
  return await inTurn({ host: config.host, port }, () => start(options));
}

async function start(options: HttpThreadsOptions): Promise<Listening> {
  const { count, config, port } = options;
  const threads: HttpThread[] = [];
  const stop = async (timeoutMs: number): Promise<void> => {
    await Promise.all(threads.map((thread) => thread.stop(timeoutMs)));
  };
  const answer = answering(options, threads);
  try {
    let url = "";
    for (let index = 0; index < count; index += 1) {
      const thread = new HttpThread(options, answer);
      threads.push(thread);
      // The first may find a port, which the others then take.
      const taken = url === "" ? port : Number(new URL(url).port);
      url = await thread.open({ ...options, port: taken, config: share(config, count) });
    }
    const renew = (tls: Tls): void => {
      for (const thread of threads) thread.tell({ kind: "renew", tls });
    };
    return { url, renew, stop };
  } catch (error) {
    await stop(0);
    throw error;
  }
}

/** What is bounded for the server as a whole, in as many parts. */
function share(config: ThreadOptions["config"], count: number): ThreadOptions["config"] {
  const part = (whole: number): number => Math.ceil(whole / count);
  const { connectionsMax, bodiesMax } = config;
  return { ...config, connectionsMax: part(connectionsMax), bodiesMax: part(bodiesMax) };
}

/**
 * A port that is shared among threads could be shared with another server as well, without a word.
 * So each asks the system for all of it first, which knows every address, and no two servers of this
 * machine start on one port at a time: that name can be had once, and goes with the process.
 */
async function inTurn<T>(address: Address, begin: () => Promise<T>): Promise<T> {
  if (process.platform !== "linux" || address.port === 0) return await begin();
  const turn = await turnOf(address);
  try {
    await tryListening(address);
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

function answering(
  { serving, metrics }: HttpThreadsOptions,
  threads: readonly HttpThread[],
): (call: Call, caller: Caller) => ReturnType<typeof answerOf> {
  const operation = answerBy(serving.routes);
  const text = async (response: Response | Promise<Response>) =>
    new JsonText(await (await response).text());
  const wholes = {
    health: () => text(serving.health()),
    readyz: () => text(serving.ready()),
    backup: ({ grant }: Caller) => text(serving.backup(grant)),
    metrics: async () => new JsonText(await renderAll(threads, metrics)),
    listKeys: async () => {
      const counted = await Promise.all(threads.map((thread) => thread.count()));
      const items = mergedInfos(counted.map(({ keys }) => keys));
      return new JsonText(JSON.stringify({ items }));
    },
  };
  return (call, caller) => {
    const whole = wholes[call.operation as keyof typeof wholes];
    return whole === undefined
      ? operation(call as Call & { operation: OperationId }, caller)
      : answerOf(
          Promise.resolve().then(() => whole(caller)),
          caller,
        );
  };
}

async function renderAll(
  threads: readonly HttpThread[],
  metrics: HttpThreadsOptions["metrics"],
): Promise<string> {
  const counted = await Promise.all(threads.map((thread) => thread.count()));
  const requests = new RequestCounts();
  const gauges = { requestsInFlight: 0, bodyBytesInFlight: 0 };
  for (const figures of counted) {
    requests.add(figures.counted);
    gauges.requestsInFlight += figures.gauges.requestsInFlight;
    gauges.bodyBytesInFlight += figures.gauges.bodyBytesInFlight;
  }
  return metrics.render(gauges, requests);
}

class HttpThread {
  readonly #worker: Worker;
  readonly #callServer: CallServer;
  #opened = Promise.withResolvers<string>();
  #counted: ((figures: ThreadFigures) => void)[] = [];
  readonly #stopped = Promise.withResolvers<void>();
  #isOver = false;

  constructor(
    { module, log, broken, config, port }: HttpThreadsOptions,
    answer: ReturnType<typeof answering>,
  ) {
    this.#callServer = new CallServer({
      ...{ answer, log },
      send: (frame) => this.tell(frame),
    });
    this.#worker = new Worker(module.href);
    const end = (text: string): void => {
      if (this.#isOver) return;
      this.#isOver = true;
      const cause = new Error(`a thread of HTTP stopped; ${text}`);
      this.#opened.reject(cause);
      this.#stopped.resolve();
      broken(cause);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      end(event.message.split("\n")[0] ?? "");
    };
    this.#worker.addEventListener("close", () => end("by itself"));
    this.#worker.onmessage = ({ data }: MessageEvent<FromThread>) => {
      if (typeof data === "string") this.#callServer.receive(data);
      else if (data.kind === "refused") {
        this.#opened.reject(new ListenError(data, { host: config.host, port }));
      } else this.#hear(data);
    };
  }

  #hear(message: Exclude<FromThread, string | { kind: "refused" }>): void {
    switch (message.kind) {
      case "listening":
        this.#opened.resolve(message.url);
        return;
      case "counted":
        this.#counted.shift()?.(message);
        return;
      case "stopped":
        this.#isOver = true;
        this.#worker.terminate();
        this.#stopped.resolve();
        return;
    }
  }

  tell(message: ToThread): void {
    if (!this.#isOver) this.#worker.postMessage(message);
  }

  open({ config, port, tls, site }: ThreadOptions): Promise<string> {
    this.tell({ kind: "open", options: { config, port, tls, site } });
    return this.#opened.promise;
  }

  count(): Promise<ThreadFigures> {
    return new Promise((resolve) => {
      this.#counted.push(resolve);
      this.tell({ kind: "count" });
    });
  }

  stop(timeoutMs: number): Promise<void> {
    this.tell({ kind: "stop", timeoutMs });
    return this.#stopped.promise;
  }
}
