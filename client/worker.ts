// Leases items as there is room for them, has each handled, and says what became of it.
// An item is leased only when it can be started at once: nothing grows old in a buffer.

import { bounds } from "../openapi/bounds.ts";
import { DeadLetter, type HoldfastError, LeaseLost, WorkerStopping } from "./errors.ts";
import { type Ending, Finisher } from "./finisher.ts";
import type { Handling } from "./handling.ts";
import type { LeasedItem } from "./items.ts";
import { Keeper } from "./keeper.ts";
import { KeptLease } from "./kept-lease.ts";
import type { Lease } from "./lease.ts";
import { guarded, printedOf, type WorkerNotice } from "./notice.ts";
import {
  anything,
  type Checks,
  call,
  checkOptions,
  length,
  signal,
  text,
  values,
} from "./options.ts";
import { openPoll, type Poll } from "./poll.ts";
import { afterThisRound, pauseMs } from "./repeat.ts";
import { forget, isInstance, kindOf, reasonOf } from "./shown.ts";
import { drainBefore } from "./termination.ts";
import { startTimer, steadyNow } from "./time.ts";
import type { Transport } from "./transport.ts";

/** Returns: completed. Throws: retried later, or sent to the dead queue by a `DeadLetter`. */
export type Handler<Json = unknown> = (item: LeasedItem<Json>, handling: Handling) => unknown;

export interface WorkOptions {
  /** Items handled at once; default 10. */
  readonly concurrency?: number;
  /** The most items of one lease; default and at most `concurrency`. */
  readonly batch?: number;
  /** Milliseconds after which a failed item is offered again; default from 1 s to 5 minutes, jittered. */
  readonly backoff?: (item: LeasedItem, error: unknown) => number;
  /** How long before its lease lapses a handler is told; default a tenth of the lease, at most 5 s. */
  readonly marginMs?: number;
  /** Names the worker in the server's line, where each has its own; default a random name. */
  readonly clientId?: string;
  /** How long a lease waits at the server before it is asked for again; default 1 minute. */
  readonly timeoutMs?: number;
  /** How long items are held, as a duration, and extended by; default as long as the queue says. */
  readonly leaseTimeout?: string;
  /** Stops the worker, as `stop()` does. */
  readonly signal?: AbortSignal;
  /** Signals of the process that stop it, before the process ends; default SIGTERM and SIGINT. */
  readonly processSignals?: readonly string[];
  /** How long a stop lets handlers work before their signal is aborted; default 25 s. */
  readonly drainMs?: number;
  /** Default: a line on the console. */
  readonly notice?: (notice: WorkerNotice) => void;
}

export interface WorkerCounts {
  readonly completed: number;
  readonly retried: number;
  readonly dead: number;
  /** Failed for the last time, in a queue without a dead queue. */
  readonly removed: number;
  /** Given back at a stop, as if they had not been leased. */
  readonly released: number;
  readonly lost: number;
  readonly running: number;
}

export interface Worker {
  /** Leases no more, waits for handlers, says what became of their items. Idempotent. */
  stop(): Promise<void>;
  /** Resolves when it has stopped; rejects when it cannot go on, as when its queue was deleted. */
  readonly stopped: Promise<void>;
  readonly counts: WorkerCounts;
  [Symbol.asyncDispose](): Promise<void>;
}

interface WorkerSource {
  readonly transport: Transport;
  readonly queue: string;
  readonly handler: Handler;
  readonly options: WorkOptions;
}

const backoffPace = { baseMs: 1_000, capMs: 5 * 60_000 };
const drainMsDefault = 25_000;
/** After handlers were told to end: time to do so, and to say what became of their items. */
const lastWordsMs = 5_000;
/** So much of it is theirs; then what they have is given back, which takes a call. */
const handlersMs = 3_000;
/** More endings than one call takes are not gathered before more is leased. */
const endingsMax = 1_000;

