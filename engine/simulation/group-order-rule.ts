// I26: items of a group are leased in the order in which they joined it. In order `strict` an item
// keeps its place when it comes back; in order `loose` it joins the tail, unless it was released.
// From the answers alone: if an item was certainly ready when a later one was granted, and is
// granted now, then that one overtook it.

import type { QueueParameters } from "./parameters.ts";
import { type GroupPlace, type Instant, longAgo, neverKnown, type Tracked } from "./tracked.ts";

/** A grant that an answer reports; `begun`, `answered`: its lease, in the order of all calls. */
export interface GroupGrant {
  readonly item: Tracked;
  readonly attempts: number;
  readonly at: number;
  readonly begun: number;
  readonly answered: number;
}

interface Recorded extends GroupGrant {
  readonly place: GroupPlace;
}

/** A lease without an answer, which may have held items until `endBy`. */
interface Ghost {
  readonly queue: string;
  readonly begun: number;
  endBy: number;
}

/** The call that returned an item. */
interface Returning {
  readonly verb: "retry" | "release";
  readonly begun: Instant;
  readonly answered: Instant;
}

const unknown: GroupPlace = { after: longAgo, by: neverKnown, freeBy: neverKnown, isFirst: false };
/** Due times are merged into whole seconds. */
const dueGrainMs = 1_000;

export class GroupOrderRule {
  readonly #hasNodes: boolean;
  /** By queue and group. */
  readonly #grants = new Map<string, Recorded[]>();
  readonly #ghosts: Ghost[] = [];
  /** In the order of calls: before this, another process had another clock. */
  #restarted = 0;

  constructor(hasNodes: boolean) {
    this.#hasNodes = hasNodes;
  }

  restarted(stamp: number): void {
    this.#restarted = stamp;
  }

  leaseUnanswered(queue: string, begun: number): void {
    this.#ghosts.push({ queue, begun, endBy: Number.POSITIVE_INFINITY });
  }

