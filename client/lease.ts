// Leased items and what can be said of them. A refusal that names items is worked around:
// they are taken out, and the rest is said again.

import { RequestFailed } from "./errors.ts";
import { type LeasedItem, leasedItem } from "./items.ts";
import type { CallOptions, Transport } from "./transport.ts";
import type { LeaseReply } from "./wire.ts";

/** Why items could not be finished, by their ids: somebody else has them, or nobody. */
export type Refusals = Readonly<Record<string, string>>;

export interface GiveBack {
  /** When to offer them again; absent = at once. */
  readonly at?: Date;
  /** To the dead queue, whatever attempts remain. */
  readonly dead?: boolean;
  /** Why, for whoever looks at the items: up to 1,024 bytes. */
  readonly reason?: string;
}

export interface Extension {
  /** How long from now, as a duration; absent = as long as the lease asked for, or the queue says. */
  readonly leaseTimeout?: string;
}

export interface Lease {
  readonly queue_name: string;
  readonly partition: number;
  /** Of the queue; 0 = no limit. An item with as many attempts has its last. */
  readonly max_attempts: number;
  readonly items: readonly LeasedItem[];
  /** By this machine's clock, the instant at which the first of its items lapses. */
  readonly lapsesAt: number;
  /** How far the server's clock is ahead of this machine's; 0 unless they clearly differ. */
  readonly clockAheadMs: number;
  /** Completes some of its items, or all that are left; tells those that lapsed before. */
  complete(items?: readonly LeasedItem[], options?: CallOptions): Promise<Refusals>;
  /** Holds some of its items for longer, or all that are left; tells those that lapsed before. */
  extend(items?: readonly LeasedItem[], how?: Extension & CallOptions): Promise<Refusals>;
  /** Gives some of its items back as if they had not been leased, or all that are left. */
  release(items?: readonly LeasedItem[], options?: CallOptions): Promise<Refusals>;
  /** Gives some of its items back, or all that are left; tells those that lapsed before. */
  retry(items?: readonly LeasedItem[], how?: GiveBack & CallOptions): Promise<Refusals>;
}

export interface LeaseSource {
  readonly transport: Transport;
  readonly reply: LeaseReply;
  readonly clockAheadMs: number;
  /** What was asked for; absent = as long as the queue says. */
  readonly leaseTimeout?: string | undefined;
}

export function openLease({ transport, reply, clockAheadMs, ...asked }: LeaseSource): Lease {
  const { queue_name, partition, max_attempts } = reply;
  const left = new Set<LeasedItem>();
  const origin = { queue_name, partition, clockAheadMs, left };
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
    items,
    clockAheadMs,
    lapsesAt: Math.min(...items.map((item) => Date.parse(item.lease_deadline))) - clockAheadMs,
    complete: (some = [...left], options) =>
      finish(some, (rest) =>
        transport.call(
          "complete",
          { queue_name, partition, ids: rest.map(({ id }) => id) },
          options,
        ),
      ),
    extend: (some = [...left], { leaseTimeout = asked.leaseTimeout, ...options } = {}) =>
      withoutRefused(some, (rest) => {
        const ids = rest.map(({ id }) => id);
        const lease_timeout = leaseTimeout ?? null;
        return transport.call("extend", { queue_name, partition, ids, lease_timeout }, options);
      }),
    release: (some = [...left], options) =>
      finish(some, (rest) => {
        const ids = rest.map(({ id }) => id);
        return transport.call("release", { queue_name, partition, ids }, options);
      }),
    retry: (some = [...left], { at, dead = false, reason, ...options } = {}) =>
      finish(some, (rest) => {
        // The server takes the instant by its own clock.
        const retry_at = at ? new Date(at.getTime() + clockAheadMs).toISOString() : null;
        const given = rest.map(({ id }) => ({ id, retry_at, dead, ...(reason && { reason }) }));
        return transport.call("retry", { queue_name, partition, items: given }, options);
      }),
  };
}

/** Sends the entries, then again without those that a refusal names, until it is accepted. */
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
      // It is about something else, such as the queue.
      if (accepted.length === rest.length) throw error;
      // Its own attempt that nobody heard of may be what stands in the way.
      const echo = error.followsUnknown ? "; an attempt without an answer may have done it" : "";
      for (const [id, reason] of Object.entries(details)) refusals[id] = reason + echo;
      rest = accepted;
    }
  }
  return refusals;
}
