// The groups of a queue: what is in memory of each group that has items, and the turns in which
// groups are served. A group that nothing can be leased from is in no ring, so that a turn never
// looks at it. All of it is derived from the store; only the turns begin anew at a start.

import type { GroupCount } from "../../stores/store.ts";
import type { GroupBlock } from "../model/api.ts";
import { never } from "../model/duration.ts";
import { type GroupSettings, groupText } from "../model/group-settings.ts";
import { limits } from "../model/limits.ts";
import {
  addOthers,
  type Group,
  type GroupedAt,
  newGroup,
  setFirst,
  unknownFirst,
} from "./group.ts";
import { GroupRates } from "./group-rates.ts";
import { firstOf, Rings } from "./group-rings.ts";
import type { LogicalQueue } from "./queue.ts";

/** How many items of each group a turn may serve. */
export type Servings = ReadonlyMap<Group, number>;

/** An item that comes back has been leased before. */
function isBack(attempts: number): boolean {
  return attempts > 0;
}

export class Groups {
  readonly #queueOf: () => LogicalQueue | undefined;
  readonly #byName = new Map<string, Group>();
  /** Those that differ from the queue's. */
  readonly settings = new Map<string, GroupSettings>();
  readonly #rings = new Rings();
  readonly #rates: GroupRates;
  /** Those with ready items that only a person opens. */
  readonly #blocked = new Set<string>();
  /** The definition by which groups are in their rings; `""` = none is yet. */
  #rules = "";

  /** `queueOf`: its queue; a start has no queues until its first turn. */
  constructor(queueOf: () => LogicalQueue | undefined) {
    this.#queueOf = queueOf;
    this.#rates = new GroupRates(queueOf);
  }

  get blockedCount(): number {
    return this.#blocked.size;
  }

  get all(): Iterable<Group> {
    return this.#byName.values();
  }

  find(name: string): Group | undefined {
    return this.#byName.get(name);
  }

  /** Adds what a start has read. Call `lease` for the leased items after that. */
  load({ group: name, place, count, first }: GroupCount): void {
    const group = this.#at(name);
    if (place === "scheduled") addOthers(group, { scheduled: count });
    if (place === "retried") addOthers(group, { retried: count, away: count });
    if (place !== "queued") return;
    group.waiting = count;
    setFirst(group, first);
  }

