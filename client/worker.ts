// Leases items as handlers become free, runs the handler for each, and reports its outcome. An item
// is leased only when its handler can start at once, so no lease runs while its item is buffered.

import { bounds } from "../openapi/bounds.ts";
import { DeadLetter, type HoldfastError, LeaseLost, WorkerStopping } from "./errors.ts";
import { forget, isInstance, kindOf, retryReason } from "./format-error.ts";
import { drainBefore } from "./graceful-shutdown.ts";
import type { Handling } from "./handling.ts";
import { type LeasedItem, maxAttemptsOf } from "./items.ts";
import type { Lease } from "./lease.ts";
import { type LeasePoller, openLeasePoller } from "./lease-poller.ts";
import { LeaseRenewer } from "./lease-renewer.ts";
import { LeaseSession } from "./lease-session.ts";
import { guarded, printedOf, type WorkerNotice } from "./notice.ts";
import {
  anything,
  type Checks,
  call,
  checkOptions,
  length,
  priority,
  signal,
  text,
  values,
} from "./options.ts";
import { afterThisRound, pauseMs } from "./repeat.ts";
import { SettleBatcher, type Settlement } from "./settle-batcher.ts";
import { startTimer, steadyNow } from "./time.ts";
import type { Transport } from "./transport.ts";

/**
 * The item is completed if it returns, and retried if it throws. A `DeadLetter` sends the item to
 * the dead queue.
 */
export type Handler<Json = unknown> = (item: LeasedItem<Json>, handling: Handling) => unknown;

export interface WorkOptions {
  /** Maximum number of items handled at once; default 10. */
  readonly concurrency?: number;
  /** Maximum number of items in one lease; default and at most `concurrency`. */
  readonly batch?: number;
  /**
   * Returns the delay of a retry in milliseconds; default the queue's `retry_backoff`, and if it has
   * none, from 1 s to 5 minutes, jittered.
   */
  readonly backoff?: (item: LeasedItem, error: unknown) => number;
  /**
   * How long before the lease lapses a handler's signal is aborted; default a tenth of the lease,
   * at most 5 s.
   */
  readonly marginMs?: number;
  /** Name under which the worker waits at the server, unique per queue; default a random name. */
  readonly clientId?: string;
  /** How long one lease request waits at the server for items; default 1 minute. */
  readonly timeoutMs?: number;
  /** Duration of a lease and of each extension, such as `30s`; default each item's, or the queue's. */
  readonly leaseTimeout?: string;
  /** Leases no items of a lower priority; default 0. */
  readonly priorityMin?: number;
  /** Stops the worker like `stop()`. */
  readonly signal?: AbortSignal;
  /** Process signals that stop the worker before the process exits; default SIGTERM and SIGINT. */
  readonly processSignals?: readonly string[];
  /** How long a stop waits for handlers before it aborts their signals; default 25 s. */
  readonly drainMs?: number;
  /** Receives notices; default prints a line on the console. */
  readonly notice?: (notice: WorkerNotice) => void;
}

export interface WorkerCounts {
  readonly completed: number;
  readonly retried: number;
  readonly dead: number;
  /** Items that failed in their last attempt, in a queue without a dead queue. */
  readonly removed: number;
  /** Items released at a stop, without counting the attempt. */
  readonly released: number;
  readonly lost: number;
  readonly running: number;
}

export interface Worker {
  /** Stops leasing, waits for handlers and reports their items' outcomes. Idempotent. */
  stop(): Promise<void>;
  /** Resolves once stopped; rejects if it cannot continue, such as when its queue is deleted. */
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
/** After the handlers' signals are aborted: time to end, and to report their items. */
const graceMs = 5_000;
/** The handlers' part of it. Then their items are released, which takes a call. */
const handlersMs = 3_000;
/** With so many unreported outcomes, as many as one call takes, no more items are leased. */
const settlementsMax = 1_000;

export function startWorker(source: WorkerSource): Worker {
  const { handler, transport, options } = source;
  checkOptions(options, workChecks);
  if (typeof handler !== "function") {
    throw new TypeError(`handler is invalid; expected a function, got ${kindOf(handler)}`);
  }
  const { tracing } = transport;
  if (tracing === undefined) return new QueueWorker(source);
  // The spans of items must not be children of the span that started the worker.
  return tracing.apart(() => new QueueWorker({ ...source, handler: tracing.handling(handler) }));
}

class QueueWorker implements Worker {
  readonly stopped: Promise<void>;
  readonly #source: WorkerSource;
  readonly #bounds: WorkerBounds;
  readonly #poll: LeasePoller;
  readonly #batcher: SettleBatcher;
  readonly #renewer: LeaseRenewer;
  readonly #leaving = new AbortController();
  readonly #hurrying = new AbortController();
  readonly #givingUp = new AbortController();
  /** Items without a decided outcome. */
  readonly #running = new Set<LeasedItem>();
  /** The items among them whose handler is running. */
  readonly #handled = new Map<LeasedItem, LeaseSession>();
  readonly #counts = { completed: 0, retried: 0, dead: 0, removed: 0, released: 0, lost: 0 };
  readonly #notice: (notice: WorkerNotice) => void;
  #wake: () => void = () => undefined;
  #deadQueueCheck: Promise<boolean> | null = null;

