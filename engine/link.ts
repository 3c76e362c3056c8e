// How the engine reaches a shard: on a worker of its own, or in the same thread
// with the same behaviour. A link that has reported `down` is finished; the
// engine makes a new one in its place.

import type { Backend } from "../stores/backend.ts";
import { StoreError, type StoreFault } from "../stores/store.ts";
import type { LeasedItem } from "./api.ts";
import { aheadMs, type Clock, TestClock, type Timer } from "./clock.ts";
import { decodeOpened, decodeReport, encodeRequests, type ReportTexts } from "./codec.ts";
import type { Request } from "./kinds.ts";
import { limits, type TurnLimits } from "./limits.ts";
import type { Opened, Report } from "./messages.ts";
import type { Random } from "./random.ts";
import type { Memory } from "./shard/memory.ts";
import { Shard } from "./shard/shard.ts";

export interface LinkEvents {
  /** Once, before any report. */
  opened(opened: Opened): void;
  report(report: Report): void;
  /** The shard is gone, and with it all that it had not answered. At most once. */
  down(cause: unknown): void;
}

export interface Link {
  /** They are numbered in a row, from `opFirst` on. */
  send(requests: readonly Request[], opFirst: number): void;
  /** Lets the turn that runs finish and closes the store; `false`: that turn failed, and nobody knows what became of it. */
  close(): Promise<boolean>;
  /**
   * Ends the shard at once, whatever it is doing. One that is being opened is heard to the end of
   * that, which resolves: what its store has lost it says only once.
   */
  abandon(): Promise<void>;
}

export type LinkFactory = (shard: number, events: LinkEvents) => Link;

export interface SameThreadOptions {
  readonly clock: Clock;
  readonly openStore: (shard: number) => Promise<Backend>;
  readonly limits?: TurnLimits;
  readonly renderLeased: (items: readonly LeasedItem[]) => string;
  /** Default that of the machine. */
  readonly random?: Random;
  /** Called after each commit, before anyone is told; the simulation compares memory and store. */
  readonly observe?: (shard: number, memory: Memory) => Promise<void>;
}

/** Shards in the engine's own thread: for tests, for simulation, and for embedding without workers. */
export function sameThreadLinks(options: SameThreadOptions): LinkFactory {
  return (shard, events) => new SameThreadLink(shard, events, options);
}

class SameThreadLink implements Link {
  readonly #events: LinkEvents;
  readonly #opening: Promise<void>;
  #shard: Shard | null = null;
  #backend: Backend | null = null;
  #closed = false;
  #isAbandoned = false;

  constructor(shard: number, events: LinkEvents, options: SameThreadOptions) {
    this.#events = events;
    this.#opening = this.#open(shard, options).catch((cause) => this.#fail(cause));
  }

  async #open(shard: number, options: SameThreadOptions): Promise<void> {
    const { clock, openStore, renderLeased, random, observe } = options;
    const backend = await openStore(shard);
    this.#backend = backend;
    const opened = await Shard.open({
      shard,
      backend,
      clock,
      limits: options.limits ?? limits,
      renderLeased,
      ...(random && { random }),
      report: (report) => {
        if (!this.#closed) this.#events.report(report);
      },
      fail: (cause) => void this.#fail(cause),
      ...(observe === undefined ? {} : { observe: (memory) => observe(shard, memory) }),
    });
    this.#shard = opened.shard;
    if (!this.#closed && !this.#isAbandoned) this.#events.opened(opened.opened);
  }

  /** The store is closed before anyone may open it again. */
  async #fail(cause: unknown): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#backend?.store.close().catch(() => undefined);
    this.#events.down(cause);
  }

  send(requests: readonly Request[], opFirst: number): void {
    this.#shard?.submit(requests.map((request, index) => ({ ...request, op: opFirst + index })));
  }

