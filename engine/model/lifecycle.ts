// The life of one item. Pure functions from the item, its queue's rules and the instant to the
// item's fate. Stores only persist the result, so every backend follows the same rules.

import type { Item } from "../../stores/item.ts";
import { limits } from "./limits.ts";

/** The settings of a queue that govern the life of its items. */
export interface Rules {
  readonly leaseTimeoutMs: number;
  /** `never` leads to the last instant. */
  readonly expireTimeoutMs: number;
  /** 0 = no limit. */
  readonly maxAttempts: number;
}

export type Death = "failed" | "expired" | "rejected";

/**
 * The next place of an item. `queue`: the tail, under a new id. `schedule`: set aside until
 * `dueAt`, under a new id. `dead`: the dead queue, or removal if there is none.
 */
export type Fate =
  | { readonly to: "queue"; readonly attempts: number }
  | { readonly to: "schedule"; readonly attempts: number; readonly dueAt: number }
  | {
      readonly to: "dead";
      readonly death: Death;
      /** All leases granted to it. */
      readonly attempts: number;
    };

type Living = Pick<Item, "attempts" | "expireDeadline">;
type Limit = Pick<Rules, "maxAttempts">;

/** Increments a count that an item carries, up to its maximum. */
export function oneMore(count: number): number {
  return Math.min(count + 1, limits.carriedCountMax);
}

export function expireDeadlineOf(
  rules: Pick<Rules, "expireTimeoutMs">,
  availableAt: number,
): number {
  return Math.min(availableAt + rules.expireTimeoutMs, limits.instantMax);
}

/** Whether an item that is not leased may no longer be offered. */
export function hasExpired(item: Pick<Item, "expireDeadline">, now: number): boolean {
  return item.expireDeadline <= now;
}

/** The lease deadline passed. The attempt counts, because the holder may have done the work. */
export function lapse(item: Living, rules: Limit, now: number): Fate {
  return returned(item, rules, now, now);
}

/** The holder returned the item, to be offered again at `retryAt`; `null` or past = now. */
export function retry(item: Living, rules: Limit, now: number, retryAt: number | null): Fate {
  return returned(item, rules, now, retryAt ?? now);
}

/** The holder gave the item up. */
export function reject({ attempts }: Pick<Item, "attempts">): Fate {
  return { to: "dead", death: "rejected", attempts: oneMore(attempts) };
}

/** An operator gave the item up while it was not leased. */
export function dismiss({ attempts }: Pick<Item, "attempts">): Fate {
  return { to: "dead", death: "rejected", attempts };
}

/** The item expired while it was not leased. */
export function expire({ attempts }: Pick<Item, "attempts">): Fate {
  return { to: "dead", death: "expired", attempts };
}

/** The lease was granted, but its holder left before receiving it; it is undone. */
export function release(item: Living, now: number): Fate {
  if (hasExpired(item, now)) return expire(item);
  return { to: "queue", attempts: item.attempts };
}

/** A scheduled item is due, or expires. */
export function wake(item: Living, now: number): Fate {
  if (hasExpired(item, now)) return expire(item);
  return { to: "queue", attempts: item.attempts };
}

function returned(item: Living, rules: Limit, now: number, dueAt: number): Fate {
  const attempts = oneMore(item.attempts);
  if (rules.maxAttempts !== 0 && attempts >= rules.maxAttempts)
    return { to: "dead", death: "failed", attempts };
  if (hasExpired(item, now)) return expire({ attempts });
  return dueAt > now ? { to: "schedule", attempts, dueAt } : { to: "queue", attempts };
}
