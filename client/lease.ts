// A lease and the methods that finish or extend its items. If the server refuses a call because of
// some items, the call is repeated without them.

import { bounds } from "../openapi/bounds.ts";
import type { Call, CallOptions } from "./call.ts";
import { InvalidRequest, RequestFailed } from "./errors.ts";
import { type LeasedItem, leasedItem } from "./items.ts";
import { lapsesAtOf } from "./time.ts";
import type { LeaseReply } from "./wire.ts";

/** Why items could not be finished, by id: this client no longer holds them. */
export type Refusals = Readonly<Record<string, string>>;

export interface RetryOptions {
  /** When to offer the items again, by the queue's clock. */
  readonly at?: Date;
  /**
   * Milliseconds until the items are offered again, independent of clocks; 0 = at once. Without
   * both, the queue's `retry_backoff` applies, and without that they are offered at once.
   */
  readonly delayMs?: number;
  /** Sends the items to the dead queue, regardless of remaining attempts. */
  readonly dead?: boolean;
  /** Reason, stored with the items: at most 1,024 bytes, such as an error message. */
  readonly reason?: string;
}

export interface ExtendOptions {
  /** Duration from now, such as `30s`; absent = as in the lease request, or each item's, or the queue's. */
  readonly leaseTimeout?: string;
}

export interface Lease<Json = unknown> {
  readonly queue_name: string;
  readonly partition: number;
  /** The queue's limit, for items without an `own_max_attempts`; 0 = no limit. */
  readonly max_attempts: number;
  /** The queue's, such as `1s..5m`: for retries without `at` and `delayMs`; absent = none. */
  readonly retry_backoff?: string;
  readonly items: readonly LeasedItem<Json>[];
  /** When the first of its items lapses, in `performance.now()` time. */
  readonly lapsesAt: number;
  /** Completes the given items, default all unfinished ones. Returns those that had lapsed. */
  complete(items?: readonly LeasedItem[], options?: CallOptions): Promise<Refusals>;
  /** Extends the given items, default all unfinished ones. Returns those that had lapsed. */
  extend(items?: readonly LeasedItem[], how?: ExtendOptions & CallOptions): Promise<Refusals>;
  /** Releases the given items, default all unfinished ones, without counting the attempt. */
  release(items?: readonly LeasedItem[], options?: CallOptions): Promise<Refusals>;
  /** Retries the given items, default all unfinished ones. Returns those that had lapsed. */
  retry(items?: readonly LeasedItem[], how?: RetryOptions & CallOptions): Promise<Refusals>;
}

export interface LeaseSource {
  readonly call: Call;
  readonly reply: LeaseReply;
  readonly receivedAt: number;
  /** The requested duration; absent = each item's, or the queue's. */
  readonly leaseTimeout?: string | undefined;
}

export function openLease({ call, reply, receivedAt, ...asked }: LeaseSource): Lease {
  const { queue_name, partition, max_attempts, retry_backoff, now } = reply;
  const left = new Set<LeasedItem>();
  const origin = { queue_name, partition, left };
  const items = reply.items.map((item) => leasedItem(item, origin));
  for (const item of items) left.add(item);

  async function finish(
    some: readonly LeasedItem[],
    send: (rest: readonly LeasedItem[]) => Promise<unknown>,
  ): Promise<Refusals> {
    const refusals = await withoutRefused(some, send);
    for (const item of some) left.delete(item);
    return refusals;
  }

  return {
    queue_name,
    partition,
    max_attempts,
    ...(retry_backoff && { retry_backoff }),
    items,
    lapsesAt: Math.min(
      ...items.map(({ lease_deadline }) => lapsesAtOf({ lease_deadline, now }, receivedAt)),
    ),
    complete: (some = [...left], options) =>
      finish(some, (rest) =>
        call("complete", { queue_name, partition, ids: rest.map(({ id }) => id) }, options),
      ),
    extend: (some = [...left], { leaseTimeout = asked.leaseTimeout, ...options } = {}) =>
      withoutRefused(some, (rest) => {
        const ids = rest.map(({ id }) => id);
        const lease_timeout = leaseTimeout ?? null;
        return call("extend", { queue_name, partition, ids, lease_timeout }, options);
      }),
    release: (some = [...left], options) =>
      finish(some, (rest) => {
        const ids = rest.map(({ id }) => id);
        return call("release", { queue_name, partition, ids }, options);
      }),
    retry: (some = [...left], { at, delayMs, dead, reason, ...options } = {}) =>
      finish(some, (rest) => {
        const how = retryFields({ at, delayMs, dead, reason });
        const given = rest.map(({ id }) => ({ id, ...how }));
        return call("retry", { queue_name, partition, items: given }, options);
      }),
  };
}

type Given = { readonly [Name in keyof RetryOptions]: RetryOptions[Name] | undefined };

/** Converts to the contract's fields. Throws `InvalidRequest` for invalid values. */
export function retryFields({ at, delayMs, dead = false, reason }: Given) {
  const refuse = (message: string): never => {
    throw new InvalidRequest({ operation: "retry", status: null, message });
  };
  if (at !== undefined && Number.isNaN(at.getTime())) {
    refuse("at is invalid; expected an instant, got Invalid Date");
  }
  if (delayMs !== undefined && !(delayMs >= 0 && delayMs <= bounds.durationMsMax)) {
    refuse(`delayMs is invalid; expected from 0 to ${bounds.durationMsMax}, got ${delayMs}`);
  }
  return {
    retry_at: at?.toISOString() ?? null,
    // Without a delay, the queue's `retry_backoff` would apply.
    ...(delayMs !== undefined &&
      (delayMs > 0 || at === undefined) && { retry_after: `${Math.ceil(delayMs)}ms` }),
    dead,
    ...(reason && { reason }),
  };
}

/** Sends the entries, and repeats without those that a refusal names, until it is accepted. */
export async function withoutRefused<T extends { readonly id: string }>(
  entries: readonly T[],
  send: (rest: readonly T[]) => Promise<unknown>,
): Promise<Refusals> {
  const refusals: Record<string, string> = {};
  let rest = entries;
  while (rest.length > 0) {
    try {
      await send(rest);
      break;
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      const { details } = error;
      const accepted = rest.filter(({ id }) => !Object.hasOwn(details, id));
      // The refusal is about something else, such as the queue.
      if (accepted.length === rest.length) throw error;
      // An earlier attempt without an answer may have finished the item.
      const echo = error.followsUnknown ? "; an attempt without an answer may have done it" : "";
      for (const [id, reason] of Object.entries(details)) refusals[id] = reason + echo;
      rest = accepted;
    }
  }
  return refusals;
}
