// A worker within the program: leases items, extends them while they are handled, and settles them.
// Errors of a handler, a backoff or a notice neither stop the worker nor block an item.

import type { Engine, LeasedItem, Outcome, RetryItem } from "../model/api.ts";
import { after, type Clock, type Timer } from "../model/clock.ts";
import { QueueError } from "../model/errors.ts";
import { limits } from "../model/limits.ts";
import { ownSettings } from "../model/provenance.ts";
import type { Random } from "../model/random.ts";
import { reasonOf, type WorkNotice } from "./work-notice.ts";

export interface Handling {
  /** Aborted when the item is lost, and when a stop has waited for `drainMs`. */
  readonly signal: AbortSignal;
  readonly queue: string;
  readonly partition: number;
  /** The item's own limit, or the queue's; 0 = none. In the last attempt it equals `attempts`. */
  readonly maxAttempts: number;
}

/** Returns: completed. Throws: retried later; a `DeadLetter` sends the item to the dead queue. */
export type Handler = (item: LeasedItem, handling: Handling) => unknown;

/** Thrown by a handler to send its item to the dead queue, whatever attempts remain. */
export class DeadLetter extends Error {
  override readonly name = "DeadLetter";
}

export interface WorkOptions {
  /** Items handled at once; default 10. */
  readonly concurrency?: number;
  /**
   * Milliseconds until a failed item is offered again; default the queue's `retryBackoff`, and if it
   * has none, from 1 s to 5 min, jittered.
   */
  readonly backoff?: (item: LeasedItem, error: unknown) => number;
  /** How long items are leased and extended for; default: the item's timeout, or the queue's. */
  readonly leaseTimeoutMs?: number;
  /** Leases no items of a lower priority; default 0. */
  readonly priorityMin?: number;
  /** How long handlers may run after a stop before their signal is aborted; default 25 s. */
  readonly drainMs?: number;
  /** Identifies the worker among waiting clients; default: a random name. */
  readonly clientId?: string;
  /** Stops the worker, as `stop()` does. */
  readonly signal?: AbortSignal;
  /** Default: prints a line, with the stack of the handler's error. */
  readonly notice?: (notice: WorkNotice) => void;
}

export interface Worker extends AsyncDisposable {
  /** Leases no more, waits for handlers, and settles their items. Idempotent. */
  stop(): Promise<void>;
  /** Resolves when it has stopped; rejects when it cannot continue, such as without its queue. */
  readonly stopped: Promise<void>;
}

export interface WorkParts {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly random: Random;
  readonly queue: string;
  readonly handler: Handler;
  readonly options: WorkOptions & Required<Pick<WorkOptions, "notice">>;
}

const concurrencyDefault = 10;
const leaseRequestMs = 60_000;
const settleRequestMs = 60_000;
const drainMsDefault = 25_000;
/** Time for handlers to end once their signal is aborted. */
const abortGraceMs = 3_000;
const backoffMs = { first: 1_000, most: 5 * 60_000 };
const failureMs = { first: 50, most: 5_000 };
const extendPauseMsMin = 50;
const jitterSteps = 1_000;

interface HandledItem {
  readonly item: LeasedItem;
  readonly ending: AbortController;
  /** Its handler has ended: it is no longer extended, and its own call settles it. */
  isSettling: boolean;
}

/** Items that were leased together and are extended together. */
interface HandledLease {
  readonly queue: string;
  readonly partition: number;
  readonly maxAttempts: number;
  readonly retryBackoff?: string;
  readonly held: Set<HandledItem>;
  deadline: number;
  /** Fires when the items have to be extended. */
  timer: Timer | null;
}

export class EngineWorker implements Worker {
  readonly stopped: Promise<void>;
  readonly #parts: WorkParts;
  readonly #concurrency: number;
  readonly #name: string;
  readonly #stopping = new AbortController();
  readonly #grants = new Set<HandledLease>();
  #running = 0;
  #keys = 0;
  #wake: () => void = () => undefined;

  constructor(parts: WorkParts) {
    const { concurrency = concurrencyDefault, clientId, signal } = parts.options;
    this.#parts = parts;
    this.#concurrency = concurrency;
    this.#name = clientId ?? `worker-${parts.random.below(2 ** 48).toString(36)}`;
    const beginStop = (): void => this.#beginStop();
    signal?.addEventListener("abort", beginStop);
    if (signal?.aborted) beginStop();
    this.stopped = this.#run().finally(() => signal?.removeEventListener("abort", beginStop));
  }