  #at(name: string): Group {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const group = newGroup(name);
    this.#byName.set(name, group);
    return group;
  }

  /** A ready item was added. */
  enter(name: string, at: GroupedAt, now: number): Group {
    const group = this.#at(name);
    group.waiting += 1;
    if (group.waiting === 1 || at.rank < group.firstRank) setFirst(group, at);
    this.#place(group, now);
    return group;
  }

  /** A ready item was removed without being leased. */
  exit(name: string, rank: number, now: number): void {
    const group = this.#byName.get(name);
    if (group === undefined || group.waiting === 0) return;
    group.waiting -= 1;
    if (group.firstRank === rank) unknownFirst(group, rank + 1);
    this.#place(group, now);
  }

  setAside(name: string, place: "scheduled" | "retried", change: 1 | -1, now: number): Group {
    const group = this.#at(name);
    addOthers(group, { [place]: change, ...(place === "retried" && { away: change }) });
    this.#place(group, now);
    return group;
  }

  /** A ready item was leased, whether or not it was the first. */
  lease(
    name: string,
    item: { readonly rank: number; readonly attempts: number },
    now: number,
  ): void {
    const group = this.#at(name);
    group.waiting -= 1;
    group.leased += 1;
    if (isBack(item.attempts)) addOthers(group, { away: 1 });
    if (group.firstRank === item.rank) unknownFirst(group, item.rank + 1);
    this.#place(group, now);
  }

  /** A lease has ended; the item leaves, or enters again. */
  unlease(name: string, attempts: number, now: number): void {
    const group = this.#byName.get(name);
    if (group === undefined) return;
    group.leased -= 1;
    if (isBack(attempts)) addOthers(group, { away: -1 });
    this.#place(group, now);
  }

  /** A lease has ended whose item stays, to be removed by a clear. */
  giveBack(
    { group: name, rank }: { readonly group: string; readonly rank: number },
    attempts: number,
    now: number,
  ): void {
    const group = this.#at(name);
    group.waiting += 1;
    unknownFirst(group, Math.min(rank, group.firstRank));
    this.unlease(name, attempts, now);
  }

  /** The first ready item was read; `null` = there is none, whatever the count says. */
  found(group: Group, first: GroupedAt | null, now: number): void {
    if (first === null) group.waiting = 0;
    else setFirst(group, first);
    this.#place(group, now);
  }

  /** Serves the first item of a group; `next`: the one behind it, `null` = it has to be read. */
  serve(
    group: Group,
    { attempts, next, now }: Record<"attempts" | "now", number> & { next: GroupedAt | null },
  ): void {
    const { ring, firstRank } = group;
    group.waiting -= 1;
    group.leased += 1;
    if (isBack(attempts)) addOthers(group, { away: 1 });
    if (next === null) unknownFirst(group, firstRank + 1);
    else setFirst(group, next);
    this.#rates.spend(group.name, this.#rateOf(group), now);
    if (ring !== null) {
      ring.served += 1;
      if (ring.served >= this.#weightOf(group)) this.#rings.leave(group);
    }
    this.#place(group, now);
  }

  /** Replaces what a group has of its own. */
  change(settings: GroupSettings, now: number): void {
    const { group: name } = settings;
    if (groupText(settings) === "") this.settings.delete(name);
    else this.settings.set(name, settings);
    const group = this.#byName.get(name);
    if (group !== undefined) this.#place(group, now);
  }

  /** Call it before groups are selected: opens groups whose time has come, and lets them age. */
  advance(now: number): void {
    const queue = this.#queueOf();
    if (queue === undefined) return;
    const { groupLeasedMax, groupOrder, groupOnDead, groupRate } = queue.definition;
    const rules = JSON.stringify([groupLeasedMax, groupOrder, groupOnDead, groupRate]);
    const isFirst = this.#rules === "";
    if (rules !== this.#rules) {
      this.#rules = rules;
      const all = [...this.#byName.values()];
      // Turns begin with the group whose first item has waited longest.
      if (isFirst) all.sort((a, b) => a.firstRank - b.firstRank);
      for (const group of all) this.#place(group, now);
    }
    for (const name of this.#rates.due(now)) {
      const group = this.#byName.get(name);
      if (group !== undefined) this.#place(group, now);
    }
    if (queue.priorityAgingMs !== never) this.#rings.age(queue.priorityAgingMs, now);
  }

  /** Puts the group where its state belongs, at the end of its ring unless it is there. */
  #place(group: Group, now: number): void {
    const { ring } = group;
    if (group.waiting + group.leased === 0 && group.others === null) {
      if (ring !== null) this.#rings.leave(group);
      this.#byName.delete(group.name);
      this.#blocked.delete(group.name);
      return;
    }
    // Before the first turn there are no rules to go by.
    if (this.#rules === "") return;
    const block = group.waiting > 0 ? this.blockOf(group, now) : "empty";
    if (block === "paused" || block === "dead") this.#blocked.add(group.name);
    else this.#blocked.delete(group.name);
    if (block !== "") {
      if (ring !== null) this.#rings.leave(group);
      return;
    }
    const priority = this.#priorityOf(group);
    if (ring?.priority === priority) return;
    if (ring !== null) this.#rings.leave(group);
    this.#rings.join(group, priority, now);
  }

  /** The priority of its first item; -1 = unknown. */
  #priorityOf({ priority }: Group): number {
    return priority < 0 && this.#queueOf()?.levels.isPlain === true ? 0 : priority;
  }

  blockOf(group: Group, now: number): GroupBlock {
    const own = this.settings.get(group.name);
    const { groupOrder, groupOnDead } = this.#queueOf()?.definition ?? {};
    if (own?.paused === true) return "paused";
    if (own?.deadId !== undefined && groupOnDead === "block") return "dead";
    if (groupOrder === "strict" && (group.others?.away ?? 0) > 0) return "retry";
    const max = this.leasedMaxOf(group);
    if (max > 0 && group.leased >= max) return "leased_max";
    return this.#rates.left(group.name, this.#rateOf(group), now) > 0 ? "" : "rate";
  }

  /** 0 = no limit. */
  leasedMaxOf({ name }: Group): number {
    const own = this.settings.get(name)?.leasedMax ?? 0;
    return own > 0 ? own : (this.#queueOf()?.definition.groupLeasedMax ?? 0);
  }

  #rateOf({ name }: Group): string {
    return this.settings.get(name)?.rate ?? this.#queueOf()?.definition.groupRate ?? "";
  }

  #weightOf({ name }: Group): number {
    return this.settings.get(name)?.weight ?? 1;
  }

  /** When the rate of the group allows more; `null` = it does not limit now. */
  nextAt(name: string): number | null {
    return this.#rates.moreAt(name);
  }

  /** When the next group opens by itself; infinite = none does. */
  get openAt(): number {
    return this.#rates.openAt;
  }

  /**
   * The next group to serve for leases of at least this priority. `null` = none is open, or one of
   * an unknown priority may come first.
   */
  next(priorityMin: number): Group | null {
    return this.#rings.unread.first === null ? this.#rings.next(priorityMin) : null;
  }

  /** Whether `next` finds a group once those that it needs are read. */
  hasOpen(priorityMin: number): boolean {
    return this.#rings.unread.first !== null || this.#rings.next(priorityMin) !== null;
  }

  /** Whether a lease that has the group's only leased items may take more of them. */
  isSerial(group: Group): boolean {
    return this.leasedMaxOf(group) === 1;
  }

  /** Whether the run of a serial group may continue. */
  continues(group: Group, now: number): boolean {
    const isHeld = group.leased > 0 && group.waiting > 0 && this.isSerial(group);
    return isHeld && this.blockOf(group, now) === "leased_max" && this.#hasRate(group, now);
  }

  #hasRate(group: Group, now: number): boolean {
    return this.#rates.left(group.name, this.#rateOf(group), now) > 0;
  }

  /**
   * What to read so that up to `wanted` items can be served: a few more than will be. `runMax`: the
   * longest run of a group that one lease may take; 0 = none.
   */
  plan(
    wanted: number,
    { priorityMin, runMax, now }: Record<"priorityMin" | "runMax" | "now", number>,
  ): Servings {
    const servings = new Map<Group, number>();
    for (const group of firstOf([this.#rings.unread], limits.groupsReadMax)) servings.set(group, 1);
    let left = wanted;
    for (const take of this.#rings.levels(priorityMin)) {
      let round = take(left);
      while (left > 0 && round.length > 0) {
        round = round.filter((group) => {
          const has = servings.get(group) ?? 0;
          const count = Math.min(this.#weightOf(group), this.#mostOf(group, now) - has, left);
          if (count <= 0) return false;
          servings.set(group, has + count);
          left -= count;
          return true;
        });
      }
      if (left <= 0) return servings;
    }
    for (const [group, has] of runMax > 0 ? servings : []) {
      if (left <= 0 || !this.isSerial(group)) continue;
      const more = Math.min(left, Math.min(group.waiting, runMax) - has);
      servings.set(group, has + more);
      left -= more;
    }
    return servings;
  }

  /** Items of the group that its limits allow. */
  #mostOf(group: Group, now: number): number {
    const max = this.leasedMaxOf(group);
    const leasable = max === 0 ? group.waiting : Math.min(group.waiting, max - group.leased);
    return Math.min(leasable, this.#rates.left(group.name, this.#rateOf(group), now));
  }
}
