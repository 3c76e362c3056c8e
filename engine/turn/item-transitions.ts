// The transitions of items. Each changes memory and change set together, so that no item moves by half.
// Whether an item moves is decided in `lifecycle.ts` and by the callers.

import type { Item, ScheduledItem } from "../../stores/item.ts";
import { wakeAt } from "../../stores/item.ts";
import type { GroupPlace, Mark, Move, MoveDestination, SlotSeq } from "../../stores/store.ts";
import type { ItemEventKind } from "../model/api.ts";
import { assert } from "../model/assert.ts";
import { pending } from "../model/duration.ts";
import { groupKey, groupText } from "../model/group-settings.ts";
import type { Death, Fate } from "../model/lifecycle.ts";
import { expireDeadlineOf } from "../model/lifecycle.ts";
import { limits, type TurnLimits } from "../model/limits.ts";
import type { NewHistoryEvent, Target } from "../model/messages.ts";
import { partitionSlot, priorityOf, slotFor } from "../model/priority.ts";
import {
  groupIn,
  originIn,
  pastText,
  readPast,
  revivedPast,
  unrankedPast,
  writePast,
} from "../model/provenance.ts";
import type { Group, GroupedAt } from "../state/group.ts";
import type { Memory } from "../state/memory.ts";
import type { LeasedFields, LeaseRange, Partition } from "../state/partition.ts";
import type { ChangeSet } from "./change-set.ts";

/** The state that all steps of a turn work on. */
export interface StepContext {
  readonly shard: number;
  readonly memory: Memory;
  readonly changeSet: ChangeSet;
  /** The current time, by which the turn decides. */
  readonly now: number;
  /** The time that is stored for the arrival or move of an item. */
  readonly stamp: number;
  readonly limits: TurnLimits;
}

/** An item without a place; `append` and `schedule` give it one. */
export type Unplaced = Omit<Item, "slot" | "seq" | "queuedAt" | "early">;

/** The fields of a moved item at its new place. */
type Placing = Pick<Item, "createdAt" | "expireDeadline" | "attempts" | "past">;

/** An item that may leave its place. */
type Leaving = Pick<Mark, "seq" | "createdAt" | "expireDeadline" | "attempts" | "past"> & {
  /** The client whose lease ended. */
  readonly holder?: string;
};

/** A scheduled item that may leave its place. */
type LeavingAside = Leaving & Pick<ScheduledItem, "retried" | "dueAt">;

interface Departure {
  readonly what: ItemEventKind;
  readonly to: () => Move["to"];
}

const ungrouped = { past: "", joined: null };

/** Takes `count` consecutive numbers; returns the first. */
function nextSeq(partition: Partition, count = 1): number {
  const seq = partition.nextSeq;
  assert(seq + count - 1 <= limits.seqMax, "a partition ran out of sequence numbers");
  partition.nextSeq = seq + count;
  return seq;
}

/** Counts `count` equal items at the tail; returns whether they are early. */
function countIn(
  { memory, changeSet }: StepContext,
  partition: Partition,
  item: Pick<Item, "createdAt" | "expireDeadline">,
  count = 1,
): boolean {
  const { expireDeadline } = item;
  // In an empty partition no item is early. This also resets the maximum after `never`.
  if (partition.itemCount === 0) partition.expireDeadlineMax = 0;
  const early = expireDeadline < partition.expireDeadlineMax;
  if (early) {
    memory.addEarly(expireDeadline);
  } else {
    partition.expireDeadlineMax = expireDeadline;
    lowerFloor(memory, partition, expireDeadline);
  }
  partition.added(item.createdAt, count);
  touch(changeSet, partition, count);
  return early;
}

