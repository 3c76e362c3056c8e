// The content of a queue from the auditor's knowledge of its items: how many are certainly ready,
// leased or scheduled, and how many there may be at most.

import type { QueueParameters } from "./parameters.ts";
import { type Grant, isCertain, isHeld, mayHaveDied, type Tracked } from "./tracked.ts";

/** An item that is certainly leased. */
export type HeldItem = Tracked & { readonly grant: Grant };

export interface Tally {
  /** Items that are certainly ready. */
  readonly ready: number;
  /** Since when one of these is ready; infinite = none, or it may have been leased and requeued. */
  readonly readySince: number;
  readonly held: readonly HeldItem[];
  /** Items that are certainly scheduled, and when the first of these is due: between two instants. */
  readonly aside: number;
  readonly dueAt: number;
  readonly dueBy: number;
  /** The most items that the queue may have. */
  readonly most: number;
}

export interface Moment {
  readonly now: number;
  readonly faults: number;
  /** The queue is being cleared, so nothing in it is certain. */
  readonly isDoubted: boolean;
  /** A lease without an answer may have requeued items. */
  readonly hasUnanswered: boolean;
}

/** Valid only while no call is in progress. */
export function tallyOf(
  items: Iterable<Tracked>,
  { name }: QueueParameters,
  moment: Moment,
): Tally {
  const { now, isDoubted, hasUnanswered } = moment;
  const held: HeldItem[] = [];
  let [ready, aside, most] = [0, 0, 0];
  let readySince = Number.POSITIVE_INFINITY;
  let [dueAt, dueBy] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const item of items) {
    if (!mayBeIn(item, name, moment)) continue;
    most += 1;
    if (isDoubted || item.place.name !== name || item.open > 0) continue;
    if (isHeldForSure(item, now)) held.push(item);
    else if (item.faultsSeen !== moment.faults || !isOrdinary(item, name, moment)) continue;
    else if (item.notBefore > now) {
      if (item.isSent || !(item.grant === null || item.grant.isOver)) continue;
      aside += 1;
      dueAt = Math.min(dueAt, item.notBefore);
      dueBy = Math.min(dueBy, item.dueBy);
    } else if (isReady(item, now)) {
      ready += 1;
      if (!hasUnanswered) readySince = Math.min(readySince, item.produce.answeredAt);
    }
  }
  return { ready, readySince, held, aside, dueAt, dueBy, most };
}

function mayBeIn(item: Tracked, name: string, { now, faults }: Moment): boolean {
  const { place, produce, end, redriven, redrivenMax } = item;
  if (end !== null || produce.outcome === "not written") return false;
  if (place.name === name) return true;
  if (place.deadQueue === name) return mayHaveDied(item, now, faults);
  return redrivenMax > redriven && produce.queue === name;
}

function isHeldForSure(item: Tracked, now: number): item is HeldItem {
  const { grant, open } = item;
  if (grant === null || open > 0 || grant.unansweredExtends > 0) return false;
  return isHeld(item, grant.id, now);
}

/** An output of a transact may still be in flight from another shard. */
function isReady({ grant, enqueueAt, produce, isSent }: Tracked, now: number): boolean {
  return !isSent && grant === null && enqueueAt === null && produce.answeredAt <= now;
}

/** Whether the item is in its own queue, and only time has affected it. */
function isOrdinary(item: Tracked, name: string, { now, faults }: Moment): boolean {
  const { produce, tasks, redriven, redrivenMax, rejected } = item;
  const isItself = produce.queue === name && redriven === 0 && redrivenMax === 0;
  if (!isItself || tasks.length > 0 || rejected !== "no") return false;
  return isCertain(item) && !mayHaveDied(item, now, faults);
}
