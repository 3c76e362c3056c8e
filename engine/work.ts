// A worker within the program: leases items, extends them while they are handled, and says what became of
// each. What a handler, a backoff or a notice does ends neither the worker nor holds an item.

import type { Engine, LeasedItem, Outcome, RetryItem } from "./api.ts";
import { after, type Clock, type Timer } from "./clock.ts";
import { QueueError } from "./errors.ts";
import { limits } from "./limits.ts";
import type { Random } from "./random.ts";

export interface Handling {
  /** Aborted when the item is lost, and when a stop has no more patience. */
  readonly signal: AbortSignal;
  readonly queue: string;
  readonly partition: number;
  /** Of the queue; 0 = no limit. An item with as many `attempts` has its last. */
  readonly maxAttempts: number;
}

/** Returns: completed. Throws: retried later, or sent to the dead queue by a `DeadLetter`. */
export type Handler = (item: LeasedItem, handling: Handling) => unknown;

/** What a handler throws to send its item to the dead queue, whatever attempts remain. */
export class DeadLetter extends Error {
  override readonly name = "DeadLetter";
}

export type WorkNotice =
  /** Its handler threw; it is offered again after `delayMs`, or is dead if that was its last attempt. */
  | {
      readonly kind: "retried";
      readonly item: LeasedItem;
      readonly error: unknown;
      readonly delayMs: number;
    }
  /** Its handler gave it up. */
  | { readonly kind: "dead"; readonly item: LeasedItem; readonly error: unknown }
  /** Its end was refused, for instance because its lease had lapsed. It may be handled again. */
  | { readonly kind: "lost"; readonly item: LeasedItem; readonly reason: string }
  /** A `backoff` threw or returned no length of time; the worker's own is used instead. */
  | { readonly kind: "fault"; readonly item: LeasedItem; readonly error: unknown }
  /** The store is down or full; the worker waits and continues. */
  | { readonly kind: "trouble"; readonly error: QueueError };

export interface WorkOptions {
  /** Items handled at once; default 10. */
  readonly concurrency?: number;
  /** Milliseconds until a failed item is offered again; default from 1 s to 5 minutes, jittered. */
  readonly backoff?: (item: LeasedItem, error: unknown) => number;
  /** How long items are held, and extended by; default as long as the queue says. */
  readonly leaseTimeoutMs?: number;
  /** How long a stop lets handlers work before their signal is aborted; default 25 s. */
  readonly drainMs?: number;
  /** Names the worker among those that wait; default a random name. */
  readonly clientId?: string;
  /** Stops the worker, as `stop()` does. */
  readonly signal?: AbortSignal;
  readonly notice?: (notice: WorkNotice) => void;
}

export interface Worker extends AsyncDisposable {
  /** Leases no more, waits for handlers, and settles their items. Idempotent. */
  stop(): Promise<void>;
  /** Resolves when it has stopped; rejects when it cannot continue, for instance without its queue. */
  readonly stopped: Promise<void>;
}

export interface WorkParts {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly random: Random;
  readonly queue: string;
  readonly handler: Handler;
  readonly options: WorkOptions;
}

const concurrencyDefault = 10;
const leaseRequestMs = 60_000;
const settleRequestMs = 60_000;
const drainMsDefault = 25_000;
/** Time for handlers to end once their signal is aborted. */
const lastMs = 3_000;
const backoffMs = { first: 1_000, most: 5 * 60_000 };
const troubleMs = { first: 50, most: 5_000 };
const extendPauseMsMin = 50;
const jitterGrains = 1_000;

/** An item in the hands of a handler. */
interface Held {
  readonly item: LeasedItem;
  readonly ending: AbortController;
}

/** What was leased together, and is extended together. */
interface Grant {
  readonly queue: string;
  readonly partition: number;
  readonly maxAttempts: number;
  readonly held: Set<Held>;
  deadline: number;
}

export class EngineWorker implements Worker {
  readonly stopped: Promise<void>;
  readonly #parts: WorkParts;
  readonly #concurrency: number;
  readonly #name: string;
  readonly #leaving = new AbortController();
  readonly #grants = new Set<Grant>();
  #running = 0;
  #keys = 0;
  #wake: () => void = () => undefined;