function countAside(
  { memory, changeSet }: StepContext,
  partition: Partition,
  item: Pick<ScheduledItem, "dueAt" | "retried" | "expireDeadline">,
): void {
  if (item.retried) partition.retriedCount += 1;
  else partition.scheduledCount += 1;
  partition.dueTimes.add(item.dueAt);
  memory.wakeFloor = Math.min(memory.wakeFloor, wakeAt(item));
  touch(changeSet, partition);
}

interface Joined extends GroupedAt {
  readonly group: Group;
}

/** Where an item enters its group. */
interface Entering extends SlotSeq {
  readonly past: string;
  readonly place: GroupPlace;
  /** It keeps the order that it had. */
  readonly keepsRank?: boolean;
}

/** Adds an item to its group, if its queue is grouped. Returns its `past`, with its order. */
function enterGroup(
  { memory, changeSet, now }: StepContext,
  partition: Partition,
  { past, place, slot, seq, keepsRank = false }: Entering,
): { readonly past: string; readonly joined: Joined | null } {
  if (partition.settings?.groups === undefined) {
    return { past: unrankedPast(past), joined: null };
  }
  const read = readPast(past);
  const { group: name = "", rank: before } = read;
  const rank = keepsRank && before !== undefined ? before : memory.nextRank();
  changeSet.group.push({ partition: partitionSlot(slot), group: name, place, rank, slot, seq });
  const groups = memory.groupsAt(slot);
  const group =
    place === "queued"
      ? groups.enter(name, { rank, slot, seq }, now)
      : groups.setAside(name, place, 1, now);
  const ranked = rank === before ? past : pastText({ ...read, rank });
  return { past: ranked, joined: { group, rank, slot, seq } };
}

/** Removes an item from its group. `holder`: present = its lease was just ended. */
function leaveGroup(
  { memory, changeSet, now }: StepContext,
  { slot }: Partition,
  { seq, past, holder }: Pick<Leaving, "seq" | "past" | "holder">,
  place: GroupPlace,
): void {
  const grouped = groupIn(past);
  if (grouped === null) return;
  changeSet.ungroup.push({ partition: partitionSlot(slot), ...grouped, place, slot, seq });
  const groups = memory.groupsAt(slot);
  if (place !== "queued") groups.setAside(grouped.group, place, -1, now);
  else if (holder === undefined) groups.exit(grouped.group, grouped.rank, now);
}

/** Counts the lease of an item that did not have its turn. */
export function holdInGroup(
  { memory, now }: StepContext,
  { slot, past, attempts }: Pick<Item, "slot" | "past" | "attempts">,
): void {
  const grouped = groupIn(past);
  if (grouped === null) return;
  memory.groupsAt(slot).lease(grouped.group, { rank: grouped.rank, attempts }, now);
}

/** Closes the group of an item that died, until it is opened by hand. */
function blockGroup(
  { memory, changeSet, now }: StepContext,
  { slot }: Partition,
  past: string,
  deadId: string,
): void {
  const { group = "" } = readPast(past);
  const groups = memory.groupsAt(slot);
  const settings = { ...groups.settings.get(group), group, deadId };
  groups.change(settings, now);
  changeSet.tasks.set(groupKey(slot, group), groupText(settings));
}

function touch(changeSet: ChangeSet, partition: Partition, count = 1): void {
  changeSet.touched.add(partition);
  changeSet.tallied.add(partition);
  changeSet.itemCount += count;
}

/** Appends items that are only texts; their common fields are decided once. */
export function appendTexts(
  context: StepContext,
  partition: Partition,
  texts: readonly string[],
  times: Pick<Item, "createdAt" | "expireDeadline">,
): void {
  if (texts.length === 0) return;
  const { slot } = partition;
  const { createdAt, expireDeadline } = times;
  const queuedAt = context.stamp;
  let seq = nextSeq(partition, texts.length);
  const early = countIn(context, partition, times, texts.length);
  const isGrouped = partition.settings?.groups !== undefined;
  for (const payload of texts) {
    const { past, joined } = isGrouped
      ? enterGroup(context, partition, { past: "", place: "queued", slot, seq })
      : ungrouped;
    const item: Item = {
      slot,
      seq,
      createdAt,
      queuedAt,
      expireDeadline,
      early,
      attempts: 0,
      kind: "",
      encoding: "",
      reference: "",
      sourceId: "",
      headers: "",
      past,
      payload,
    };
    context.changeSet.insert(item);
    if (joined !== null) context.changeSet.join(joined.group, { ...joined, item });
    seq += 1;
  }
}