  async close(): Promise<boolean> {
    await this.#opening;
    if (this.#closed || this.#shard === null) return false;
    const isWhole = await this.#shard.close();
    this.#closed = true;
    return isWhole;
  }

  async abandon(): Promise<void> {
    this.#isAbandoned = true;
    if (this.#shard === null) await this.#opening;
    this.#closed = true;
    this.#backend?.store.close().catch(() => undefined);
  }
}

export interface WorkerOptions<Config> {
  readonly clock: Clock;
  /** A module that calls `runShardWorker`. */
  readonly module: URL;
  /** Handed to the module's `openStore`. */
  readonly config: Config;
  /** Default `limits`. */
  readonly limits?: TurnLimits;
  /** The clock is not the machine's but one that several machines share. */
  readonly isClockShared?: boolean;
  /** An open worker that says nothing for longer is replaced; default `limits.heartbeatSilenceMsMax`. */
  readonly silenceMsMax?: number;
}

/** What a worker is told. */
export type ToWorker<Config> =
  | {
      readonly kind: "open";
      readonly shard: number;
      readonly config: Config;
      readonly limits: TurnLimits;
      /** The instant of the test clock; `null` = it goes by the machine's. */
      readonly testNow: number | null;
      /** By how much the clock that it shares with other machines is ahead of its own; `null` = it shares none. */
      readonly aheadMs: number | null;
    }
  | { readonly kind: "requests"; readonly opFirst: number; readonly text: string }
  | { readonly kind: "ping" }
  | { readonly kind: "close" };

/** What a worker says. */
export type FromWorker =
  | ReportTexts
  | { readonly kind: "opened"; readonly text: string }
  | { readonly kind: "failed"; readonly message: string; readonly fault: StoreFault | null }
  | { readonly kind: "pong" }
  | { readonly kind: "closed" };

/** Of a module that a bundler has left behind the runtime tells a path, and not what to do. */
function causeOf(message: string): string {
  if (!message.includes("ModuleNotFound")) return message.split("\n")[0] ?? "";
  return "its module is not there; bundle the package 'holdfast' and not its sources, or pass sameThread: true";
}

function isReport(message: FromWorker): message is ReportTexts {
  return Array.isArray(message);
}

/** A worker per shard. Texts cross between threads at the cost of copying bytes; objects would not. */
export function workerLinks<Config>(options: WorkerOptions<Config>): LinkFactory {
  return (shard, events) => new WorkerLink(shard, events, options);
}

class WorkerLink<Config> implements Link {
  readonly #clock: Clock;
  readonly #events: LinkEvents;
  readonly #worker: Worker;
  readonly #gone: Promise<void>;
  #resolveGone: () => void = () => undefined;
  #down = false;
  #closing = false;
  #isOpened = false;
  #isAbandoned = false;
  readonly #silenceMsMax: number;
  /** How long the worker has said nothing while this thread ran. */
  #silentMs = 0;
  #heartbeat: Timer | null = null;

  constructor(shard: number, events: LinkEvents, options: WorkerOptions<Config>) {
    this.#clock = options.clock.machine;
    this.#events = events;
    this.#silenceMsMax = options.silenceMsMax ?? limits.heartbeatSilenceMsMax;
    this.#gone = new Promise((resolve) => {
      this.#resolveGone = resolve;
    });
    // Without these two handlers a worker that throws would vanish without a word.
    this.#worker = new Worker(options.module.href);
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#fail(new Error(`shard ${shard} stopped; ${causeOf(event.message)}`));
    };
    this.#worker.addEventListener("close", () => {
      this.#resolveGone();
      this.#fail(new Error(`shard ${shard} stopped by itself`));
    });
    this.#worker.onmessage = (event: MessageEvent<FromWorker>) => this.#hear(event.data);
    const { config, limits: bounds = limits } = options;
    const testNow = options.clock instanceof TestClock ? options.clock.now() : null;
    const ahead = options.isClockShared === true ? aheadMs(options.clock) : null;
    this.#post({ kind: "open", shard, config, limits: bounds, testNow, aheadMs: ahead });
    this.#beat();
  }

  #post(message: ToWorker<Config>): void {
    if (!this.#down) this.#worker.postMessage(message);
  }

  /** A worker that is stuck is as bad as one that is gone, and only silence tells. */
  #beat(): void {
    const ms = Math.min(limits.heartbeatMs, this.#silenceMsMax / 3);
    // A clock that is set is no silence.
    const begunAt = this.#clock.precise();
    this.#heartbeat = this.#clock.at(this.#clock.now() + ms, () => {
      if (this.#down || this.#closing) return;
      // What came while this thread or the whole process was stopped is read after this.
      this.#silentMs += Math.min(this.#clock.precise() - begunAt, 2 * ms);
      const patience = this.#isOpened ? 1 : limits.openingPatience;
      if (this.#silentMs > patience * this.#silenceMsMax) {
        this.#fail(new Error("a shard did not answer for too long"));
        return;
      }
      this.#post({ kind: "ping" });
      this.#beat();
    });
  }

  #hear(message: FromWorker): void {
    if (this.#down) return;
    this.#silentMs = 0;
    if (isReport(message)) {
      this.#events.report(decodeReport(message));
      return;
    }
    switch (message.kind) {
      case "opened":
        this.#isOpened = true;
        if (this.#isAbandoned) this.#end();
        else this.#events.opened(decodeOpened(message.text));
        return;
      case "failed":
        this.#fail(
          message.fault === null
            ? new Error(message.message)
            : new StoreError(message.fault, message.message),
        );
        return;
      case "pong":
        return;
      case "closed":
        this.#closing = true;
        this.#resolveGone();
        return;
    }
  }

  #fail(cause: unknown): void {
    if (this.#down || this.#closing) return;
    this.#down = true;
    this.#heartbeat?.cancel();
    this.#worker.terminate();
    // The file's lock goes with the thread, so the next one may only start after it.
    void this.#gone.then(() => this.#events.down(cause));
  }

  send(requests: readonly Request[], opFirst: number): void {
    this.#post({ kind: "requests", opFirst, text: encodeRequests(requests) });
  }

  async close(): Promise<boolean> {
    if (this.#down) return false;
    this.#post({ kind: "close" });
    await this.#gone;
    const isWhole = !this.#down;
    this.#end();
    return isWhole;
  }

  async abandon(): Promise<void> {
    this.#isAbandoned = true;
    if (this.#isOpened) this.#end();
    else await this.#gone;
  }

  #end(): void {
    this.#down = true;
    this.#heartbeat?.cancel();
    this.#worker.terminate();
  }
}
