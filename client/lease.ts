// Leased items and what can be said of them. A refusal that names items is worked around:
// they are taken out, and the rest is said again.

import { bounds } from "../openapi/bounds.ts";
import { InvalidRequest, RequestFailed } from "./errors.ts";
import { type LeasedItem, leasedItem } from "./items.ts";
import { lapsesAtOf } from "./time.ts";
import type { CallOptions, Transport } from "./transport.ts";
import type { LeaseReply } from "./wire.ts";

/** Why items could not be finished, by their ids: somebody else has them, or nobody. */
export type Refusals = Readonly<Record<string, string>>;

export interface GiveBack {
  /** When to offer them again, by the queue's clock; absent = at once. */
  readonly at?: Date;
  /** How many milliseconds from now to offer them again, whatever any clock says; absent = at once. */
  readonly delayMs?: number;
  /** To the dead queue, whatever attempts remain. */
  readonly dead?: boolean;
  /** Why, for whoever looks at the items: up to 1,024 bytes. */
  readonly reason?: string;
}

export interface Extension {
  /** How long from now, as a duration; absent = as long as the lease asked for, or the queue says. */
  readonly leaseTimeout?: string;
}

export interface Lease<Json = unknown> {
  readonly queue_name: string;
  readonly partition: number;
  /** Of the queue; 0 = no limit. An item with as many attempts has its last. */
  readonly max_attempts: number;
  readonly items: readonly LeasedItem<Json>[];
  /** As `performance.now()` has it, the instant at which the first of its items lapses. */
  readonly lapsesAt: number;
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
  readonly receivedAt: number;
  /** What was asked for; absent = as long as the queue says. */
  readonly leaseTimeout?: string | undefined;
}

export function openLease({ transport, reply, receivedAt, ...asked }: LeaseSource): Lease {
  const { queue_name, partition, max_attempts, now } = reply;
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
    items,
    lapsesAt: Math.min(
      ...items.map(({ lease_deadline }) => lapsesAtOf({ lease_deadline, now }, receivedAt)),
    ),
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
    retry: (some = [...left], { at, delayMs, dead, reason, ...options } = {}) =>
      finish(some, (rest) => {
        const how = retryFields({ at, delayMs, dead, reason });
        const given = rest.map(({ id }) => ({ id, ...how }));
        return transport.call("retry", { queue_name, partition, items: given }, options);
      }),
  };
}

type Given = { readonly [Name in keyof GiveBack]: GiveBack[Name] | undefined };

/** How items are given back, as the contract has it. Throws `InvalidRequest` for what it cannot have. */
export function retryFields({ at, delayMs = 0, dead = false, reason }: Given) {
  const refuse = (message: string): never => {
    throw new InvalidRequest({ operation: "retry", status: null, message });
  };
  if (at !== undefined && Number.isNaN(at.getTime())) {
    refuse("at is invalid; expected an instant, got Invalid Date");
  }
  if (!(delayMs >= 0 && delayMs <= bounds.durationMsMax)) {
    refuse(`delayMs is invalid; expected from 0 to ${bounds.durationMsMax}, got ${delayMs}`);
  }
  return {
    retry_at: at?.toISOString() ?? null,
    ...(delayMs > 0 && { retry_after: `${Math.ceil(delayMs)}ms` }),
    dead,
    ...(reason && { reason }),
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
