// I28: of the groups that are certainly open, those of the highest level are served first, each in
// its turn and as often as its weight, and no lease ends without an item of one of them.

import { never } from "../model/duration.ts";
import { parseRate } from "../model/lease-rate.ts";
import { limits } from "../model/limits.ts";
import type { GroupLimitRule } from "./group-limit-rule.ts";
import { type GroupGrant, isStrict } from "./group-order-rule.ts";
import type { GroupSettingsKnown } from "./group-settings-known.ts";
import type { QueueParameters } from "./parameters.ts";
import { isCertain, isConcerned, mayHaveDied, type Tracked } from "./tracked.ts";

/** A group that items can certainly be leased from. */
export interface OpenGroup {
  /** When one of its items became ready, in the order of calls. */
  readonly since: number;
  /** Its first item has at least this priority. */
  readonly priority: number;
  /** So many of its items were certainly ready before the lease, without a limit; 0 = it has one. */
  readonly unlimited: number;
}

export type OpenGroups = ReadonlyMap<string, OpenGroup>;

/** `faults`: the number of faults so far; `ghostsUntil`: the last lease without an answer. */
export interface GroupMoment {
  readonly now: number;
  readonly faults: number;
  readonly ghostsUntil: number;
  /** Grants may be unknown until this engine time; infinite = also now. */
  readonly unknownUntil: number;
  /** A dead letter closes its group. */
  readonly mayBlock: boolean;
  /** The lease began then, in the order of calls. */
  readonly begun: number;
}

/** A group that waits for its turn. */
interface Waiting {
  /** It has certainly waited since this engine time. */
  readonly at: number;
  /** When that was last certain, in the order of calls. */
  seen: number;
  /** How often others of its level were served meanwhile. */
  readonly served: Map<string, number>;
}

interface GroupTurn {
  readonly group: string;
  /** How many items more it gets. */
  left: number;
  /** When it last got one, in the order of calls. */
  seen: number;
}

export class GroupTurnRule {
  readonly #settings: GroupSettingsKnown;
  readonly #limits: GroupLimitRule;
  readonly #hasPriorities: boolean;
  /** By queue, the group whose turn it is. */
  readonly #turns = new Map<string, GroupTurn>();
  readonly #waiting = new Map<string, Map<string, Waiting>>();
  /** By queue, when each group was last served. */
  readonly #servedAt = new Map<string, Map<string, number>>();

  constructor(
    settings: GroupSettingsKnown,
    rule: GroupLimitRule,
    { hasPriorities }: { readonly hasPriorities: boolean },
  ) {
    this.#settings = settings;
    this.#limits = rule;
    this.#hasPriorities = hasPriorities;
  }

  /** The turns begin anew. */
  forget(): void {
    this.#waiting.clear();
    this.#turns.clear();
    this.#servedAt.clear();
  }

