// The lifetime of each item of a history: its produce, its leases and how they ended, and where the
// item was after draining.

import type {
  Ending,
  Entry,
  ExtendCall,
  LeaseCall,
  Offer,
  ProduceCall,
  QueueRules,
  SingleCall,
} from "../histories/history.ts";
import type { Faults } from "../result.ts";

/** One offer of an item, and its holder's later calls. */
export interface Holding {
  readonly offer: Offer;
  readonly lease: LeaseCall;
  readonly endings: SingleCall[];
  /** Calls answered 200, in the order in which they were sent. */
  readonly extends: ExtendCall[];
}

export interface Lifetime {
  readonly number: number;
  produced: ProduceCall | null;
  /** In the order of the grants. */
  readonly holdings: Holding[];
  deadCount: number;
  leftCount: number;
  /**
   * Leases of its queue that may have been granted this item although their answer was lost, by
   * send time.
   */
  unseen: readonly LeaseCall[];
}

export interface LifetimesOptions {
  readonly ending: Ending;
  readonly rules: QueueRules;
  readonly faults: Faults;
}

export function lifetimesOf(
  calls: readonly SingleCall[],
  { ending, rules, faults }: LifetimesOptions,
): Map<number, Lifetime> {
  const unseen = unseenLeases(calls, rules);
  const lifetimes = new Map<number, Lifetime>();
  const lifetime = (number: number): Lifetime =>
    lifetimes.getOrInsertComputed(number, () => {
      return { number, produced: null, holdings: [], deadCount: 0, leftCount: 0, unseen: [] };
    });
  for (const call of calls) {
    if (call.verb !== "produce") continue;
    for (const number of call.numbers) {
      Object.assign(lifetime(number), { produced: call, unseen: unseen.get(call.queue) ?? [] });
    }
  }
  const byId = new Map<string, Holding>();
  for (const lease of calls) {
    if (lease.verb !== "lease") continue;
    for (const offer of lease.offers) {
      const holding: Holding = { offer, lease, endings: [], extends: [] };
      lifetime(offer.number).holdings.push(holding);
      if (byId.has(offer.id)) faults.add("I2: an id was leased twice", offer.id);
      byId.set(offer.id, holding);
      if (!offer.intact) faults.add("I10: an item has changed", `item ${offer.number}`);
    }
  }
  for (const call of calls) {
    if (call.verb === "produce" || call.verb === "lease") continue;
    for (const id of call.ids) {
      if (call.verb !== "extend") byId.get(id)?.endings.push(call);
      else if (call.outcome === "ok") byId.get(id)?.extends.push(call);
    }
  }
  for (const { number, intact } of ending.dead) {
    lifetime(number).deadCount += 1;
    if (!intact) faults.add("I10: a dead item has changed", `item ${number}`);
  }
  for (const { number } of ending.left) lifetime(number).leftCount += 1;
  for (const { holdings } of lifetimes.values()) {
    // A client that released an item had received its lease before the next one was granted.
    holdings.sort((a, b) => a.offer.attempts - b.offer.attempts || a.lease.end - b.lease.end);
  }
  return lifetimes;
}

/**
 * Leases whose items may have been granted without an answer, by queue. Such items are requeued
 * unless the server is killed first, so leases with an empty answer are included.
 */
function unseenLeases(
  calls: readonly SingleCall[],
  { shardsFail }: QueueRules,
): Map<string, LeaseCall[]> {
  const leases = calls
    .filter((call): call is LeaseCall => call.verb === "lease")
    .filter(({ outcome }) => outcome !== "ok" || shardsFail)
    .sort((a, b) => a.call - b.call);
  return Map.groupBy(leases, ({ queue }) => queue);
}

/** The number of these leases in flight at some instant from `from` to `to`. */
export function countWithin(leases: readonly LeaseCall[], from: number, to: number): number {
  let count = 0;
  for (const { call, end } of leases) {
    if (call > to) break;
    if (end >= from) count += 1;
  }
  return count;
}

type Outcomes = readonly Entry["outcome"][];

export function isReleased({ endings }: Holding, outcomes: Outcomes): boolean {
  return endings.some(({ verb, outcome }) => verb === "release" && outcomes.includes(outcome));
}

/** Whether its holder rejected the item, with one of these outcomes. */
export function wasRejected({ endings }: Holding, outcomes: Outcomes): boolean {
  return endings.some((end) => end.verb === "retry" && end.dead && outcomes.includes(end.outcome));
}

/** The latest deadline that a client received. */
export function deadlineOf({ offer, extends: extended }: Holding): number {
  return Math.max(offer.leaseDeadline, ...extended.map(({ leaseDeadline }) => leaseDeadline));
}

/** Whether it may be out of attempts, counting leases whose answer was lost. */
export function mayBeExhausted(
  { produced, holdings, unseen }: Lifetime,
  { maxAttempts }: QueueRules,
): boolean {
  if (maxAttempts === 0) return false;
  const last = holdings.at(-1);
  const since = last?.lease.call ?? produced?.call ?? 0;
  const seen =
    (last?.offer.attempts ?? 0) - (last !== undefined && isReleased(last, ["ok"]) ? 1 : 0);
  return seen + countWithin(unseen, since, Number.POSITIVE_INFINITY) >= maxAttempts;
}

export function wasSeen({ holdings, deadCount, leftCount }: Lifetime): boolean {
  return holdings.length > 0 || deadCount + leftCount > 0;
}