export function startWorker(source: WorkerSource): Worker {
  const { handler, transport, options } = source;
  checkOptions(options, workChecks);
  if (typeof handler !== "function") {
    throw new TypeError(`handler is invalid; expected a function, got ${kindOf(handler)}`);
  }
  const { tracing } = transport;
  if (tracing === undefined) return new QueueWorker(source);
  // Its spans are of its items, not of whatever had it started.
  return tracing.apart(() => new QueueWorker({ ...source, handler: tracing.handling(handler) }));
}

class QueueWorker implements Worker {
  readonly stopped: Promise<void>;
  readonly #source: WorkerSource;
  readonly #bounds: Bounds;
  readonly #poll: Poll;
  readonly #finisher: Finisher;
  readonly #keeper: Keeper;
  readonly #leaving = new AbortController();
  readonly #hurrying = new AbortController();
  readonly #givingUp = new AbortController();
  /** Of which it is not known yet what is to be said. */
  readonly #running = new Set<LeasedItem>();
  /** Those of them whose handler runs. */
  readonly #handled = new Map<LeasedItem, KeptLease>();
  readonly #counts = { completed: 0, retried: 0, dead: 0, removed: 0, released: 0, lost: 0 };
  readonly #notice: (notice: WorkerNotice) => void;
  #wake: () => void = () => undefined;
  #asking: Promise<boolean> | null = null;