  /** When the last lease without an answer was over; 0 = there was none. */
  ghostsUntil(queue: string): number {
    return this.#ghosts.reduce((last, one) => {
      return one.queue === queue ? Math.max(last, one.endBy) : last;
    }, 0);
  }

  /** Nothing is in flight, and what was due has happened. */
  rested(items: Iterable<Tracked>, now: Instant): void {
    for (const ghost of this.#ghosts) ghost.endBy = Math.min(ghost.endBy, now.stamp);
    for (const item of items) {
      const { groupPlace, grant } = item;
      if (!item.place.grouped || groupPlace.freeBy !== neverKnown || item.end !== null) continue;
      if (grant !== null && !grant.isOver) {
        const isLapsed = grant.deadline + dueGrainMs <= now.at && grant.unansweredExtends === 0;
        if (isLapsed) item.groupPlace = { ...lapsed(item), freeBy: now };
        if (isLapsed && item.groupPlace.by === neverKnown) {
          item.groupPlace = { ...item.groupPlace, by: now };
        }
      } else if (item.dueBy > 0 && item.dueBy + dueGrainMs <= now.at && !item.isSent) {
        const by = groupPlace.by === neverKnown ? now : groupPlace.by;
        item.groupPlace = { ...groupPlace, by, freeBy: now };
      }
    }
  }

  produced(item: Tracked, begun: Instant, answered: Instant): void {
    const { enqueueAt, isSent } = item;
    // The answer may come after its first lease.
    if (item.attempts > 0 || item.grant !== null) return;
    const isFirst = true;
    if (isSent) {
      item.groupPlace = { after: begun, by: neverKnown, freeBy: neverKnown, isFirst: false };
    } else if (enqueueAt === null) {
      item.groupPlace = { after: begun, by: answered, freeBy: answered, isFirst };
    } else {
      const after = { ...begun, at: Math.max(begun.at, enqueueAt) };
      item.groupPlace = { after, by: neverKnown, freeBy: neverKnown, isFirst: false };
    }
  }

  returned(item: Tracked, { verb, begun, answered }: Returning): void {
    // The clock of a node may be behind, so a delay may last longer than it seems.
    const mayBeDelayed = this.#hasNodes || item.notBefore > answered.at;
    const isDelayed = verb === "retry" && mayBeDelayed;
    const freeBy = isDelayed ? neverKnown : answered;
    const keepsPlace = verb === "release" || isStrict(item.place);
    if (keepsPlace) item.groupPlace = { ...item.groupPlace, freeBy };
    else {
      const after = { ...begun, at: Math.max(begun.at, isDelayed ? item.notBefore : begun.at) };
      item.groupPlace = { after, by: freeBy, freeBy, isFirst: false };
    }
  }

  /** Call it before the state of the item changes. Returns an item that overtook this one. */
  granted(grant: GroupGrant): GroupGrant | null {
    const { item } = grant;
    const place = this.#placeOf(grant);
    const key = JSON.stringify([item.place.name, item.group]);
    const grants = this.#grants.getOrInsertComputed(key, () => []);
    const overtaker =
      place.freeBy === neverKnown
        ? undefined
        : grants.find((other) => this.#isOvertaken({ ...grant, place }, other));
    grants.push({ ...grant, place });
    item.groupPlace = { ...place, freeBy: neverKnown };
    return overtaker ?? null;
  }

  #placeOf({ item, attempts }: GroupGrant): GroupPlace {
    const { grant, groupPlace } = item;
    const isElsewhere = item.redrivenMax > 0 || item.wentBackAt > 0 || item.tasks.length > 0;
    if (isElsewhere || item.place.name !== item.produce.queue) return unknown;
    const isLapsed = grant !== null && !grant.isOver && groupPlace.freeBy === neverKnown;
    const isExact = attempts === item.attempts + 1 && !item.mayBeReleased && !item.mayBeRetried;
    if (!isExact && isStrict(item.place)) return { ...groupPlace, freeBy: neverKnown };
    if (!isExact) return unknown;
    return isLapsed ? lapsed(item) : groupPlace;
  }

  /** Whether `other` was granted while `own` was ready and came before it. */
  #isOvertaken(own: Recorded, other: Recorded): boolean {
    const { place, item } = own;
    const isSibling = place.isFirst && other.place.isFirst && item.produce === other.item.produce;
    const isAhead = isSibling
      ? item.index < other.item.index
      : this.#isBefore(place.by, other.place.after);
    const grantedAt = { stamp: other.begun, at: other.at };
    if (!isAhead || !this.#isBefore(place.freeBy, grantedAt)) return false;
    if (place.freeBy.stamp >= other.answered) return false;
    const isLater =
      other.answered === own.answered ||
      other.answered < own.begun ||
      (this.#isOneClock(other.begun, own.begun) && other.at < own.at);
    return isLater && !this.#mayBeHeld(item.place.name, other);
  }

  #mayBeHeld(name: string, { begun, answered }: GroupGrant): boolean {
    return this.#ghosts.some(
      (ghost) => ghost.queue === name && ghost.begun < answered && ghost.endBy > begun,
    );
  }

  #isBefore(one: Instant, other: Instant): boolean {
    if (one.stamp < other.stamp) return true;
    return this.#isOneClock(one.stamp, other.stamp) && one.at < other.at;
  }

  #isOneClock(stamp: number, other: number): boolean {
    return !this.#hasNodes && Math.min(stamp, other) > this.#restarted;
  }
}

export function isStrict({ groupOrder }: QueueParameters): boolean {
  return groupOrder === "strict";
}

/** The place after a lapse of the latest lease. */
function lapsed({ place, groupPlace, grant }: Tracked): GroupPlace {
  if (isStrict(place)) return groupPlace;
  const after = { stamp: grant?.answered ?? 0, at: grant?.deadline ?? 0 };
  return { after, by: neverKnown, freeBy: neverKnown, isFirst: false };
}