/** Appends a ready item; the caller may lease it at once. */
export function append(context: StepContext, partition: Partition, item: Unplaced): Item {
  const seq = nextSeq(partition);
  const { slot } = partition;
  const { past, joined } = enterGroup(context, partition, {
    past: item.past,
    place: "queued",
    slot,
    seq,
  });
  const placed: Item = {
    slot,
    seq,
    createdAt: item.createdAt,
    queuedAt: context.stamp,
    expireDeadline: item.expireDeadline,
    early: countIn(context, partition, item),
    attempts: item.attempts,
    kind: item.kind,
    encoding: item.encoding,
    reference: item.reference,
    sourceId: item.sourceId,
    headers: item.headers,
    past,
    payload: item.payload,
  };
  context.changeSet.insert(placed);
  if (joined !== null) context.changeSet.join(joined.group, { ...joined, item: placed });
  return placed;
}

/** Writes a new item to the outbox, for a queue of another shard. */
export function send(
  { memory, changeSet }: StepContext,
  { shard, owner }: Target,
  item: Omit<Unplaced, "expireDeadline">,
  { priority, queuedAt }: { readonly priority: number; readonly queuedAt: number },
): void {
  const outboundSeq = memory.outbox.put(shard, owner);
  changeSet.sent.add(shard);
  changeSet.itemCount += 1;
  // It has no place here, but a slot implies its priority.
  const nowhere = { slot: slotFor(0, priority), seq: 0, early: false, expireDeadline: 0 };
  const route = { outboundSeq, targetShard: shard, targetOwner: owner };
  changeSet.send.push({ ...item, ...nowhere, queuedAt, ...route });
}

/** Records that an item of the partition expires at `floor`, unless the floor is already lower. */
export function lowerFloor(memory: Memory, partition: Partition, floor: number): void {
  if (floor >= partition.expireFloor) return;
  partition.expireFloor = floor;
  memory.floors.push({ floor, partition });
}

export function schedule(
  context: StepContext,
  partition: Partition,
  item: Unplaced,
  when: { readonly dueAt: number; readonly retried: boolean },
): ScheduledItem {
  const { slot } = partition;
  const seq = nextSeq(partition);
  const place = when.retried ? "retried" : "scheduled";
  const { past } = enterGroup(context, partition, { past: item.past, place, slot, seq });
  const placed: ScheduledItem = {
    ...item,
    ...{ slot, seq, past, queuedAt: context.stamp, early: false },
    ...when,
  };
  countAside(context, partition, placed);
  context.changeSet.schedule.push(placed);
  return placed;
}

/** Removes a ready item; for a leased one call `endLease` first. */
export function remove(
  context: StepContext,
  partition: Partition,
  item: Pick<Leaving, "seq" | "createdAt" | "past" | "holder">,
): void {
  const { changeSet } = context;
  partition.removed(item);
  if (item.past !== "") leaveGroup(context, partition, item, "queued");
  changeSet.removed.add(partition.slot, item.seq);
  touch(changeSet, partition);
}

export function unschedule(
  context: StepContext,
  partition: Partition,
  item: Pick<ScheduledItem, "seq" | "retried" | "dueAt" | "past">,
): void {
  const { changeSet } = context;
  partition.unscheduled(item);
  leaveGroup(context, partition, item, item.retried ? "retried" : "scheduled");
  changeSet.unscheduled.add(partition.slot, item.seq);
  touch(changeSet, partition);
}