  #beginStop(): void {
    this.#stopping.abort();
    this.#wake();
  }

  async stop(): Promise<void> {
    this.#beginStop();
    await this.stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #run(): Promise<void> {
    try {
      for (let failures = 0; !this.#stopping.signal.aborted; ) {
        const room = this.#concurrency - this.#running;
        if (room <= 0) {
          await this.#waitForChange();
          continue;
        }
        try {
          await this.#lease(Math.min(room, limits.leaseBatchMax));
          failures = 0;
        } catch (error) {
          if (!(error instanceof QueueError)) throw error;
          if (error.code === "empty") continue;
          if (!isTemporary(error)) {
            if (error.code === "closing") break;
            throw error;
          }
          failures += 1;
          this.#notify({ kind: "trouble", error });
          await this.#waitForChange(this.#jittered(failures, failureMs));
        }
      }
    } catch (error) {
      this.#notify({ kind: "ended", error });
      throw error;
    } finally {
      await this.#drain();
    }
  }

  async #lease(batchSize: number): Promise<void> {
    const { engine, queue, options } = this.#parts;
    const { leaseTimeoutMs = null, priorityMin = 0 } = options;
    const { items, ...place } = await engine.lease({
      ...{ queue, clientId: this.#name, batchSize, leaseTimeoutMs, priorityMin },
      requestTimeoutMs: leaseRequestMs,
      signal: this.#stopping.signal,
    });
    const held = items.map(
      (item): HandledItem => ({
        item,
        ending: new AbortController(),
        isSettling: false,
      }),
    );
    const grant: HandledLease = {
      ...place,
      held: new Set(held),
      deadline: Math.min(...items.map(({ leaseDeadline }) => leaseDeadline)),
      timer: null,
    };
    this.#grants.add(grant);
    this.#scheduleExtend(grant);
    for (const one of held) {
      this.#running += 1;
      void this.#handle(one, grant).finally(() => {
        this.#running -= 1;
        this.#drop(grant, one);
        this.#wake();
      });
    }
  }

  async #handle(held: HandledItem, grant: HandledLease): Promise<void> {
    const { handler, engine } = this.#parts;
    const { item, ending } = held;
    const { queue, partition } = grant;
    const maxAttempts = ownSettings(item.past).maxAttempts || grant.maxAttempts;
    let thrown: { readonly error: unknown } | null = null;
    try {
      await handler(item, { queue, partition, maxAttempts, signal: ending.signal });
    } catch (error) {
      thrown = { error };
    }
    // The item is lost, and another worker may have it by now.
    if (!grant.held.has(held)) return;
    held.isSettling = true;
    if (thrown === null) {
      const ids = [item.id];
      const complete = { queue, partition, ids, requestTimeoutMs: settleRequestMs };
      await this.#settle(held, grant, (key) => engine.complete({ ...complete, ...key }));
      return;
    }
    const { error } = thrown;
    const isDead = isDeadLetter(error);
    // An interrupted handler has not failed.
    const isReleased = ending.signal.aborted && !isDead;
    if (isReleased) {
      const release = { queue, partition, ids: [item.id] };
      await this.#settle(held, grant, (key) => engine.release({ ...release, ...key }));
      return;
    }
    const delayMs = isDead ? null : this.#delayMs(item, grant, error);
    const retry: RetryItem = {
      ...{ id: item.id, retryAt: null, retryAfterMs: delayMs, dead: isDead },
      reason: reasonOf(error),
    };
    const isSettled = await this.#settle(held, grant, (key) =>
      engine.retry({ queue, partition, items: [retry], ...key }),
    );
    if (!isSettled) return;
    this.#notify(
      isDead
        ? { kind: "dead", item, error }
        : { kind: "retried", item, error, ...(delayMs !== null && { delayMs }) },
    );
  }

  /** Whether it succeeded; temporary failures are retried under one key while the lease lasts. */
  async #settle(
    held: HandledItem,
    grant: HandledLease,
    call: (key: { readonly requestKey: string }) => Promise<Outcome>,
  ): Promise<boolean> {
    const { clock } = this.#parts;
    this.#keys += 1;
    const key = { requestKey: `${this.#name}/${this.#keys}` };
    for (let failures = 1; ; failures += 1) {
      try {
        await call(key);
        return true;
      } catch (error) {
        if (!(error instanceof QueueError)) throw error;
        const isOver = !grant.held.has(held) || grant.deadline <= clock.now();
        if (isOver || !isTemporary(error)) {
          this.#notify({ kind: "lost", item: held.item, reason: error.message });
          return false;
        }
        this.#notify({ kind: "trouble", error });
        const ms = this.#jittered(failures, failureMs);
        await new Promise<void>((resolve) => after(clock.machine, ms, resolve));
      }
    }
  }

  /** Extends the leases each time a third of the remaining time has passed. */
  #scheduleExtend(grant: HandledLease): void {
    const { clock } = this.#parts;
    const leftMs = grant.deadline - clock.now();
    const pauseMs = Math.max(extendPauseMsMin, Math.floor(leftMs / 3));
    grant.timer = after(clock, pauseMs, () => void this.#extend(grant));
  }

  async #extend(grant: HandledLease): Promise<void> {
    const { engine, clock, options } = this.#parts;
    const { queue, partition } = grant;
    const { leaseTimeoutMs = null } = options;
    let handled = handledOf(grant);
    while (handled.length > 0) {
      const ids = handled.map(({ item }) => item.id);
      try {
        const { leaseDeadline } = await engine.extend({ queue, partition, ids, leaseTimeoutMs });
        grant.deadline = leaseDeadline;
        break;
      } catch (error) {
        if (!(error instanceof QueueError)) throw error;
        const { details = {} } = error;
        for (const one of handledOf(grant)) {
          const reason = details[one.item.id];
          if (reason !== undefined) this.#lose(grant, one, reason);
        }
        // The error has another cause, such as the store.
        if (!ids.some((id) => Object.hasOwn(details, id))) break;
        handled = handledOf(grant);
      }
    }
    if (grant.deadline <= clock.now()) {
      for (const one of handledOf(grant)) this.#lose(grant, one, "the lease has lapsed");
    }
    if (handledOf(grant).length > 0) this.#scheduleExtend(grant);
  }

  /** Removes items, and the lease without any: its timer would keep the process alive. */
  #drop(grant: HandledLease, ...gone: readonly HandledItem[]): void {
    for (const one of gone) grant.held.delete(one);
    if (grant.held.size > 0) return;
    grant.timer?.cancel();
    this.#grants.delete(grant);
  }

  #lose(grant: HandledLease, held: HandledItem, reason: string): void {
    this.#drop(grant, held);
    this.#notify({ kind: "lost", item: held.item, reason });
    held.ending.abort(new Error(reason));
  }

  /** Resolves when a handler has ended, when the worker is stopping, or after `ms`. */
  async #waitForChange(ms: number = Number.POSITIVE_INFINITY): Promise<void> {
    let timer: Timer | null = null;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (ms !== Number.POSITIVE_INFINITY) timer = after(this.#parts.clock.machine, ms, resolve);
      if (this.#stopping.signal.aborted) resolve();
    });
    (timer as Timer | null)?.cancel();
  }

  /** Handlers may end by themselves, then by their signal; after that their items are released. */
  async #drain(): Promise<void> {
    const { drainMs = drainMsDefault } = this.#parts.options;
    const { machine } = this.#parts.clock;
    const hurry = (): void => {
      for (const { held } of this.#grants) {
        for (const { ending } of held) ending.abort(new Error("the worker has to stop now"));
      }
    };
    const isBounded = drainMs !== Number.POSITIVE_INFINITY;
    const timers = isBounded
      ? [
          after(machine, drainMs, hurry),
          after(machine, drainMs + abortGraceMs, () => this.#abandon()),
        ]
      : [];
    while (this.#running > 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    for (const timer of timers) timer.cancel();
  }

  /** Handlers that ignore their signal keep running, but their items go to other workers. */
  #abandon(): void {
    const { engine } = this.#parts;
    for (const grant of this.#grants) {
      const { held, queue, partition } = grant;
      const ids = handledOf(grant).map(({ item }) => item.id);
      this.#drop(grant, ...held);
      if (ids.length > 0) engine.release({ queue, partition, ids }).catch(() => undefined);
    }
    this.#running = 0;
    this.#wake();
  }

  /** `null`: the queue's backoff applies. */
  #delayMs(item: LeasedItem, { retryBackoff }: HandledLease, error: unknown): number | null {
    const { backoff } = this.#parts.options;
    const own = retryBackoff === undefined ? this.#jittered(item.attempts, backoffMs) : null;
    if (backoff === undefined) return own;
    try {
      const chosen: unknown = backoff(item, error);
      if (typeof chosen === "number" && !Number.isNaN(chosen)) {
        return Math.min(Math.max(0, Math.ceil(chosen)), limits.durationMsMax);
      }
      ignoreRejection(chosen);
      const got = chosen instanceof Promise ? "a promise" : typeof chosen;
      throw new TypeError(`backoff is invalid; expected milliseconds, got ${got}`);
    } catch (fault) {
      this.#notify({ kind: "fault", item, error: fault });
      return own;
    }
  }

  /** Random, from half of a bound that doubles to all of it. */
  #jittered(count: number, { first, most }: { first: number; most: number }): number {
    const bound = Math.min(most, first * 2 ** Math.min(count - 1, 30));
    return Math.ceil(bound / 2 + (this.#parts.random.below(jitterSteps) * bound) / 2 / jitterSteps);
  }

  #notify(notice: WorkNotice): void {
    const { notice: listen } = this.#parts.options;
    try {
      // An asynchronous listener may reject later.
      ignoreRejection(listen(notice));
    } catch {
      // A listener that throws does not stop the worker.
    }
  }
}

/** Items whose handlers are running. */
function handledOf({ held }: HandledLease): readonly HandledItem[] {
  return [...held].filter(({ isSettling }) => !isSettling);
}

/** Safe for any value: a `then` that throws rejects only the promise made here. */
function ignoreRejection(value: unknown): void {
  new Promise((resolve) => resolve(value)).catch(() => undefined);
}

function isTemporary({ code, reason }: QueueError): boolean {
  return code !== "invalid" && code !== "refused" && reason !== "shutting_down";
}

function isDeadLetter(error: unknown): boolean {
  try {
    return error instanceof DeadLetter;
  } catch {
    return false;
  }
}
