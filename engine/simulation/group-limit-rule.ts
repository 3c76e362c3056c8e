// I27: the limits of groups hold exactly, and nothing is leased from a group that is closed: by
// hand, by a dead letter, or in order `strict` by an item that came back and is not finished.

import { parseRate } from "../model/lease-rate.ts";
import { type GroupGrant, isStrict } from "./group-order-rule.ts";
import type { GroupSettingsKnown } from "./group-settings-known.ts";
import type { QueueParameters } from "./parameters.ts";
import type { Situations } from "./situations.ts";
import { isCertain, isHeld, mayHaveDied, type Tracked } from "./tracked.ts";

/** The items of a group. */
interface GroupItems {
  readonly place: QueueParameters;
  readonly group: string;
  readonly items: readonly Tracked[];
  /** The number of faults so far. */
  readonly faults: number;
}

export class GroupLimitRule {
  readonly #settings: GroupSettingsKnown;
  readonly #situations: Situations;
  /** By queue and group, when each item was granted since the rate last changed. */
  readonly #grants = new Map<string, number[]>();

  constructor(settings: GroupSettingsKnown, situations: Situations) {
    this.#settings = settings;
    this.#situations = situations;
  }

  /** Rates count anew, in one group of the queue or, for `null`, in all. */
  forgetRates(queue: string | null, group: string | null): void {
    for (const key of this.#grants.keys()) {
      const [name, its] = JSON.parse(key) as [string, string];
      const isOf = (queue ?? name) === name && (group ?? its) === its;
      if (isOf) this.#grants.delete(key);
    }
  }

  /** Items of the group that were granted within the interval before `at`. */
  grantedWithin(queue: string, group: string, { at, ms }: Record<"at" | "ms", number>): number {
    const grants = this.#grants.get(JSON.stringify([queue, group])) ?? [];
    return grants.filter((one) => one > at - ms && one <= at).length;
  }

  /** What is wrong with grants of one lease from one group; `null` = nothing. */
  checkLease(of: GroupItems, grants: readonly GroupGrant[], now: number): string | null {
    return this.#checkLeasedMax(of, grants, now) ?? this.#checkClosed(of, grants, now);
  }

  #checkLeasedMax(
    { place, group, items }: GroupItems,
    grants: readonly GroupGrant[],
    now: number,
  ): string | null {
    const held = items.filter(
      (item) => item.open === 0 && item.grant !== null && isHeld(item, item.grant.id, now),
    );
    const { most } = this.#settings.leasedMax(place.name, group, grants[0]?.at ?? now);
    if (held.length === most) this.#situations.reached("a group has its maximum of leased items");
    if (held.length <= most) return null;
    const leases = new Set(held.map(({ grant }) => grant?.answered));
    if (most === 1 && leases.size === 1) {
      this.#situations.reached("a lease has several items of a serial group");
      return null;
    }
    return `${held.length} items are leased, at most ${most} may be`;
  }

  #checkClosed(
    { place, group, items, faults }: GroupItems,
    grants: readonly GroupGrant[],
    now: number,
  ): string | null {
    const { at = now, begun = 0 } = grants[0] ?? {};
    for (const by of ["paused", "dead"] as const) {
      if (this.#settings.isClosed(place.name, group, by, at) === true) {
        return `${grants[0]?.item.key} was leased at ${at} while the group is closed: ${by}`;
      }
    }
    if (!isStrict(place)) return null;
    const [back] = items.filter((item) => isAway(item, { begun, at, now, faults }));
    if (back !== undefined) return `${grants[0]?.item.key} was leased before ${back.key} is done`;
    const first = grants.findIndex(({ attempts }) => attempts > 1);
    if (first >= 0 && first < grants.length - 1) {
      return `${grants[first + 1]?.item.key} was leased with ${grants[first]?.item.key}, which came back`;
    }
    return null;
  }

  /** What is wrong with a grant by the rate of its group; `null` = nothing. */
  checkRate({ item, at }: GroupGrant): string | null {
    const { name } = item.place;
    const grants = this.#grants.getOrInsertComputed(JSON.stringify([name, item.group]), () => []);
    grants.push(at);
    const [rate, ...others] = this.#settings.rates(name, item.group, at).map(parseRate);
    if (rate == null || others.length > 0) return null;
    for (const last of grants) {
      const within = grants.filter((one) => one <= last && one > last - rate.intervalMs);
      if (within.length > rate.items) {
        return `${within.length} items were leased until ${last}, more than ${rate.items}`;
      }
      if (within.length === rate.items) this.#situations.reached("a group reaches its rate");
    }
    return null;
  }
}

/** Whether an item that came back is certainly leased or set aside since before the lease. */
function isAway(
  item: Tracked,
  { begun, at, now, faults }: Record<"begun" | "at" | "now" | "faults", number>,
): boolean {
  const { grant } = item;
  if (grant === null || item.open > 0 || item.tasks.length > 0 || !isCertain(item)) return false;
  if (mayHaveDied(item, now, faults)) return false;
  if (grant.isOver) {
    // Due times are merged into whole seconds, so it may be due a little early.
    const isAside = item.notBefore > at && item.groupPlace.freeBy.stamp > begun;
    return isAside && item.rejected === "no" && item.attempts > 0 && item.leftAt === null;
  }
  return item.attempts > 1 && grant.answered < begun && isHeld(item, grant.id, now);
}