  constructor(source: WorkerSource) {
    const { transport, queue, options } = source;
    const { clientId, timeoutMs, leaseTimeout, signal, notice = printedOf(queue) } = options;
    this.#source = source;
    this.#bounds = boundsOf(options);
    this.#notice = guarded(notice);
    const trouble = (error: HoldfastError): void => this.#notice({ kind: "trouble", error });
    this.#poll = openPoll({
      transport,
      queue,
      leave: this.#leaving.signal,
      trouble,
      renamed: (name) => {
        const reason = `another one waits as '${clientId}' already; this one goes on as '${name}'`;
        this.#notice({ kind: "renamed", clientId: name, reason });
      },
      ...(clientId === undefined ? {} : { clientId }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(leaseTimeout === undefined ? {} : { leaseTimeout }),
    });
    this.#keeper = new Keeper(transport, leaseTimeout);
    this.#finisher = new Finisher({ transport, queue, trouble, giveUp: this.#givingUp.signal });
    const leave = (): void => this.#leaving.abort();
    signal?.addEventListener("abort", leave);
    if (signal?.aborted) leave();
    const takeBack = drainBefore(options.processSignals ?? ["SIGTERM", "SIGINT"], () =>
      this.stop().catch(() => undefined),
    );
    this.stopped = this.#live().finally(() => {
      signal?.removeEventListener("abort", leave);
      takeBack();
    });
  }

  get counts(): WorkerCounts {
    return { ...this.#counts, running: this.#running.size };
  }

  async stop(): Promise<void> {
    this.#leaving.abort();
    await this.stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #live(): Promise<void> {
    const { concurrency, batch } = this.#bounds;
    try {
      while (!this.#leaving.signal.aborted) {
        const room = concurrency - this.#running.size;
        if (room <= 0 || this.#finisher.count >= endingsMax) {
          await this.#change();
          continue;
        }
        const lease = await this.#poll.next(Math.min(batch, room));
        if (lease !== null) this.#start(lease);
      }
    } finally {
      await this.#drain();
    }
  }

  /** Resolves when a handler has ended or the worker is to stop. */
  #change(): Promise<void> {
    const { signal } = this.#leaving;
    return new Promise((resolve) => {
      this.#wake = () => {
        signal.removeEventListener("abort", this.#wake);
        // One lease for all of which the handlers end in this round.
        afterThisRound(resolve);
      };
      signal.addEventListener("abort", this.#wake);
      if (signal.aborted) this.#wake();
    });
  }

  #start(lease: Lease): void {
    const { transport, options } = this.#source;
    const { marginMs } = options;
    const keeper = this.#keeper;
    const kept = new KeptLease({
      transport,
      keeper,
      lease,
      marginMs,
      hurry: this.#hurrying.signal,
    });
    for (const item of lease.items) {
      this.#running.add(item);
      this.#handled.set(item, kept);
      void this.#handle(item, kept).finally(() => {
        this.#running.delete(item);
        this.#wake();
      });
    }
  }

  async #handle(item: LeasedItem, kept: KeptLease): Promise<void> {
    const thrown = await this.#thrownFor(item, kept);
    // It was given back meanwhile, and may be another's.
    if (!this.#handled.delete(item)) return;
    if (await this.#isEnded(item, kept)) {
      if (thrown !== null) this.#notice({ kind: "failed", item, error: thrown.error });
      return;
    }
    const end: End =
      thrown === null
        ? { as: "completed", what: { kind: "complete" } }
        : await this.#afterFailure(item, kept, thrown.error);
    // Not waited for: the next item may be handled while this one's end is said.
    void this.#finish(item, kept, end);
  }

  /** `null`: its handler has ended in peace. */
  async #thrownFor(item: LeasedItem, kept: KeptLease): Promise<{ error: unknown } | null> {
    try {
      await this.#source.handler(item, kept.handlingOf(item));
      await kept.sent(item);
      return null;
    } catch (error) {
      return { error };
    }
  }

  /** Handlers that did not hear are left to themselves, and what they have goes back. */
  #giveBack(): void {
    for (const [item, kept] of this.#handled) {
      this.#handled.delete(item);
      this.#running.delete(item);
      if (kept.endOf(item) !== null) void this.#isEnded(item, kept).finally(() => this.#wake());
      else void this.#finish(item, kept, { as: "released", what: { kind: "release" } });
    }
  }

  /** Whether its handler has said its end, by a transact. */
  async #isEnded(item: LeasedItem, kept: KeptLease): Promise<boolean> {
    const end = kept.endOf(item);
    if (end === null) return false;
    kept.done(item);
    const isLast = end === "retried" && !hasMoreAttempts(item, kept.lease);
    const outcome = isLast ? await this.#lastEnd(kept) : end;
    this.#counts[outcome] += 1;
    this.#source.transport.tracing?.settled(item, outcome);
    return true;
  }

  async #afterFailure(item: LeasedItem, kept: KeptLease, error: unknown): Promise<End> {
    const { lease } = kept;
    if (isInstance(error, DeadLetter)) {
      const what = { kind: "retry", delayMs: 0, dead: true, reason: reasonOf(error) } as const;
      return { as: "dead", what, notice: { kind: "dead", item, error } };
    }
    // What was interrupted is nobody's fault and goes on elsewhere.
    if (this.#hurrying.signal.aborted) return { as: "released", what: { kind: "release" } };
    const delayMs = this.#delayMs(item, error);
    const what = { kind: "retry", delayMs, dead: false, reason: reasonOf(error) } as const;
    if (hasMoreAttempts(item, lease)) {
      return { as: "retried", what, notice: { kind: "retried", item, error, delayMs } };
    }
    const as = await this.#lastEnd(kept);
    return { as, what, notice: { kind: as, item, error } };
  }

  /** Of an item that failed in its last attempt. */
  async #lastEnd(kept: KeptLease): Promise<"dead" | "removed"> {
    return (await this.#hasDeadQueue(kept)) ? "dead" : "removed";
  }

  /** Asked anew each time, since it may be changed; items that fail in the same moment share a call. */
  #hasDeadQueue({ lapsesAt }: KeptLease): Promise<boolean> {
    const { transport, queue: name } = this.#source;
    const timeoutMs = Math.max(1_000, lapsesAt - steadyNow());
    const options = { signal: this.#givingUp.signal, timeoutMs };
    this.#asking ??= transport
      .call("queueInfo", { name }, options)
      .then(({ reply }) => reply.dead_queue !== "")
      // Who cannot be asked for so long cannot be told either: the item is lost.
      .catch(() => false)
      .finally(() => {
        this.#asking = null;
      });
    return this.#asking;
  }

  /** As the program says, where that is a length of time, and no longer than the contract has them. */
  #delayMs(item: LeasedItem, error: unknown): number {
    const { backoff } = this.#source.options;
    if (backoff !== undefined) {
      let wrong: { readonly reason: string; readonly error?: unknown };
      try {
        const asked: unknown = backoff(item, error);
        if (typeof asked === "number" && !Number.isNaN(asked)) {
          return Math.min(Math.max(0, Math.ceil(asked)), bounds.durationMsMax);
        }
        forget(asked);
        wrong = { reason: `backoff is invalid; expected milliseconds, got ${kindOf(asked)}` };
      } catch (thrown) {
        wrong = { reason: "backoff threw", error: thrown };
      }
      this.#notice({ kind: "fault", item, ...wrong });
    }
    return Math.ceil(this.#backoff(item.attempts));
  }

  #backoff(attempts: number): number {
    const most = pauseMs(attempts, backoffPace, () => 1);
    return most / 2 + (this.#source.transport.random() * most) / 2;
  }

  /** Told only now: until the server has said so, it may still be lost. */
  async #finish(item: LeasedItem, kept: KeptLease, { as, what, notice }: End): Promise<void> {
    const { partition } = kept.lease;
    const lapsesAt = (): number => kept.lapsesAt;
    const reason = await this.#finisher.finish({ id: item.id, partition, lapsesAt, what });
    kept.done(item);
    const outcome = reason === null ? as : "lost";
    this.#counts[outcome] += 1;
    const error = reason === null ? notice?.error : new LeaseLost(reason);
    this.#source.transport.tracing?.settled(item, outcome, error);
    if (reason !== null) {
      const thrown = notice === undefined ? {} : { error: notice.error };
      this.#notice({ kind: "lost", item, reason, ...thrown });
    } else if (notice !== undefined) this.#notice(notice);
    this.#wake();
  }

  /**
   * Handlers may end in peace, then in haste; after that their items are given back, and what could
   * not be said is left to lapse.
   */
  async #drain(): Promise<void> {
    const { drainMs = drainMsDefault } = this.#source.options;
    const hurry = (): void =>
      this.#hurrying.abort(new WorkerStopping("the worker has to stop now"));
    const timers = [
      startTimer(drainMs, hurry),
      startTimer(drainMs + handlersMs, () => this.#giveBack()),
      startTimer(drainMs + lastWordsMs, () => this.#givingUp.abort()),
    ];
    const over = new Promise<void>((resolve) => {
      this.#givingUp.signal.addEventListener("abort", () => resolve());
    });
    await Promise.race([this.#quiet(), over]);
    for (const cancel of timers) cancel();
  }

  /** Every handler has ended and every ending is said. */
  async #quiet(): Promise<void> {
    while (this.#running.size > 0 || this.#finisher.count > 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

function hasMoreAttempts({ attempts }: LeasedItem, { max_attempts }: Lease): boolean {
  return max_attempts === 0 || attempts < max_attempts;
}

/** How an item ends, unless it is lost. */
interface End {
  readonly as: Exclude<keyof WorkerCounts, "lost" | "running">;
  readonly what: Ending["what"];
  readonly notice?: Extract<WorkerNotice, { readonly kind: "retried" | "dead" | "removed" }>;
}

interface Bounds {
  readonly concurrency: number;
  readonly batch: number;
}

const workChecks: Checks<WorkOptions> = {
  concurrency: anything,
  batch: anything,
  backoff: call,
  marginMs: length,
  clientId: text,
  timeoutMs: length,
  leaseTimeout: text,
  signal,
  processSignals: values,
  drainMs: length,
  notice: call,
};

function boundsOf({ concurrency = 10, ...options }: WorkOptions): Bounds {
  const batch = options.batch ?? Math.min(concurrency, bounds.leaseBatchMax);
  for (const [name, value] of Object.entries({ concurrency, batch })) {
    if (Number.isInteger(value) && value >= 1) continue;
    throw new RangeError(`${name} is invalid; expected a whole number from 1, got ${value}`);
  }
  return { concurrency, batch };
}