  /** The place of a group among the others may have changed. */
  touched({ place, group }: Tracked): void {
    if (isStrict(place) || this.#hasPriorities) this.changed(place.name, group);
  }

  /** `group`: `null` = all of the queue. */
  changed(queue: string, group: string | null): void {
    if (this.#turns.get(queue)?.group === (group ?? this.#turns.get(queue)?.group)) {
      this.#turns.delete(queue);
    }
    if (group === null) this.#waiting.delete(queue);
    else this.#waiting.get(queue)?.delete(group);
  }

  openGroups(
    place: QueueParameters,
    byGroup: ReadonlyMap<string, readonly Tracked[]>,
    moment: GroupMoment,
  ): OpenGroups {
    const open = new Map<string, OpenGroup>();
    for (const [group, items] of byGroup) {
      const found = this.#isOpen(place, { group, items }, moment);
      if (found !== null) open.set(group, found);
    }
    return open;
  }

  /** `null` = it may be closed or empty. */
  #isOpen(
    place: QueueParameters,
    { group, items }: { readonly group: string; readonly items: readonly Tracked[] },
    moment: GroupMoment,
  ): OpenGroup | null {
    const { name } = place;
    const { now, faults, ghostsUntil, mayBlock } = moment;
    if (ghostsUntil === Number.POSITIVE_INFINITY) return null;
    let since = Number.POSITIVE_INFINITY;
    let priority = Number.POSITIVE_INFINITY;
    let ready = 0;
    let mayBeHeld = 0;
    let isBack = false;
    for (const item of items) {
      const isNot = item.end !== null || item.produce.outcome === "not written";
      const isDone = isNot && item.end !== "cleared" && item.end !== "cancelled";
      if (mayBlock && !isDone && mayHaveDied(item, now, faults)) return null;
      if (isNot) continue;
      // When it is set aside or moved, its group has to be read, and may lose its turn.
      if (item.damagedAt !== null || isConcerned(item, "prioritize")) return null;
      priority = Math.min(priority, ...item.priorities);
      const isReady = isCertainlyReady(item, place, moment);
      if (isReady) {
        isBack ||= item.attempts > 0;
        since = Math.min(since, item.groupPlace.freeBy.stamp);
        if (item.groupPlace.freeBy.stamp < moment.begun) ready += 1;
      } else if (!isAside(item, now)) {
        mayBeHeld += 1;
        if (isStrict(place) && (item.attempts > 0 || item.faultsSeen < faults)) return null;
      } else if (isStrict(place) && item.attempts > 0) return null;
    }
    const isClosed = (["paused", "dead"] as const).some(
      (by) => this.#settings.isClosed(name, group, by, now) !== false,
    );
    const { least } = this.#settings.leasedMax(name, group, now);
    const isFull = mayBeHeld >= least;
    const isLimited = least < Number.POSITIVE_INFINITY || (isStrict(place) && isBack);
    const isRated = this.#settings.rates(name, group, now).some((rate) => rate !== "");
    const unlimited = isLimited || isRated ? 0 : ready;
    if (since === Number.POSITIVE_INFINITY || isClosed || isFull) return null;
    if (!this.#hasRate(name, group, moment)) return null;
    return { since: Math.max(since, ghostsUntil), priority, unlimited };
  }

  #hasRate(name: string, group: string, { now, unknownUntil }: GroupMoment): boolean {
    return this.#settings.rates(name, group, now).every((text) => {
      const rate = parseRate(text);
      if (rate === null) return true;
      // The windows of the engine are a little longer.
      const ms = 1.1 * rate.intervalMs + 1;
      if (unknownUntil > now - ms) return false;
      return this.#limits.grantedWithin(name, group, { at: now, ms }) < rate.items;
    });
  }

  /** Counts the grants of a lease. Returns what is wrong with them; `null` = nothing. */
  served(
    place: QueueParameters,
    grants: readonly GroupGrant[],
    { open, priorityMin }: { readonly open: OpenGroups; readonly priorityMin: number },
  ): string | null {
    const waiting = this.#waiting.getOrInsertComputed(place.name, () => new Map());
    const { at = 0, begun = 0, answered = 0 } = grants[0] ?? {};
    const meant = (group: string): boolean => {
      const found = open.get(group);
      return found !== undefined && found.since < begun && found.priority >= priorityMin;
    };
    for (const [group, { seen }] of waiting) {
      const isSame = meant(group) && (open.get(group)?.since ?? seen) < seen;
      if (!isSame) waiting.delete(group);
    }
    for (const group of open.keys()) {
      if (!meant(group)) continue;
      const newOne = () => ({ at, seen: answered, served: new Map() });
      waiting.getOrInsertComputed(group, newOne).seen = answered;
    }
    const runs = new Set<string>();
    const taken = new Map<string, number>();
    for (const grant of grants) {
      const { item } = grant;
      const cut = this.#checkTurn(place, grant, { open, taken, isNew: waiting.has(item.group) });
      if (cut !== null) return cut;
      taken.set(item.group, (taken.get(item.group) ?? 0) + 1);
      waiting.delete(item.group);
      // The run of a serial group counts as one.
      const { least } = this.#settings.leasedMax(place.name, item.group, at);
      if (least === 1 && runs.has(item.group)) continue;
      runs.add(item.group);
      for (const [group, one] of waiting) {
        const ahead = open.get(group) as OpenGroup;
        const wrong = this.#checkAhead(place, item, { ...ahead, group, one, at });
        if (wrong !== null) return wrong;
      }
    }
    const servedAt = this.#servedAt.getOrInsertComputed(place.name, () => new Map());
    for (const { item } of grants) servedAt.set(item.group, at);
    return null;
  }

  /** In a turn, a group gets as many items as its weight, before another one is served. */
  #checkTurn(
    { name }: QueueParameters,
    { item: { key, group }, answered }: GroupGrant,
    {
      open,
      taken,
      isNew,
    }: {
      readonly open: OpenGroups;
      readonly taken: ReadonlyMap<string, number>;
      /** It has certainly waited for its turn. */
      readonly isNew: boolean;
    },
  ): string | null {
    if (this.#hasPriorities) return null;
    const turn = this.#turns.get(name);
    if (turn?.group === group) {
      turn.left -= 1;
      turn.seen = answered;
      return null;
    }
    const { since = 0, unlimited = 0 } = open.get(turn?.group ?? "") ?? {};
    // Its turn also ends when none of its items is left.
    const hasStayed = turn !== undefined && (since < turn.seen || turn.seen === answered);
    if (hasStayed && turn.left > 0 && unlimited > (taken.get(turn.group) ?? 0))
      return `${key} was leased while ${turn.group} has ${turn.left} more in its turn`;
    const left = this.#settings.weightLeast(name, group) - 1;
    if (isNew) this.#turns.set(name, { group, left, seen: answered });
    else this.#turns.delete(name);
    return null;
  }

  /** The group was open, but another one was served. */
  #checkAhead(
    place: QueueParameters,
    served: Tracked,
    ahead: OpenGroup & { readonly group: string; readonly one: Waiting; readonly at: number },
  ): string | null {
    const { group, one, at, priority } = ahead;
    const least = aged(priority, at - one.at, place);
    const most = this.#agedMost(place, served, at);
    const name = `${group}, which waits since ${one.at}`;
    if (this.#hasPriorities && least > most) {
      return `${served.key} of level ${most} was leased at ${at} before ${name} at level ${least}`;
    }
    if (!this.#isSameLevel(place, served, { priority, least })) return null;
    const count = (one.served.get(served.group) ?? 0) + 1;
    one.served.set(served.group, count);
    if (count <= this.#settings.weightMost(place.name, served.group)) return null;
    return `${served.key} is item ${count} of ${served.group} since ${one.at}, before any of ${name}`;
  }

  /** Whether the other group cannot overtake this one again after its turn. */
  #isSameLevel(
    { priorityAgingMs }: QueueParameters,
    served: Tracked,
    { priority, least }: { readonly priority: number; readonly least: number },
  ): boolean {
    if (!this.#hasPriorities) return true;
    return priorityAgingMs === never ? served.priority <= priority : least === limits.priorityMax;
  }

  #agedMost(place: QueueParameters, { priority, group }: Tracked, at: number): number {
    if (place.priorityAgingMs === never) return priority;
    const since = this.#servedAt.get(place.name)?.get(group);
    const isKnown = since !== undefined && this.#settings.weightMost(place.name, group) === 1;
    return isKnown ? aged(priority, at - since, place) : limits.priorityMax;
  }
}

