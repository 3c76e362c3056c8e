// What memory has of a group: its counts, its first item, and its place among the others. There may
// be millions, so it has no field that another implies.

import { priorityOf } from "../model/priority.ts";

/** The place of an item in its group. */
export interface GroupedAt {
  readonly rank: number;
  readonly slot: number;
  readonly seq: number;
}

export interface Group {
  readonly name: string;
  /** Ready items. */
  waiting: number;
  leased: number;
  /** `null` = all are 0. */
  others: OtherItems | null;
  /** No ready item has a lower rank. */
  firstRank: number;
  /** That of the first ready item; -1 = it has to be read. */
  priority: number;
  /** Since when it waits in its ring, as an instant that no other group of the queue has. */
  since: number;
  ring: Ring | null;
  previous: Group | null;
  next: Group | null;
}

interface OtherItems {
  scheduled: number;
  retried: number;
  /** Items that came back, by a retry or a lapse, and are leased again or set aside. */
  away: number;
}

/** Groups of one priority that have reached one level, in order of their turns. */
export interface Ring {
  readonly priority: number;
  readonly level: number;
  first: Group | null;
  last: Group | null;
  /** Items that the first group was served since its turn began. */
  served: number;
}

export function newGroup(name: string): Group {
  return {
    name,
    waiting: 0,
    leased: 0,
    others: null,
    firstRank: 0,
    priority: -1,
    since: 0,
    ring: null,
    previous: null,
    next: null,
  };
}

export const noOthers: Readonly<OtherItems> = { scheduled: 0, retried: 0, away: 0 };

export function addOthers(group: Group, change: Partial<OtherItems>): void {
  const before = group.others ?? noOthers;
  const scheduled = before.scheduled + (change.scheduled ?? 0);
  const retried = before.retried + (change.retried ?? 0);
  const away = before.away + (change.away ?? 0);
  group.others = scheduled || retried || away ? { scheduled, retried, away } : null;
}

export function setFirst(group: Group, { rank, slot }: Pick<GroupedAt, "rank" | "slot">): void {
  group.firstRank = rank;
  group.priority = priorityOf(slot);
}

/** The first ready item has to be read; no rank is lower than `from`. */
export function unknownFirst(group: Group, from: number): void {
  group.firstRank = from;
  group.priority = -1;
}
