// Grants the items of grouped queues to the waiting leases, from group to group in turn. The one
// read of the turn has the first items of the groups that it may serve. A group whose first item was
// not read ends the grants, so that the order is exact; the next turn reads it.

import type { Item } from "../../stores/item.ts";
import { expire, hasExpired } from "../model/lifecycle.ts";
import { partitionSlot } from "../model/priority.ts";
import type { Group } from "../state/group.ts";
import type { Groups } from "../state/groups.ts";
import type { LogicalQueue, WaitingLease } from "../state/queue.ts";
import { move, quarantine } from "../turn/item-transitions.ts";
import type { ReadPlanner, Turn } from "../turn/turn-context.ts";
import { type FirstItem, FirstItems } from "./first-items.ts";
import { LeaseWriter, type ServedLease, shares, wantedBy } from "./lease.ts";

/** Leased items that may lie between the ready ones of a group; if there are more, turns follow. */
const heldBetween = 64;

/** The groups of a queue that is grouped, which has one partition. */
export function groupsOf({ memory }: Pick<Turn, "memory">, queue: LogicalQueue): Groups {
  return memory.groupsAt(queue.place(0).slot);
}

/** Reads the first items of the groups that may be served. Returns how many items that is. */
export function planGroups(
  planner: ReadPlanner,
  queue: LogicalQueue,
  { waiting, itemsMax }: { readonly waiting: Iterable<WaitingLease>; readonly itemsMax: number },
): number {
  const { memory, now } = planner;
  const groups = groupsOf(planner, queue);
  groups.advance(now);
  const { wanted, runMax } = wantedByPriority(
    mayFind(groups, waiting),
    Math.min(queue.itemsAllowed(now), itemsMax),
  );
  const counts = new Map<Group, number>();
  let sum = 0;
  for (const [priorityMin, count] of wanted) {
    sum += count;
    for (const [group, items] of groups.plan(count, { priorityMin, runMax, now })) {
      counts.set(group, Math.max(items, counts.get(group) ?? 0));
    }
  }
  const { slot } = queue.place(0);
  const isStrict = queue.definition.groupOrder === "strict";
  for (const [group, count] of counts) {
    const mayHold = isStrict || group.priority < 0;
    const items = count + (mayHold ? Math.min(group.leased, heldBetween) : 0);
    planner.groups.push({ partition: slot, group: group.name, from: group.firstRank, items });
  }
  if (counts.size > 0) for (const one of memory.partitionsAt(slot)) planFirst(planner, one);
  return sum;
}

/** Skips leases that no open group is for, so that they use up nothing of what a turn serves. */
function* mayFind(groups: Groups, leases: Iterable<WaitingLease>): Generator<WaitingLease> {
  for (const lease of leases) if (groups.hasOpen(lease.request.priorityMin ?? 0)) yield lease;
}

/** By the lowest priority that leases take, how many items they may get. */
function wantedByPriority(
  waiting: Iterable<WaitingLease>,
  itemsMax: number,
): { readonly wanted: ReadonlyMap<number, number>; readonly runMax: number } {
  const wanted = new Map<number, number>();
  let runMax = 0;
  let left = itemsMax;
  if (left <= 0) return { wanted, runMax };
  for (const { request } of waiting) {
    const { priorityMin = 0 } = request;
    const count = Math.min(request.batchSize, left);
    if (request.groupRuns === true) runMax = Math.max(runMax, count);
    wanted.set(priorityMin, (wanted.get(priorityMin) ?? 0) + count);
    left -= count;
    if (left <= 0) break;
  }
  return { wanted, runMax };
}

const firstPage = (slot: number): string => `first ${slot}`;

/** Ready items lie anywhere in a slot; its head tells how long the oldest has waited. */
function planFirst({ marks }: ReadPlanner, { slot, firstFrom, committedSeq }: Slot): void {
  if (firstFrom >= committedSeq) return;
  const limit = { items: 1, payloadBytes: Number.POSITIVE_INFINITY };
  marks.push({ name: firstPage(slot), slot, from: firstFrom, before: committedSeq, limit });
}

type Slot = ReturnType<Turn["memory"]["partition"]>;

/** Moves the head of a slot to the first item that was read, or behind it if that is leased. */
function noteFirst({ readResult, changeSet }: Turn, partition: Slot): void {
  const page = readResult.marks.get(firstPage(partition.slot));
  if (page === undefined) return;
  const [first] = page.found;
  const held = first === undefined ? undefined : partition.held.get(first.seq);
  const after = held === undefined ? first?.seq : held.run.lease.last + 1;
  changeSet.movesHead(partition);
  partition.head = Math.max(partition.head, after ?? partition.committedSeq);
}

/** Returns how many items it has granted. */
export function serveGroups(
  turn: Turn,
  queue: LogicalQueue,
  { leases, allowed }: { readonly leases: Iterable<WaitingLease>; readonly allowed: number },
): number {
  const { memory, now, limits } = turn;
  const partitions = memory.partitionsAt(queue.place(0).slot);
  for (const partition of partitions) noteFirst(turn, partition);
  const groups = groupsOf(turn, queue);
  groups.advance(now);
  const items = new FirstItems(turn, { groups, partition: partitionSlot(queue.place(0).slot) });
  // A clear removes items of all groups, in pieces; until it is done, any first one may be its.
  const isClearing = partitions.some(({ clearReadyBelow }) => clearReadyBelow > 0);
  if (isClearing || allowed <= 0 || !groups.hasOpen(0)) return 0;
  return new GroupLender(turn, groups, items).serve(
    upTo(mayFind(groups, leases), Math.min(allowed, limits.turnWeightMax)),
  );
}