  constructor(source: WorkerSource) {
    const { transport, queue, options } = source;
    const {
      clientId,
      timeoutMs,
      leaseTimeout,
      priorityMin,
      signal,
      notice = printedOf(queue),
    } = options;
    this.#source = source;
    this.#bounds = boundsOf(options);
    this.#notice = guarded(notice);
    const trouble = (error: HoldfastError): void => this.#notice({ kind: "trouble", error });
    this.#poll = openLeasePoller({
      transport,
      queue,
      leave: this.#leaving.signal,
      trouble,
      renamed: (name) => {
        const reason = `another consumer already waits as '${clientId}'; continuing as '${name}'`;
        this.#notice({ kind: "renamed", clientId: name, reason });
      },
      ...(clientId === undefined ? {} : { clientId }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(leaseTimeout === undefined ? {} : { leaseTimeout }),
      ...(priorityMin === undefined ? {} : { priorityMin }),
    });
    this.#renewer = new LeaseRenewer(transport, leaseTimeout);
    this.#batcher = new SettleBatcher({ transport, queue, trouble, giveUp: this.#givingUp.signal });
    const leave = (): void => this.#leaving.abort();
    signal?.addEventListener("abort", leave);
    if (signal?.aborted) leave();
    const removeListeners = drainBefore(options.processSignals ?? ["SIGTERM", "SIGINT"], () =>
      this.stop().catch(() => undefined),
    );
    this.stopped = this.#run().finally(() => {
      signal?.removeEventListener("abort", leave);
      removeListeners();
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

  async #run(): Promise<void> {
    const { concurrency, batch } = this.#bounds;
    try {
      while (!this.#leaving.signal.aborted) {
        const room = concurrency - this.#running.size;
        if (room <= 0 || this.#batcher.count >= settlementsMax) {
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

  /** Resolves when a handler has ended or the worker has to stop. */
  #change(): Promise<void> {
    const { signal } = this.#leaving;
    return new Promise((resolve) => {
      this.#wake = () => {
        signal.removeEventListener("abort", this.#wake);
        // All handlers that end in this round of events share one lease request.
        afterThisRound(resolve);
      };
      signal.addEventListener("abort", this.#wake);
      if (signal.aborted) this.#wake();
    });
  }

  #start(lease: Lease): void {
    const { transport, options } = this.#source;
    const { marginMs } = options;
    const renewer = this.#renewer;
    const session = new LeaseSession({
      transport,
      renewer,
      lease,
      marginMs,
      hurry: this.#hurrying.signal,
    });
    for (const item of lease.items) {
      this.#running.add(item);
      this.#handled.set(item, session);
      void this.#handle(item, session).finally(() => {
        this.#running.delete(item);
        this.#wake();
      });
    }
  }

  async #handle(item: LeasedItem, session: LeaseSession): Promise<void> {
    const thrown = await this.#thrownFor(item, session);
    // It was released meanwhile, and another worker may have it.
    if (!this.#handled.delete(item)) return;
    if (await this.#isEnded(item, session)) {
      if (thrown !== null) this.#notice({ kind: "failed", item, error: thrown.error });
      return;
    }
    const end: ItemOutcome =
      thrown === null
        ? { as: "completed", what: { kind: "complete" } }
        : await this.#afterFailure(item, session, thrown.error);
    // Not awaited: the next item may be handled while this outcome is reported.
    void this.#finish(item, session, end);
  }

  /** What the handler threw; `null` = nothing. */
  async #thrownFor(item: LeasedItem, session: LeaseSession): Promise<{ error: unknown } | null> {
    try {
      await this.#source.handler(item, session.handlingOf(item));
      await session.sent(item);
      return null;
    } catch (error) {
      return { error };
    }
  }

