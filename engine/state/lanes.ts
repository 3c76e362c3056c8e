// Selects what the waiting leases of a queue are served from. A lane is the ready items of one
// priority in one partition, in the order in which they became ready.

import { never } from "../model/duration.ts";
import { agedPriority, priorityOf, readyBefore } from "../model/priority.ts";

export interface Lane {
  readonly slot: number;
  readonly ready: number;
  /** When its first item became ready, or slightly earlier; 0 = unknown. */
  readonly since: number;
  /** The turn can lease its first items, because it has read or written them. */
  readonly isRead: boolean;
}

interface RankedLane extends Lane {
  readonly priority: number;
  /** The priority of its first item after aging. */
  readonly aged: number;
  /** Leases that will be served from it, and the items that they may take. */
  leases: number;
  wanted: number;
}

export interface LanesOptions {
  readonly now: number;
  readonly agingMs: number;
}

/**
 * Serves the lane whose first item has the highest priority after aging, and among equals one that
 * the turn has read, the one whose first item has waited longest, or else the one with the most
 * items to spare. It spreads leases over equals as long as that leaves items for each.
 */
export class Lanes {
  readonly #options: LanesOptions;
  readonly #lanes: RankedLane[] = [];

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  add(lane: Lane): void {
    const { now, agingMs } = this.#options;
    const priority = priorityOf(lane.slot);
    const aged = agedPriority(priority, { waitedMs: now - lane.since, agingMs });
    this.#lanes.push({ ...lane, priority, aged, leases: 0, wanted: 0 });
  }

  /** The slots of lanes whose first item has to be read before the lane can be ranked. */
  get unknownSlots(): number[] {
    if (this.#options.agingMs === never) return [];
    return this.#lanes.flatMap(({ slot, since }) => (since === 0 ? [slot] : []));
  }

  /**
   * Promises up to `itemCount` items to a lease, and returns the slot of the lane; -1 = none. A lane
   * that is first but not read serves nothing, and nothing behind it is served.
   */
  lend(priorityMin: number, itemCount: number): number {
    let first: RankedLane | null = null;
    for (const lane of this.#lanes) {
      if (lane.priority < priorityMin || !hasSpare(lane)) continue;
      if (first === null || isBefore(lane, first)) first = lane;
    }
    if (first === null || !first.isRead) return -1;
    first.leases += 1;
    first.wanted += itemCount;
    return first.slot;
  }

  /**
   * Items of the lane that became ready later have to wait for those of other lanes, which the
   * leases may take as well.
   */
  readyUntil(slot: number, priorityMin: number): number {
    let aged = -1;
    for (const lane of this.#lanes) {
      const isOther = lane.slot !== slot && lane.priority >= priorityMin;
      if (isOther && hasSpare(lane)) aged = Math.max(aged, lane.aged);
    }
    return readyBefore(priorityOf(slot), aged, this.#options);
  }

  /** Items of the lane are left, although leases were promised some of them. */
  leave(slot: number, left: Pick<Lane, "ready" | "since">): void {
    const at = this.#lanes.findIndex((lane) => lane.slot === slot);
    this.#lanes.splice(at, 1);
    this.add({ slot, isRead: false, ...left });
  }
}

/** Whether it has an item for one more lease. */
function hasSpare({ ready, leases }: RankedLane): boolean {
  return ready > leases;
}

function isBefore(a: RankedLane, b: RankedLane): boolean {
  if (a.aged !== b.aged) return a.aged > b.aged;
  if (a.isRead !== b.isRead) return a.isRead;
  const [left, right] = [a.ready - a.wanted, b.ready - b.wanted];
  if (left > 0 !== right > 0) return left > 0;
  return a.since === b.since ? left > right : a.since < b.since;
}
