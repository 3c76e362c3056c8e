// Assesses a queue from memory alone; returns its findings, worst first. It does not wait for a
// shard, so it also works while one stalls.

import type { FindingWord, HealthWord } from "../model/api.ts";
import type { LogicalQueue } from "../state/queue.ts";

/** The inputs that do not belong to the queue. */
export interface Surroundings {
  readonly now: number;
  /** `null` = the shard is up. */
  readonly down: { readonly since: number; readonly nextStartAt: number } | null;
  /** When the store ran out of room; `null` = it has room. */
  readonly fullSince: number | null;
  /** Whether another queue has it as its dead queue. */
  readonly isDeadQueue: (name: string) => boolean;
}

/** A finding without its text. */
export interface Assessment {
  readonly kind: FindingWord;
  readonly since: number;
  readonly count: number;
  readonly nextAt: number | null;
}

/** A consumer that disconnected may return, or another one arrive. */
const askGraceMs = 10_000;
/** Items count as flowing if any changed hands within this time. */
const steadyMs = 5_000;
/** How long an empty queue counts as flowing after its last item moved. */
const flowMs = 10_000;
/** How long a backlog has to rise before it is reported. */
export const riseMs = 5 * 60_000;
/** A smaller rise may be random. */
const riseMin = 60;

const nothing: readonly Assessment[] = [];

/** In the order in which a person needs to know them. */
export function assess(queue: LogicalQueue, around: Surroundings): readonly Assessment[] {
  let found: Assessment[] | null = null;
  for (const check of checks) {
    const one = check(queue, around);
    if (one === null) continue;
    found ??= [];
    found.push(one);
  }
  return found ?? nothing;
}

export function healthOf(
  queue: LogicalQueue,
  found: readonly Assessment[],
  { now }: Surroundings,
): HealthWord {
  const { ready, leased, scheduled, retried } = queue.itemCounts;
  const first = found[0]?.kind;
  if (first === "at_leased_max" || first === "at_lease_rate") return "at_limit";
  if (first !== undefined) return first;
  const holdsAny = ready + leased + scheduled + retried > 0;
  if (holdsAny || now - queue.activity.movedAt < flowMs) return "flows";
  return queue.clients.size > 0 ? "idle" : "empty";
}

type Check = (queue: LogicalQueue, around: Surroundings) => Assessment | null;

const shardDown: Check = (queue, { down }) => {
  if (down === null) return null;
  const { since, nextStartAt: nextAt } = down;
  return { kind: "shard_down", since, count: queue.itemCount, nextAt };
};

const storeFull: Check = (queue, { fullSince: since }) => {
  if (since === null) return null;
  return { kind: "store_full", since, count: queue.places.size, nextAt: null };
};

/** Because of a pause, or because a person handles its items; their origin reports new ones. */
function isMeantToWait({ definition }: LogicalQueue, { isDeadQueue }: Surroundings): boolean {
  return definition.pause?.lease === true || isDeadQueue(definition.name);
}

const noConsumers: Check = (queue, around) => {
  const { now } = around;
  const { ready, leased } = queue.itemCounts;
  if (ready === 0 || queue.clients.size > 0) return null;
  const since = Math.max(queue.activity.leaseRequestedAt, queue.activity.readyAt);
  // The holders of items may be busy for that long before their next request.
  const graceMs = leased > 0 ? Math.max(askGraceMs, queue.definition.leaseTimeoutMs) : askGraceMs;
  if (now - Math.max(since, queue.activity.pausedAt) < graceMs) return null;
  if (isMeantToWait(queue, around)) return null;
  return { kind: "no_consumers", since, count: ready, nextAt: null };
};

const backlogGrowing: Check = (queue, around) => {
  const { now } = around;
  const { activity, itemCounts } = queue;
  activity.backlog.roll(now, itemCounts.ready);
  const count = activity.backlog.steadyRise;
  if (count < riseMin || isMeantToWait(queue, around)) return null;
  const since = activity.since("backlog_growing", now) - riseMs;
  return { kind: "backlog_growing", since, count, nextAt: null };
};

const leasesLapsing: Check = ({ activity: { lapses } }, { now }) => {
  const count = lapses.count(now);
  return count === 0
    ? null
    : { kind: "leases_lapsing", since: lapses.firstAt, count, nextAt: null };
};

const deadItems: Check = ({ activity: { deaths } }, { now }) => {
  const count = deaths.count(now);
  return count === 0 ? null : { kind: "dead_items", since: deaths.firstAt, count, nextAt: null };
};

const groupsBlocked: Check = (queue, { now }) => {
  const count = queue.groupsBlocked;
  if (count === 0) return null;
  const since = queue.activity.since("groups_blocked", now);
  return { kind: "groups_blocked", since, count, nextAt: null };
};

const clearing: Check = (queue, { now }) => {
  const count = queue.clearingCount;
  if (count === 0) return null;
  return { kind: "clearing", since: queue.activity.since("clearing", now), count, nextAt: null };
};

const paused: Check = (
  { definition, itemCounts: { ready: count }, activity: { pausedAt } },
  { now },
) => {
  if (definition.pause === undefined) return null;
  // The recorded instant is rounded up and may be up to 1 ms ahead.
  return { kind: "paused", since: Math.min(pausedAt, now), count, nextAt: null };
};

const atLeasedMax: Check = (queue, { now }) => {
  const { ready, leased } = queue.itemCounts;
  if (ready === 0 || !queue.leaseLimiter.isAtLeasedMax(leased)) return null;
  const since = queue.activity.since("at_leased_max", now);
  return { kind: "at_leased_max", since, count: ready, nextAt: queue.nextLapseAt };
};

const atLeaseRate: Check = (queue, { now }) => {
  const { ready } = queue.itemCounts;
  if (ready === 0 || !queue.leaseLimiter.isAtRate(now)) return null;
  const since = queue.activity.since("at_lease_rate", now);
  return { kind: "at_lease_rate", since, count: ready, nextAt: queue.leaseLimiter.rateMoreAt };
};

const allLeased: Check = (queue, { now }) => {
  const { ready, leased } = queue.itemCounts;
  const since = Math.max(queue.activity.movedAt, queue.activity.startedAt);
  if (ready > 0 || leased === 0 || now - since < steadyMs) return null;
  return { kind: "all_leased", since, count: leased, nextAt: queue.nextLapseAt };
};

const allScheduled: Check = (queue, { now }) => {
  const { ready, leased, scheduled, retried } = queue.itemCounts;
  const count = scheduled + retried;
  if (ready + leased > 0 || count === 0) return null;
  const since = queue.activity.since("all_scheduled", now);
  return { kind: "all_scheduled", since, count, nextAt: queue.nextDueAt };
};

const checks: readonly Check[] = [
  shardDown,
  storeFull,
  noConsumers,
  backlogGrowing,
  leasesLapsing,
  deadItems,
  groupsBlocked,
  clearing,
  paused,
  atLeasedMax,
  atLeaseRate,
  allLeased,
  allScheduled,
];