/** The first leases, which ask for so many items together. */
function upTo(leases: Iterable<WaitingLease>, itemsMax: number): ServedLease[] {
  const asked: ServedLease[] = [];
  let left = itemsMax;
  for (const lease of leases) {
    const batchSize = Math.min(lease.request.batchSize, left);
    asked.push({ lease, batchSize });
    left -= batchSize;
    if (left <= 0) break;
  }
  return asked;
}

interface Picked {
  readonly group: Group;
  readonly item: Item;
}

class GroupLender {
  readonly #turn: Turn;
  readonly #groups: Groups;
  readonly #items: FirstItems;
  #payloadBytes: number;
  /** A group whose turn it is has to be read first. */
  #isBlocked = false;

  constructor(turn: Turn, groups: Groups, items: FirstItems) {
    this.#turn = turn;
    this.#groups = groups;
    this.#items = items;
    this.#payloadBytes = turn.limits.turnBytesMax;
  }

  /** Serves neighbours in the line that take the same priorities together. */
  serve(asked: readonly ServedLease[]): number {
    let granted = 0;
    // Leases that ask for this priority or a higher one find nothing.
    let without = Number.POSITIVE_INFINITY;
    for (let at = 0; at < asked.length && !this.#isBlocked; ) {
      const priorityMin = minOf(asked[at]);
      let end = at + 1;
      while (end < asked.length && minOf(asked[end]) === priorityMin) end += 1;
      const same = asked.slice(at, end);
      const picked = priorityMin < without ? this.#pick(wantedBy(same), priorityMin) : [];
      if (picked.length === 0) {
        without = Math.min(without, priorityMin);
        at = end;
        continue;
      }
      const given = this.#give(same, picked);
      granted += given.items;
      at += given.leases;
    }
    return granted;
  }

  /** Up to `wanted` items of one slot, from group to group. */
  #pick(wanted: number, priorityMin: number): Picked[] {
    const picked: Picked[] = [];
    while (picked.length < wanted) {
      const group = this.#groups.next(priorityMin);
      const slot = picked[0]?.item.slot;
      if (group === null) break;
      const first = this.#firstOf(group);
      if (first === "unknown") {
        this.#isBlocked = true;
        break;
      }
      if (first === "gone") continue;
      // A lease gets items of one priority.
      if (slot !== undefined && first.slot !== slot) break;
      picked.push(this.#take(group, first));
    }
    return picked;
  }

  /** `gone`: it was damaged or has expired, and is out of the way. */
  #firstOf(group: Group): FirstItem | "unknown" | "gone" {
    const first = this.#payloadBytes > 0 ? this.#items.first(group) : null;
    if (first === null) return "unknown";
    const { item, behind } = first;
    const isExpired = hasExpired(item, this.#turn.now);
    if (!(item.damaged || isExpired)) return first;
    const partition = this.#turn.memory.partition(first.slot);
    if (item.damaged) {
      quarantine(this.#turn, partition, item);
      this.#items.drop(group, first);
    } else move(this.#turn, partition, item, { fate: expire(item), what: "expired" });
    if (behind !== null) this.#groups.found(group, behind, this.#turn.now);
    return "gone";
  }

  #take(group: Group, { item, behind }: FirstItem): Picked {
    this.#payloadBytes -= item.payload.length;
    const { attempts } = item;
    this.#groups.serve(group, { attempts, next: behind, now: this.#turn.now });
    return { group, item };
  }

  /** Divides what was picked over the leases. Returns how many of them got items. */
  #give(
    asked: readonly ServedLease[],
    picked: readonly Picked[],
  ): Record<"items" | "leases", number> {
    const partition = this.#turn.memory.partition(picked[0]?.item.slot ?? 0);
    const holding = new LeaseWriter(this.#turn, partition);
    const given = { items: 0, leases: 0 };
    let start = 0;
    for (const [index, count] of shares(asked, picked.length).entries()) {
      if (count === 0) continue;
      const { lease, batchSize } = asked[index] as ServedLease;
      const some = picked.slice(start, start + count);
      start += count;
      const mayContinue = lease.request.groupRuns === true && picked.length < wantedBy(asked);
      if (mayContinue) this.#continueRuns(some, batchSize);
      const items = some.map(({ item }) => item);
      holding.give(lease, items, (at) => items[at - 1]?.seq !== (items[at] as Item).seq - 1);
      given.items += items.length;
      given.leases += 1;
    }
    holding.end();
    this.#turn.changeSet.itemCount += given.items;
    this.#turn.memory.updateLoad(partition);
    return given;
  }

  /** A lease with room takes the next items of its serial groups, which no other lease may take. */
  #continueRuns(picked: Picked[], batchSize: number): void {
    for (const { group, item } of [...picked]) {
      while (picked.length < batchSize && this.#groups.continues(group, this.#turn.now)) {
        const first = this.#items.first(group);
        const isFit = first !== null && first.slot === item.slot && this.#payloadBytes > 0;
        if (!isFit || first.item.damaged || hasExpired(first.item, this.#turn.now)) break;
        picked.push(this.#take(group, first));
      }
    }
  }
}

function minOf(served: ServedLease | undefined): number {
  return served?.lease.request.priorityMin ?? 0;
}