  /** Releases the items of handlers that ignored their signal. The handlers are abandoned. */
  #releaseAbandoned(): void {
    for (const [item, session] of this.#handled) {
      this.#handled.delete(item);
      this.#running.delete(item);
      if (session.endOf(item) !== null)
        void this.#isEnded(item, session).finally(() => this.#wake());
      else void this.#finish(item, session, { as: "released", what: { kind: "release" } });
    }
  }

  /** Whether the handler has already finished the item by a transact. */
  async #isEnded(item: LeasedItem, session: LeaseSession): Promise<boolean> {
    const end = session.endOf(item);
    if (end === null) return false;
    session.done(item);
    const isLast = end === "retried" && !hasMoreAttempts(item, session.lease);
    const outcome = isLast ? await this.#lastEnd(session) : end;
    this.#counts[outcome] += 1;
    this.#source.transport.tracing?.settled(item, outcome);
    return true;
  }

  async #afterFailure(
    item: LeasedItem,
    session: LeaseSession,
    error: unknown,
  ): Promise<ItemOutcome> {
    const { lease } = session;
    if (isInstance(error, DeadLetter)) {
      const what = {
        kind: "retry",
        delayMs: undefined,
        dead: true,
        reason: retryReason(error),
      } as const;
      return { as: "dead", what, notice: { kind: "dead", item, error } };
    }
    // An interrupted item has not failed, so another worker may continue with it.
    if (this.#hurrying.signal.aborted) return { as: "released", what: { kind: "release" } };
    const delayMs = this.#delayMs(item, lease, error);
    const what = { kind: "retry", delayMs, dead: false, reason: retryReason(error) } as const;
    if (hasMoreAttempts(item, lease)) {
      const delay = delayMs === undefined ? {} : { delayMs };
      return { as: "retried", what, notice: { kind: "retried", item, error, ...delay } };
    }
    const as = await this.#lastEnd(session);
    return { as, what, notice: { kind: as, item, error } };
  }

  /** The outcome of an item that failed in its last attempt. */
  async #lastEnd(session: LeaseSession): Promise<"dead" | "removed"> {
    return (await this.#hasDeadQueue(session)) ? "dead" : "removed";
  }

  /** Queried each time, because it may change; items that fail at the same moment share a call. */
  #hasDeadQueue({ lapsesAt }: LeaseSession): Promise<boolean> {
    const { transport, queue: name } = this.#source;
    const timeoutMs = Math.max(1_000, lapsesAt - steadyNow());
    const options = { signal: this.#givingUp.signal, timeoutMs };
    this.#deadQueueCheck ??= transport
      .call("queueInfo", { name }, options)
      .then(({ reply }) => reply.dead_queue !== "")
      // If the server is unreachable for so long, the outcome cannot be reported either: the item
      // is lost.
      .catch(() => false)
      .finally(() => {
        this.#deadQueueCheck = null;
      });
    return this.#deadQueueCheck;
  }

  /**
   * The program's `backoff`, if it returns a valid delay, up to the contract's maximum; `undefined` =
   * the server applies the queue's.
   */
  #delayMs(item: LeasedItem, lease: Lease, error: unknown): number | undefined {
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
    return lease.retry_backoff === undefined ? Math.ceil(this.#backoff(item.attempts)) : undefined;
  }

  #backoff(attempts: number): number {
    const most = pauseMs(attempts, backoffPace, () => 1);
    return most / 2 + (this.#source.transport.random() * most) / 2;
  }

  /** Counts and notifies only after the server's answer, because the item may still be lost. */
  async #finish(
    item: LeasedItem,
    session: LeaseSession,
    { as, what, notice }: ItemOutcome,
  ): Promise<void> {
    const { partition } = session.lease;
    const lapsesAt = (): number => session.lapsesAt;
    const reason = await this.#batcher.settle({ id: item.id, partition, lapsesAt, what });
    session.done(item);
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
   * Waits for the handlers, then aborts their signals, then releases their items. Outcomes that
   * could not be reported by the end are left to lapse.
   */
  async #drain(): Promise<void> {
    const { drainMs = drainMsDefault } = this.#source.options;
    const hurry = (): void =>
      this.#hurrying.abort(new WorkerStopping("the worker has to stop now"));
    const timers = [
      startTimer(drainMs, hurry),
      startTimer(drainMs + handlersMs, () => this.#releaseAbandoned()),
      startTimer(drainMs + graceMs, () => this.#givingUp.abort()),
    ];
    const over = new Promise<void>((resolve) => {
      this.#givingUp.signal.addEventListener("abort", () => resolve());
    });
    await Promise.race([this.#drained(), over]);
    for (const cancel of timers) cancel();
  }

  /** Resolves when every handler has ended and every outcome is reported. */
  async #drained(): Promise<void> {
    while (this.#running.size > 0 || this.#batcher.count > 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

function hasMoreAttempts(item: LeasedItem, lease: Lease): boolean {
  const max = maxAttemptsOf(item, lease);
  return max === 0 || item.attempts < max;
}

/** The outcome of an item, unless it is lost. */
interface ItemOutcome {
  readonly as: Exclude<keyof WorkerCounts, "lost" | "running">;
  readonly what: Settlement["what"];
  readonly notice?: Extract<WorkerNotice, { readonly kind: "retried" | "dead" | "removed" }>;
}

interface WorkerBounds {
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
  priorityMin: priority,
  signal,
  processSignals: values,
  drainMs: length,
  notice: call,
};

function boundsOf({ concurrency = 10, ...options }: WorkOptions): WorkerBounds {
  const batch = options.batch ?? Math.min(concurrency, bounds.leaseBatchMax);
  for (const [name, value] of Object.entries({ concurrency, batch })) {
    if (Number.isInteger(value) && value >= 1) continue;
    throw new RangeError(`${name} is invalid; expected a whole number from 1, got ${value}`);
  }
  return { concurrency, batch };
}