/** Frees the key of an item that ends, if its queue reserves keys for unfinished items. */
export function endKey(
  context: StepContext,
  partition: Partition,
  item: Pick<Item, "seq" | "past">,
): void {
  if (partition.settings?.uniqueForMs === pending) freeKey(context, partition, item);
}

/** Frees the unique key of an item. It is stored under the place at which that was produced. */
export function freeKey(
  { memory, changeSet }: StepContext,
  { slot }: Partition,
  { seq, past }: Pick<Item, "seq" | "past">,
): void {
  const origin = originIn(past);
  const own = partitionSlot(slot);
  const { seqs, slots } = memory.placesOf(own, origin === undefined ? [] : [origin]);
  const [first = null] = seqs;
  if (first === null) changeSet.ununique.add(slot, seq);
  else changeSet.ununique.add(slots?.[0] ?? own, first);
}

/** Moves a damaged item, with all that is left of it, to quarantine. */
export function quarantine(
  context: StepContext,
  partition: Partition,
  item: Pick<Leaving, "seq" | "past" | "holder">,
): void {
  partition.removedDamaged(item.seq);
  leaveGroup(context, partition, item, "queued");
  countDamaged(context, partition, item);
}

function countDamaged(
  context: StepContext,
  partition: Partition,
  item: Pick<Item, "seq" | "past">,
): void {
  const { changeSet } = context;
  const { seq } = item;
  endKey(context, partition, item);
  changeSet.history?.add({ slot: partition.slot, seq, what: "damaged", by: "" });
  changeSet.quarantined.add(partition.slot, seq);
  changeSet.quarantinedCount += 1;
  touch(changeSet, partition);
}

/** Leases consecutive items, with no ready item between them. */
export function hold(
  { memory, changeSet, now }: StepContext,
  partition: Partition,
  items: readonly Item[],
  { leaseDeadline, holders }: { readonly leaseDeadline: number; readonly holders?: string[] },
): LeaseRange {
  const first = items[0];
  const last = items.at(-1);
  assert(first !== undefined && last !== undefined, "a lease needs an item");
  const { slot } = partition;
  const lease = { slot, first: first.seq, last: last.seq, leaseDeadline, leasedAt: now };
  const payloadBytes = items.reduce((sum, { payload }) => sum + payload.length, 0);
  const run = memory.hold(partition, lease, { items, payloadBytes, ...(holders && { holders }) });
  changeSet.lease(lease);
  changeSet.touched.add(partition);
  return run;
}

/** Gives some items of a run their later deadlines, and splits the run where deadlines differ. */
export function extendRun(
  context: StepContext,
  partition: Partition,
  run: LeaseRange,
  later: ReadonlyMap<number, number>,
): void {
  const { memory, changeSet } = context;
  let { leaseDeadline } = run.lease;
  let piece: (LeasedFields & Pick<Item, "seq">)[] = [];
  const endPiece = (): void => {
    const [first, last] = [piece[0], piece.at(-1)];
    if (first === undefined || last === undefined) return;
    const lease = { ...run.lease, first: first.seq, last: last.seq, leaseDeadline };
    const payloadBytes = run.payloadBytesMean * piece.length;
    const holders = piece.map(({ holder }) => holder);
    memory.hold(partition, lease, { items: piece, payloadBytes, holders });
    changeSet.lease(lease);
    piece = [];
  };
  for (const seq of run.seqs) {
    const held = partition.held.get(seq);
    if (held?.run !== run) continue;
    letGo(context, partition, seq, held);
    const deadline = later.get(seq) ?? run.lease.leaseDeadline;
    if (deadline !== leaseDeadline) endPiece();
    leaseDeadline = deadline;
    piece.push({ ...held, seq });
  }
  endPiece();
}

