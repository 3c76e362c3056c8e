// What happens to one item. Pure: the item, its queue's rules and the instant
// go in, its fate comes out. Stores only persist the answer, so every backend
// follows the same rules.

import type { Item } from "../../stores/item.ts";
import { limits } from "./limits.ts";

/** What a queue's definition says about the life of its items. */
export interface Rules {
  readonly leaseTimeoutMs: number;
  /** `never` leads to the last instant there is. */
  readonly expireTimeoutMs: number;
  /** 0 = no limit. */
  readonly maxAttempts: number;
}

/** Why an item left its queue without being completed. */
export type Death = "failed" | "expired" | "rejected";

/**
 * Where an item goes next. `queue`: to the tail, under a new id. `schedule`:
 * aside until `dueAt`, under a new id. `dead`: to the dead queue, or away if
 * there is none.
 */
export type Fate =
  | { readonly to: "queue"; readonly attempts: number }
  | { readonly to: "schedule"; readonly attempts: number; readonly dueAt: number }
  | {
      readonly to: "dead";
      readonly death: Death;
      /** Leases that it was granted in all. */
      readonly attempts: number;
    };

type Living = Pick<Item, "attempts" | "expireDeadline">;

/** A count that an item carries, after one more. */
export function oneMore(count: number): number {
  return Math.min(count + 1, limits.carriedCountMax);
}

/** When an item expires that becomes available at `availableAt`. */
export function expireDeadlineOf(
  rules: Pick<Rules, "expireTimeoutMs">,
  availableAt: number,
): number {
  return Math.min(availableAt + rules.expireTimeoutMs, limits.instantMax);
}

/** Whether an item that nobody holds may no longer be offered. */
export function hasExpired(item: Pick<Item, "expireDeadline">, now: number): boolean {
  return item.expireDeadline <= now;
}

/** A leased item passed its lease deadline. The attempt counts: its holder may have done the work. */
export function lapse(item: Living, rules: Rules, now: number): Fate {
  return returned(item, rules, now, now);
}

/** A holder gave its item back, to be offered again at `retryAt`; `null` or past = now. */
export function retry(item: Living, rules: Rules, now: number, retryAt: number | null): Fate {
  return returned(item, rules, now, retryAt ?? now);
}

/** A holder gave its item up. */
export function reject({ attempts }: Pick<Item, "attempts">): Fate {
  return { to: "dead", death: "rejected", attempts: oneMore(attempts) };
}

/** Who runs the queue gave it up, while nobody held it. */
export function dismiss({ attempts }: Pick<Item, "attempts">): Fate {
  return { to: "dead", death: "rejected", attempts };
}

/** Its time is over, and nobody holds it. */
export function expire({ attempts }: Pick<Item, "attempts">): Fate {
  return { to: "dead", death: "expired", attempts };
}

/** A lease was granted, but its holder had left before it could be told: as if it had not happened. */
export function release(item: Living, now: number): Fate {
  if (hasExpired(item, now)) return expire(item);
  return { to: "queue", attempts: item.attempts };
}

/** A scheduled item's instant came: that at which it is due, or that at which it expires. */
export function wake(item: Living, now: number): Fate {
  if (hasExpired(item, now)) return expire(item);
  return { to: "queue", attempts: item.attempts };
}

function returned(item: Living, rules: Rules, now: number, dueAt: number): Fate {
  const attempts = oneMore(item.attempts);
  if (rules.maxAttempts !== 0 && attempts >= rules.maxAttempts)
    return { to: "dead", death: "failed", attempts };
  if (hasExpired(item, now)) return expire({ attempts });
  return dueAt > now ? { to: "schedule", attempts, dueAt } : { to: "queue", attempts };
}