  constructor(parts: WorkParts) {
    const { concurrency = concurrencyDefault, clientId, signal } = parts.options;
    this.#parts = parts;
    this.#concurrency = concurrency;
    this.#name = clientId ?? `worker-${parts.random.below(2 ** 48).toString(36)}`;
    const leave = (): void => this.#leave();
    signal?.addEventListener("abort", leave);
    if (signal?.aborted) leave();
    this.stopped = this.#live().finally(() => signal?.removeEventListener("abort", leave));
  }

  #leave(): void {
    this.#leaving.abort();
    this.#wake();
  }

  async stop(): Promise<void> {
    this.#leave();
    await this.stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #live(): Promise<void> {
    try {
      for (let troubles = 0; !this.#leaving.signal.aborted; ) {
        const room = this.#concurrency - this.#running;
        if (room <= 0) {
          await this.#change();
          continue;
        }
        try {
          await this.#lease(Math.min(room, limits.leaseBatchMax));
          troubles = 0;
        } catch (error) {
          if (!(error instanceof QueueError)) throw error;
          if (error.code === "empty") continue;
          if (!passes(error)) {
            if (error.code === "closing") break;
            throw error;
          }
          troubles += 1;
          this.#tell({ kind: "trouble", error });
          await this.#change(this.#jittered(troubles, troubleMs));
        }
      }
    } finally {
      await this.#drain();
    }
  }

  async #lease(batchSize: number): Promise<void> {
    const { engine, queue, options } = this.#parts;
    const { leaseTimeoutMs = null } = options;
    const { items, ...place } = await engine.lease({
      ...{ queue, clientId: this.#name, batchSize, leaseTimeoutMs },
      requestTimeoutMs: leaseRequestMs,
      signal: this.#leaving.signal,
    });
    const held = items.map((item): Held => ({ item, ending: new AbortController() }));
    const grant: Grant = {
      ...place,
      held: new Set(held),
      deadline: Math.min(...items.map(({ leaseDeadline }) => leaseDeadline)),
    };
    this.#grants.add(grant);
    this.#keep(grant);
    for (const one of held) {
      this.#running += 1;
      void this.#handle(one, grant).finally(() => {
        this.#running -= 1;
        grant.held.delete(one);
        if (grant.held.size === 0) this.#grants.delete(grant);
        this.#wake();
      });
    }
  }

  async #handle(held: Held, grant: Grant): Promise<void> {
    const { handler, engine } = this.#parts;
    const { item, ending } = held;
    const { held: _, deadline: __, ...place } = grant;
    let thrown: { readonly error: unknown } | null = null;
    try {
      await handler(item, { ...place, signal: ending.signal });
    } catch (error) {
      thrown = { error };
    }
    // It is lost, and may be another worker's by now.
    if (!grant.held.has(held)) return;
    const { queue, partition } = grant;
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
    const delayMs = isDead ? 0 : this.#delayMs(item, error);
    const retry: RetryItem = {
      ...{ id: item.id, retryAt: null, retryAfterMs: delayMs, dead: isDead },
      reason: reasonOf(error),
    };
    const isSaid = await this.#settle(held, grant, (key) =>
      engine.retry({ queue, partition, items: [retry], ...key }),
    );
    if (!isSaid) return;
    this.#tell(isDead ? { kind: "dead", item, error } : { kind: "retried", item, error, delayMs });
  }

  /** Whether it was done; what is waited out is repeated under one key for as long as the lease runs. */
  async #settle(
    held: Held,
    grant: Grant,
    call: (key: { readonly requestKey: string }) => Promise<Outcome>,
  ): Promise<boolean> {
    const { clock } = this.#parts;
    this.#keys += 1;
    const key = { requestKey: `${this.#name}/${this.#keys}` };
    for (let troubles = 1; ; troubles += 1) {
      try {
        await call(key);
        return true;
      } catch (error) {
        if (!(error instanceof QueueError)) throw error;
        const isOver = !grant.held.has(held) || grant.deadline <= clock.now();
        if (isOver || !passes(error)) {
          this.#tell({ kind: "lost", item: held.item, reason: error.message });
          return false;
        }
        this.#tell({ kind: "trouble", error });
        const ms = this.#jittered(troubles, troubleMs);
        await new Promise<void>((resolve) => after(clock.machine, ms, resolve));
      }
    }
  }

  /** Extends what is left of it, each time a third of it has passed. */
  #keep(grant: Grant): void {
    const { clock } = this.#parts;
    const leftMs = grant.deadline - clock.now();
    after(clock, Math.max(extendPauseMsMin, Math.floor(leftMs / 3)), () => {
      if (grant.held.size > 0) void this.#extend(grant);
    });
  }

  async #extend(grant: Grant): Promise<void> {
    const { engine, clock, options } = this.#parts;
    const { queue, partition, held } = grant;
    const { leaseTimeoutMs = null } = options;
    const ids = [...held].map(({ item }) => item.id);
    try {
      const { leaseDeadline } = await engine.extend({ queue, partition, ids, leaseTimeoutMs });
      grant.deadline = leaseDeadline;
    } catch (error) {
      if (!(error instanceof QueueError)) throw error;
      const { details = {} } = error;
      for (const one of held) {
        const reason = details[one.item.id];
        if (reason !== undefined) this.#lose(grant, one, reason);
      }
      if (grant.deadline <= clock.now()) {
        for (const one of held) this.#lose(grant, one, "the lease has lapsed");
      }
    }
    if (held.size > 0) this.#keep(grant);
  }

  #lose(grant: Grant, held: Held, reason: string): void {
    grant.held.delete(held);
    this.#tell({ kind: "lost", item: held.item, reason });
    held.ending.abort(new Error(reason));
  }

  /** Resolves when a handler has ended, when the worker is to stop, or after so long. */
  async #change(ms: number = Number.POSITIVE_INFINITY): Promise<void> {
    let timer: Timer | null = null;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (ms !== Number.POSITIVE_INFINITY) timer = after(this.#parts.clock.machine, ms, resolve);
      if (this.#leaving.signal.aborted) resolve();
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
      ? [after(machine, drainMs, hurry), after(machine, drainMs + lastMs, () => this.#abandon())]
      : [];
    while (this.#running > 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    for (const timer of timers) timer.cancel();
  }

  /** Handlers that ignore their signal continue by themselves; their items are another worker's. */
  #abandon(): void {
    const { engine } = this.#parts;
    for (const { held, queue, partition } of this.#grants) {
      const ids = [...held].map(({ item }) => item.id);
      held.clear();
      if (ids.length > 0) engine.release({ queue, partition, ids }).catch(() => undefined);
    }
    this.#running = 0;
    this.#wake();
  }

  #delayMs(item: LeasedItem, error: unknown): number {
    const { backoff } = this.#parts.options;
    const own = this.#jittered(item.attempts, backoffMs);
    if (backoff === undefined) return own;
    try {
      const asked: unknown = backoff(item, error);
      if (typeof asked === "number" && !Number.isNaN(asked)) {
        return Math.min(Math.max(0, Math.ceil(asked)), limits.durationMsMax);
      }
      throw new TypeError(`expected milliseconds, got ${typeof asked}`);
    } catch (fault) {
      this.#tell({ kind: "fault", item, error: fault });
      return own;
    }
  }

  /** From a half to all of a bound that doubles. */
  #jittered(count: number, { first, most }: { first: number; most: number }): number {
    const bound = Math.min(most, first * 2 ** Math.min(count - 1, 30));
    return Math.ceil(
      bound / 2 + (this.#parts.random.below(jitterGrains) * bound) / 2 / jitterGrains,
    );
  }

  #tell(notice: WorkNotice): void {
    const { notice: listen = () => undefined } = this.#parts.options;
    try {
      // One that is asynchronous fails later.
      Promise.resolve(listen(notice)).catch(() => undefined);
    } catch {
      // The worker continues, whatever the program does with its notices.
    }
  }
}

/** Whether asking again later can help. */
function passes({ code, reason }: QueueError): boolean {
  return code !== "invalid" && code !== "refused" && reason !== "shutting_down";
}

function isDeadLetter(error: unknown): boolean {
  try {
    return error instanceof DeadLetter;
  } catch {
    return false;
  }
}

const encoder = new TextEncoder();

/** As many bytes as a reason may have, and no half of a character. A program may throw anything. */
function reasonOf(error: unknown): string {
  try {
    const said: unknown = error instanceof Error ? error.message || error.name : error;
    const text = typeof said === "string" ? said : (JSON.stringify(said) ?? typeof said);
    const whole = text.toWellFormed();
    const { read } = encoder.encodeInto(whole, new Uint8Array(limits.retryReasonBytesMax));
    return whole.slice(0, read);
  } catch {
    return "a value that cannot be shown";
  }
}