/** Ends the lease of one item, which stays in its place until `remove` or `move`. */
export function endLease(
  context: StepContext,
  partition: Partition,
  seq: number,
  held: LeasedFields,
): void {
  letGo(context, partition, seq, held);
  if (held.past === "") return;
  const grouped = groupIn(held.past);
  if (grouped === null) return;
  context.memory.groupsAt(partition.slot).unlease(grouped.group, held.attempts, context.now);
}

/** The last item that is let go ends the whole lease. */
function letGo(
  { changeSet }: StepContext,
  partition: Partition,
  seq: number,
  held: LeasedFields,
): void {
  partition.held.delete(seq);
  held.run.heldCount -= 1;
  changeSet.touched.add(partition);
  if (held.run.heldCount > 0) return;
  partition.runs.delete(held.run);
  changeSet.unlease(held.run.lease);
}

/** Ends all leases of the partition. */
export function endAllLeases(context: StepContext, partition: Partition): void {
  const { changeSet, memory, now } = context;
  for (const { past, attempts } of partition.held.values()) {
    const grouped = groupIn(past);
    if (grouped !== null) memory.groupsAt(partition.slot).giveBack(grouped, attempts, now);
  }
  for (const run of partition.runs) {
    run.heldCount = 0;
    changeSet.unlease(run.lease);
  }
  partition.runs.clear();
  partition.held.clear();
  changeSet.touched.add(partition);
}

/** Deletes an item that is not leased. */
export function removeForGood(
  context: StepContext,
  partition: Partition,
  item:
    | Pick<Leaving, "seq" | "createdAt" | "past" | "holder">
    | Pick<ScheduledItem, "seq" | "retried" | "dueAt" | "past">,
): void {
  const { slot } = partition;
  endKey(context, partition, item);
  if ("dueAt" in item) unschedule(context, partition, item);
  else remove(context, partition, item);
  context.changeSet.count(slot, "removed");
  context.changeSet.history?.add({ slot, seq: item.seq, what: "removed", by: "" });
}

/** The fate of an item and the event that caused it; `reason`: the text of a retry. */
interface Transition {
  readonly fate: Fate;
  readonly what: ItemEventKind;
  readonly reason?: string;
}

/** Applies a fate to a ready item, or to one whose lease was just ended. */
export function move(
  context: StepContext,
  partition: Partition,
  item: Leaving,
  transition: Transition,
): void {
  leave(context, partition, item, {
    what: transition.what,
    to: () => destination(context, partition, item, transition),
  });
}

/** `to` is called after the item has left its place. */
function leave(
  context: StepContext,
  partition: Partition,
  item: Leaving,
  { what, to: toOf }: Departure,
): void {
  const { slot } = partition;
  const { seq, holder: by = "" } = item;
  if (context.memory.isDamaged(slot, seq)) {
    quarantine(context, partition, item);
    return;
  }
  remove(context, partition, item);
  const to = toOf();
  context.changeSet.move({ slot, seq, from: "items", to });
  recordMove(context, { slot, seq, what, by }, to);
}

/** Records a move in the history, and the arrival if that is in another partition of the shard. */
function recordMove(
  { shard, changeSet: { history } }: StepContext,
  left: NewHistoryEvent,
  to: Move["to"],
): void {
  if (history === null) return;
  if (to === null) {
    history.add(left);
    history.add({ ...left, what: "discarded", by: "" });
  } else if (to.into === "outbox") {
    const { targetShard, outboundSeq } = to.item;
    history.add({ ...left, to: { shard: targetShard, slot: 0, seq: outboundSeq } });
  } else {
    const { slot, seq, past } = to.item;
    history.add({ ...left, to: { shard, slot, seq } });
    // Another priority is no other partition.
    if (partitionSlot(slot) === partitionSlot(left.slot)) return;
    history.add({ slot, seq, what: arrivalEvent(past), by: "" });
  }
}

/** The event for an item that arrives from another partition. */
export function arrivalEvent(past: string): ItemEventKind {
  const { death, redriven } = readPast(past);
  if (death !== undefined) return "dead";
  return redriven === undefined ? "produced" : "returned";
}

