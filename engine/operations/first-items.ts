// The first items of groups, as far as a turn has read or written them.

import type { Item } from "../../stores/item.ts";
import type { GroupedItem, GroupRow, Read } from "../../stores/store.ts";
import { hasExpired } from "../model/lifecycle.ts";
import type { Group, GroupedAt } from "../state/group.ts";
import type { Groups } from "../state/groups.ts";
import type { Turn } from "../turn/turn-context.ts";

/** The first ready item of a group. */
export interface FirstItem extends GroupedAt {
  readonly item: Read<Item>;
  /** The place of the one behind it; `null` = unknown, or there is none. */
  readonly behind: GroupedAt | null;
}

interface Rows {
  readonly rows: readonly GroupRow[];
  readonly isAll: boolean;
  /** Those before it have been leased, or are gone. */
  next: number;
}

export class FirstItems {
  readonly #turn: Turn;
  readonly #groups: Groups;
  readonly #partition: number;
  readonly #read = new Map<string, Rows>();
  /** By group, how many of its newcomers have been leased. */
  readonly #leased = new Map<Group, number>();

  constructor(
    turn: Turn,
    { groups, partition }: { readonly groups: Groups; readonly partition: number },
  ) {
    this.#turn = turn;
    this.#groups = groups;
    this.#partition = partition;
    for (const [index, head] of turn.groupHeads.entries()) {
      const read = turn.readResult.groups[index];
      if (head.partition !== partition || read === undefined) continue;
      const others = this.#read.get(head.group)?.rows.length ?? -1;
      // A list of groups reads first items as well.
      if (read.found.length <= others) continue;
      this.#read.set(head.group, { rows: read.found, isAll: read.isAll, next: 0 });
      const group = groups.find(head.group);
      if (group !== undefined && group.priority < 0) this.#learn(group);
    }
  }

  /** Finds out which item is the first. */
  #learn(group: Group): void {
    const { rows, isAll } = this.#read.get(group.name) as Rows;
    const first = this.#ready(group, 0);
    const { changeSet, now } = this.#turn;
    if (first !== null) this.#groups.found(group, first, now);
    else if (!isAll) group.firstRank = (rows.at(-1)?.rank ?? group.firstRank) + 1;
    else if (!changeSet.group.some((one) => this.#isOf(group, one))) {
      this.#groups.found(group, null, now);
    }
  }

  #isOf({ name }: Group, { partition, group }: GroupedItem): boolean {
    return partition === this.#partition && group === name;
  }

  /** The row of the first ready item, or of the one behind it; `null` = it was not read. */
  #ready(group: Group, behind: 0 | 1): GroupRow | null {
    const read = this.#read.get(group.name);
    if (read === undefined) return null;
    for (let at = read.next + behind; at < read.rows.length; at += 1) {
      const row = read.rows[at] as GroupRow;
      if (this.#isReady(group, row)) return row;
      if (behind === 0) read.next = at + 1;
    }
    return null;
  }

  #isReady(group: Group, row: GroupRow): boolean {
    const { memory, changeSet } = this.#turn;
    const { slot, seq, rank } = row;
    if (rank < group.firstRank || memory.partition(slot).held.has(seq)) return false;
    if (changeSet.hasLeft(slot, seq)) return false;
    // Its item was damaged, and set aside.
    if (row.item === null) this.drop(group, row);
    return row.item !== null;
  }

  /** Removes an item from its group, of which nothing but its row is certain. */
  drop({ name: group }: Group, { rank, slot, seq }: GroupedAt): void {
    const row = { partition: this.#partition, group, place: "queued" as const, rank, slot, seq };
    const { changeSet, now } = this.#turn;
    if (changeSet.ungroup.some((one) => one.rank === rank && one.group === group)) return;
    changeSet.ungroup.push(row);
    this.#groups.exit(group, rank, now);
  }

  /** `null` = the next turn has to read it. */
  first(group: Group): FirstItem | null {
    const row = this.#ready(group, 0);
    if (row?.rank !== group.firstRank) return this.#written(group);
    const { item, rank, slot, seq } = row;
    if (item == null) return null;
    return { rank, slot, seq, item, behind: this.#ready(group, 1) };
  }

  /** Items of this turn. */
  #written(group: Group): FirstItem | null {
    const newcomers = this.#turn.changeSet.newcomersOf(group);
    let at = this.#leased.get(group) ?? 0;
    while ((newcomers[at]?.rank ?? Number.POSITIVE_INFINITY) < group.firstRank) at += 1;
    this.#leased.set(group, at);
    const first = newcomers[at];
    if (first?.rank !== group.firstRank || hasExpired(first.item, this.#turn.now)) return null;
    return { ...first, item: { ...first.item, damaged: false }, behind: newcomers[at + 1] ?? null };
  }
}