function aged(priority: number, waitedMs: number, { priorityAgingMs }: QueueParameters): number {
  return Math.min(
    limits.priorityMax,
    priority + Math.floor(Math.max(0, waitedMs) / priorityAgingMs),
  );
}

function isAside({ enqueueAt, attempts, grant, notBefore, isSent, tasks }: Tracked, now: number) {
  const isWaiting = (attempts === 0 ? enqueueAt !== null : grant?.isOver === true) && !isSent;
  return isWaiting && notBefore > now && tasks.length === 0;
}

function isCertainlyReady(item: Tracked, place: QueueParameters, moment: GroupMoment): boolean {
  const { groupPlace, grant, redrivenMax, tasks, rejected, wentBackAt } = item;
  const isHere = item.place === place && item.produce.queue === place.name && redrivenMax === 0;
  const isUntouched = item.open === 0 && tasks.length === 0 && wentBackAt === 0;
  if (
    !isHere ||
    !isUntouched ||
    rejected !== "no" ||
    groupPlace.freeBy.stamp === Number.POSITIVE_INFINITY
  )
    return false;
  const isSeen = item.faultsSeen === moment.faults && !item.mayBeReleased;
  const isFree = grant === null || grant.isOver || grant.deadline < moment.now;
  return isSeen && isFree && isCertain(item) && !mayHaveDied(item, moment.now, moment.faults);
}