/** Moves a dead item to another queue as a new item, except for its provenance. */
export function revive(
  context: StepContext,
  partition: Partition,
  item: Leaving,
  target: Target,
): void {
  const { slot } = partition;
  const past = revivedPast(item.past, partition.idOf(item.seq));
  endKey(context, partition, item);
  const how = { past, sourceId: "" };
  leave(context, partition, item, {
    what: "redriven",
    to: () => {
      context.changeSet.count(slot, "redriven");
      return toQueue(context, { slot, seq: item.seq }, target, how);
    },
  });
}

/** Within the shard the move is in the same commit; to another shard it goes through the outbox. */
function toQueue(
  context: StepContext,
  { slot, seq }: SlotSeq,
  { shard: targetShard, owner: targetOwner }: Target,
  { past, sourceId }: { readonly past: string; readonly sourceId: string },
): MoveDestination {
  const { memory, changeSet, now, stamp } = context;
  const placing = { createdAt: stamp, attempts: 0, past };
  if (targetShard === context.shard) {
    const home = memory.rules.homeOf(targetOwner, priorityOf(slot));
    assert(home !== null, "an item goes to a queue that is not there");
    const partition = memory.partition(home);
    const { settings } = partition;
    assert(settings !== null, "an item goes to a partition that no queue has");
    changeSet.count(home, "arrived");
    const expireDeadline = expireDeadlineOf(settings, now);
    const entering = { ...placing, expireDeadline };
    const to = appendDestination(context, partition, entering, { sourceId, keepsRank: false });
    // The next item of this turn may go to another partition.
    memory.updateLoad(partition);
    return to;
  }
  const outboundSeq = memory.outbox.put(targetShard, targetOwner);
  changeSet.sent.add(targetShard);
  const place = { slot, seq, queuedAt: stamp, early: false, expireDeadline: 0, sourceId };
  const route = { outboundSeq, targetShard, targetOwner };
  const unranked = { ...placing, past: unrankedPast(past) };
  return { into: "outbox", item: { ...place, ...unranked, ...route } };
}

/** Applies a fate to a scheduled item. */
export function moveScheduled(
  context: StepContext,
  partition: Partition,
  item: LeavingAside,
  transition: Transition,
): void {
  leaveAside(context, partition, item, {
    what: transition.what,
    to: () => destination(context, partition, item, transition),
  });
}

/** `to` is called after the item has left its place. */
function leaveAside(
  context: StepContext,
  partition: Partition,
  item: LeavingAside,
  { what, to: toOf }: Departure,
): void {
  const { slot } = partition;
  const { seq } = item;
  if (context.memory.isDamaged(slot, seq)) {
    partition.unscheduled(item);
    leaveGroup(context, partition, item, item.retried ? "retried" : "scheduled");
    countDamaged(context, partition, item);
    return;
  }
  unschedule(context, partition, item);
  const to = toOf();
  context.changeSet.move({ slot, seq, from: "scheduled", to });
  recordMove(context, { slot, seq, what, by: "" }, to);
}

/** Gives an item that is not leased another priority: it moves to the slot of that. */
export function prioritize(
  context: StepContext,
  partition: Partition,
  item: Leaving | LeavingAside,
  priority: number,
): void {
  const target = context.memory.partition(slotFor(partitionSlot(partition.slot), priority));
  // Before the move: its queue is to know the priority when the item enters its group.
  context.memory.updateLoad(target);
  const { attempts } = item;
  const past = writePast(item.past, partition.idOf(item.seq), {});
  const placing = { ...placingOf(item), attempts, past };
  const what = "prioritized";
  if ("dueAt" in item) {
    const to = () => asideDestination(context, target, placing, item);
    leaveAside(context, partition, item, { what, to });
  } else {
    const how = { sourceId: null, keepsRank: true };
    const to = () => appendDestination(context, target, placing, how);
    leave(context, partition, item, { what, to });
  }
}

function destination(
  context: StepContext,
  partition: Partition,
  item: Leaving & { readonly retried?: boolean },
  { fate, what, reason }: Transition,
): Move["to"] {
  const id = partition.idOf(item.seq);
  const said = reason === undefined ? {} : { reason };
  if (fate.to === "dead") {
    const { death, attempts } = fate;
    const createdAt = readPast(item.past).createdAt ?? item.createdAt;
    endKey(context, partition, item);
    const { groups } = partition.settings ?? {};
    if (groups?.isBlockedByDead === true) {
      blockGroup(context, partition, item.past, readPast(item.past).origin ?? id);
    }
    const past = writePast(item.past, id, {
      ...said,
      ...{ death, attempts, createdAt, queue: partition.settings?.queue ?? "" },
    });
    return deadLetterDestination(context, partition, { ...item, past }, { death, id });
  }
  const written = writePast(item.past, id, said);
  const placing = { ...placingOf(item), attempts: fate.attempts, past: written };
  if (fate.to === "queue") {
    const isBack = item.holder !== undefined || item.retried === true;
    const isKept = isBack && partition.settings?.groups?.isStrict === true;
    const keepsRank = what === "released" || isKept;
    return appendDestination(context, partition, placing, { sourceId: null, keepsRank });
  }
  return asideDestination(context, partition, placing, { dueAt: fate.dueAt, retried: true });
}

function asideDestination(
  context: StepContext,
  partition: Partition,
  placing: Placing,
  { dueAt, retried }: Pick<ScheduledItem, "dueAt" | "retried">,
): MoveDestination {
  const when = { dueAt, retried };
  countAside(context, partition, { ...placing, ...when });
  const seq = nextSeq(partition);
  const { slot } = partition;
  const where = { place: retried ? "retried" : "scheduled", slot, seq, keepsRank: true } as const;
  const { past } = enterGroup(context, partition, { past: placing.past, ...where });
  const place = { slot, seq, past, queuedAt: context.stamp, early: false, sourceId: null };
  return { into: "scheduled", item: { ...placing, ...place, ...when } };
}

/** Leaves out the other fields of a mark. */
function placingOf({ createdAt, expireDeadline }: Placing): Omit<Placing, "attempts" | "past"> {
  return { createdAt, expireDeadline };
}

function appendDestination(
  context: StepContext,
  partition: Partition,
  placing: Placing,
  { sourceId, keepsRank }: { readonly sourceId: string | null; readonly keepsRank: boolean },
): MoveDestination {
  const early = countIn(context, partition, placing);
  const seq = nextSeq(partition);
  const { slot } = partition;
  const how = { past: placing.past, place: "queued", slot, seq, keepsRank } as const;
  const { past, joined } = enterGroup(context, partition, how);
  if (joined !== null) context.changeSet.join(joined.group, null);
  const place = { slot, seq, past, queuedAt: context.stamp, early, sourceId };
  return { into: "items", item: { ...placing, ...place } };
}

/** The dead queue; `null` = the queue has none. */
function deadLetterDestination(
  context: StepContext,
  partition: Partition,
  { seq, past }: Leaving,
  { death, id: sourceId }: { readonly death: Death; readonly id: string },
): Move["to"] {
  const { changeSet } = context;
  const { origin, reason } = readPast(past);
  if (reason !== undefined) changeSet.diedOf(partition.slot, reason);
  if (death === "expired") changeSet.count(partition.slot, "expired");
  const dead = partition.settings?.dead ?? null;
  if (dead === null) {
    changeSet.discard(partition.slot, origin ?? sourceId);
    return null;
  }
  changeSet.count(partition.slot, "dead");
  return toQueue(context, { slot: partition.slot, seq }, dead, { past, sourceId });
}
