// The transitions of items. Each changes memory and draft together, so that no item moves by half.
// Whether an item moves is decided in `lifecycle.ts` and by the callers.

import type { Item, ScheduledItem } from "../../stores/item.ts";
import { wakeAt } from "../../stores/item.ts";
import type { Destination, Mark, Move, SlotSeq } from "../../stores/store.ts";
import type { What } from "../model/api.ts";
import { assert } from "../model/assert.ts";
import type { Death, Fate } from "../model/lifecycle.ts";
import { expireDeadlineOf } from "../model/lifecycle.ts";
import { limits, type TurnLimits } from "../model/limits.ts";
import type { Happening, Target } from "../model/messages.ts";
import { readPast, revivedPast, writePast } from "../model/past.ts";
import type { Memory } from "../state/memory.ts";
import type { Held, Partition, Run } from "../state/partition.ts";
import type { Draft } from "./draft.ts";

/** The state that all steps of a turn work on. */
export interface Scene {
  readonly shard: number;
  readonly memory: Memory;
  readonly draft: Draft;
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

/** Takes `count` consecutive numbers; returns the first. */
function nextSeq(partition: Partition, count = 1): number {
  const seq = partition.nextSeq;
  assert(seq + count - 1 <= limits.seqMax, "a partition ran out of sequence numbers");
  partition.nextSeq = seq + count;
  return seq;
}

/** Counts `count` equal items at the tail; returns whether they are early. */
function countIn(
  { memory, draft }: Scene,
  partition: Partition,
  item: Pick<Item, "createdAt" | "expireDeadline">,
  count = 1,
): boolean {
  const { expireDeadline } = item;
  // In an empty partition no item is early. This also resets the maximum after `never`.
  if (partition.itemCount === 0) partition.expireDeadlineMax = 0;
  const early = expireDeadline < partition.expireDeadlineMax;
  if (early) {
    memory.cameEarly(expireDeadline);
  } else {
    partition.expireDeadlineMax = expireDeadline;
    lowerFloor(memory, partition, expireDeadline);
  }
  partition.added(item.createdAt, count);
  touch(draft, partition, count);
  return early;
}

function countAside(
  { memory, draft }: Scene,
  partition: Partition,
  item: Pick<ScheduledItem, "dueAt" | "retried" | "expireDeadline">,
): void {
  if (item.retried) partition.retriedCount += 1;
  else partition.scheduledCount += 1;
  partition.dueTimes.add(item.dueAt);
  memory.wakeFloor = Math.min(memory.wakeFloor, wakeAt(item));
  touch(draft, partition);
}

function touch(draft: Draft, partition: Partition, count = 1): void {
  draft.touched.add(partition);
  draft.tallied.add(partition);
  draft.itemCount += count;
}

/** Appends items that are only texts; their common fields are decided once. */
export function appendTexts(
  scene: Scene,
  partition: Partition,
  texts: readonly string[],
  times: Pick<Item, "createdAt" | "expireDeadline">,
): void {
  if (texts.length === 0) return;
  const { slot } = partition;
  const { createdAt, expireDeadline } = times;
  const queuedAt = scene.stamp;
  let seq = nextSeq(partition, texts.length);
  const early = countIn(scene, partition, times, texts.length);
  for (const payload of texts) {
    scene.draft.insert({
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
      past: "",
      payload,
    });
    seq += 1;
  }
}

/** Appends a ready item; the caller may lease it at once. */
export function append(scene: Scene, partition: Partition, item: Unplaced): Item {
  const seq = nextSeq(partition);
  const placed: Item = {
    slot: partition.slot,
    seq,
    createdAt: item.createdAt,
    queuedAt: scene.stamp,
    expireDeadline: item.expireDeadline,
    early: countIn(scene, partition, item),
    attempts: item.attempts,
    kind: item.kind,
    encoding: item.encoding,
    reference: item.reference,
    sourceId: item.sourceId,
    headers: item.headers,
    past: item.past,
    payload: item.payload,
  };
  scene.draft.insert(placed);
  return placed;
}

/** Writes a new item to the outbox, for a queue of another shard. */
export function send(
  { memory, draft }: Scene,
  { shard, owner }: Target,
  item: Omit<Unplaced, "expireDeadline">,
  queuedAt: number,
): void {
  const outboundSeq = memory.outbox.put(shard, owner);
  draft.sent.add(shard);
  draft.itemCount += 1;
  const nowhere = { slot: 0, seq: 0, early: false, expireDeadline: 0 };
  const route = { outboundSeq, targetShard: shard, targetOwner: owner };
  draft.send.push({ ...item, ...nowhere, queuedAt, ...route });
}

/** Records that an item of the partition expires at `floor`, unless the floor is already lower. */
export function lowerFloor(memory: Memory, partition: Partition, floor: number): void {
  if (floor >= partition.expireFloor) return;
  partition.expireFloor = floor;
  memory.floors.push({ floor, partition });
}

export function schedule(
  scene: Scene,
  partition: Partition,
  item: Unplaced,
  when: { readonly dueAt: number; readonly retried: boolean },
): ScheduledItem {
  const place = { slot: partition.slot, seq: nextSeq(partition), queuedAt: scene.stamp };
  const placed: ScheduledItem = { ...item, ...place, early: false, ...when };
  countAside(scene, partition, placed);
  scene.draft.schedule.push(placed);
  return placed;
}

/** Removes a ready item; for a leased one call `letGo` first. */
export function remove(
  { draft }: Scene,
  partition: Partition,
  item: Pick<Item, "seq" | "createdAt">,
): void {
  partition.removed(item);
  draft.removed.add(partition.slot, item.seq);
  touch(draft, partition);
}

export function unschedule(
  { draft }: Scene,
  partition: Partition,
  item: Pick<ScheduledItem, "seq" | "retried" | "dueAt">,
): void {
  partition.unscheduled(item);
  draft.unscheduled.add(partition.slot, item.seq);
  touch(draft, partition);
}

/** Moves a damaged item, with all that is left of it, to quarantine. */
export function quarantine({ draft }: Scene, partition: Partition, seq: number): void {
  partition.removedDamaged(seq);
  countDamaged(draft, partition, seq);
}

function countDamaged(draft: Draft, partition: Partition, seq: number): void {
  draft.history?.add({ slot: partition.slot, seq, what: "damaged", by: "" });
  draft.quarantined.add(partition.slot, seq);
  draft.quarantinedCount += 1;
  touch(draft, partition);
}

/** Leases consecutive items, with no ready item between them. */
export function hold(
  { memory, draft, now }: Scene,
  partition: Partition,
  items: readonly Item[],
  { leaseDeadline, holders }: { readonly leaseDeadline: number; readonly holders?: string[] },
): Run {
  const first = items[0];
  const last = items.at(-1);
  assert(first !== undefined && last !== undefined, "a lease needs an item");
  const { slot } = partition;
  const lease = { slot, first: first.seq, last: last.seq, leaseDeadline, leasedAt: now };
  const payloadBytes = items.reduce((sum, { payload }) => sum + payload.length, 0);
  const run = memory.hold(partition, lease, { items, payloadBytes, ...(holders && { holders }) });
  draft.lease(lease);
  draft.touched.add(partition);
  return run;
}

/** Extends some items of a run, and splits the run where the deadlines then differ. */
export function extendRun(
  scene: Scene,
  partition: Partition,
  run: Run,
  items: readonly Pick<Item, "seq">[],
  leaseDeadline: number,
): void {
  const { memory, draft } = scene;
  const extended = new Set(items.map(({ seq }) => seq));
  let isLater = false;
  let piece: (Held & Pick<Item, "seq">)[] = [];
  const endPiece = (): void => {
    const [first, last] = [piece[0], piece.at(-1)];
    if (first === undefined || last === undefined) return;
    const later = isLater ? { leaseDeadline } : {};
    const lease = { ...run.lease, first: first.seq, last: last.seq, ...later };
    const payloadBytes = run.payloadBytesMean * piece.length;
    const holders = piece.map(({ holder }) => holder);
    memory.hold(partition, lease, { items: piece, payloadBytes, holders });
    draft.lease(lease);
    piece = [];
  };
  for (const seq of run.seqs) {
    const held = partition.held.get(seq);
    if (held?.run !== run) continue;
    letGo(scene, partition, seq, held);
    if (extended.has(seq) !== isLater) endPiece();
    isLater = extended.has(seq);
    piece.push({ ...held, seq });
  }
  endPiece();
}

/** Ends the lease of one item, which stays in its place. The last one ends the whole lease. */
export function letGo({ draft }: Scene, partition: Partition, seq: number, held: Held): void {
  partition.held.delete(seq);
  held.run.heldCount -= 1;
  draft.touched.add(partition);
  if (held.run.heldCount > 0) return;
  partition.runs.delete(held.run);
  draft.unlease(held.run.lease);
}

/** Ends all leases of the partition. */
export function letGoAll({ draft }: Scene, partition: Partition): void {
  for (const run of partition.runs) {
    run.heldCount = 0;
    draft.unlease(run.lease);
  }
  partition.runs.clear();
  partition.held.clear();
  draft.touched.add(partition);
}

/** Deletes an item that is not leased. */
export function removeForGood(
  scene: Scene,
  partition: Partition,
  item: Pick<Item, "seq" | "createdAt"> | Pick<ScheduledItem, "seq" | "retried" | "dueAt">,
): void {
  const { slot } = partition;
  if ("dueAt" in item) unschedule(scene, partition, item);
  else remove(scene, partition, item);
  scene.draft.count(slot, "removed");
  scene.draft.history?.add({ slot, seq: item.seq, what: "removed", by: "" });
}

/** The fate of an item and the event that caused it; `reason`: the text of a retry. */
interface Parting {
  readonly fate: Fate;
  readonly what: What;
  readonly reason?: string;
}

/** Applies a fate to a ready item, or to one whose lease was just ended. */
export function move(scene: Scene, partition: Partition, item: Leaving, parting: Parting): void {
  leave(scene, partition, item, {
    what: parting.what,
    to: () => destination(scene, partition, item, parting),
  });
}

/** `to` is called after the item has left its place. */
function leave(
  scene: Scene,
  partition: Partition,
  item: Leaving,
  { what, to: toOf }: { readonly what: What; readonly to: () => Move["to"] },
): void {
  const { slot } = partition;
  const { seq, holder: by = "" } = item;
  if (scene.memory.isSpoilt(slot, seq)) {
    quarantine(scene, partition, seq);
    return;
  }
  remove(scene, partition, item);
  const to = toOf();
  scene.draft.move({ slot, seq, from: "items", to });
  recordMove(scene, { slot, seq, what, by }, to);
}

/** Records a move in the history, and the arrival if that is in another partition of the shard. */
function recordMove({ shard, draft: { history } }: Scene, left: Happening, to: Move["to"]): void {
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
    if (slot !== left.slot) history.add({ slot, seq, what: cameAs(past), by: "" });
  }
}

/** The event for an item that arrives from another partition. */
export function cameAs(past: string): What {
  const { death, redriven } = readPast(past);
  if (death !== undefined) return "dead";
  return redriven === undefined ? "produced" : "returned";
}

/** Moves a dead item to another queue as a new item, except for its provenance. */
export function revive(scene: Scene, partition: Partition, item: Leaving, target: Target): void {
  const { slot } = partition;
  const past = revivedPast(item.past, partition.idOf(item.seq));
  const how = { past, sourceId: "" };
  leave(scene, partition, item, {
    what: "redriven",
    to: () => {
      scene.draft.count(slot, "redriven");
      return toQueue(scene, { slot, seq: item.seq }, target, how);
    },
  });
}

/** Within the shard the move is in the same commit; to another shard it goes through the outbox. */
function toQueue(
  scene: Scene,
  { slot, seq }: SlotSeq,
  { shard: targetShard, owner: targetOwner }: Target,
  { past, sourceId }: { readonly past: string; readonly sourceId: string },
): Destination {
  const { memory, draft, now, stamp } = scene;
  const placing = { createdAt: stamp, attempts: 0, past };
  if (targetShard === scene.shard) {
    const home = memory.rules.homeOf(targetOwner);
    assert(home !== null, "an item goes to a queue that is not there");
    const partition = memory.partition(home);
    const { settings } = partition;
    assert(settings !== null, "an item goes to a partition that no queue has");
    draft.count(home, "arrived");
    const expireDeadline = expireDeadlineOf(settings, now);
    const to = appendDestination(scene, partition, { ...placing, expireDeadline }, sourceId);
    // The next item of this turn may go to another partition.
    memory.tellQueue(partition);
    return to;
  }
  const outboundSeq = memory.outbox.put(targetShard, targetOwner);
  draft.sent.add(targetShard);
  const place = { slot, seq, queuedAt: stamp, early: false, expireDeadline: 0, sourceId };
  const route = { outboundSeq, targetShard, targetOwner };
  return { into: "outbox", item: { ...place, ...placing, ...route } };
}

/** Applies a fate to a scheduled item. */
export function moveScheduled(
  scene: Scene,
  partition: Partition,
  item: Leaving & Pick<ScheduledItem, "retried" | "dueAt">,
  parting: Parting,
): void {
  const { slot } = partition;
  if (scene.memory.isSpoilt(slot, item.seq)) {
    partition.unscheduled(item);
    countDamaged(scene.draft, partition, item.seq);
    return;
  }
  unschedule(scene, partition, item);
  const to = destination(scene, partition, item, parting);
  const { seq } = item;
  scene.draft.move({ slot, seq, from: "scheduled", to });
  recordMove(scene, { slot, seq, what: parting.what, by: "" }, to);
}

function destination(
  scene: Scene,
  partition: Partition,
  item: Leaving,
  { fate, reason }: Parting,
): Move["to"] {
  const id = partition.idOf(item.seq);
  const said = reason === undefined ? {} : { reason };
  if (fate.to === "dead") {
    const { death, attempts } = fate;
    const createdAt = readPast(item.past).createdAt ?? item.createdAt;
    const past = writePast(item.past, id, {
      ...said,
      ...{ death, attempts, createdAt, queue: partition.settings?.queue ?? "" },
    });
    return deadLetterDestination(scene, partition, { ...item, past }, { death, id });
  }
  const past = writePast(item.past, id, said);
  const placing = { ...placingOf(item), attempts: fate.attempts, past };
  if (fate.to === "queue") return appendDestination(scene, partition, placing, null);
  const when = { dueAt: fate.dueAt, retried: true };
  countAside(scene, partition, { ...placing, ...when });
  const seq = nextSeq(partition);
  const place = { slot: partition.slot, seq, queuedAt: scene.stamp, early: false, sourceId: null };
  return { into: "scheduled", item: { ...place, ...placing, ...when } };
}

/** Leaves out the other fields of a mark. */
function placingOf({ createdAt, expireDeadline }: Placing): Omit<Placing, "attempts" | "past"> {
  return { createdAt, expireDeadline };
}

function appendDestination(
  scene: Scene,
  partition: Partition,
  placing: Placing,
  sourceId: string | null,
): Destination {
  const early = countIn(scene, partition, placing);
  const seq = nextSeq(partition);
  const place = { slot: partition.slot, seq, queuedAt: scene.stamp, early, sourceId };
  return { into: "items", item: { ...place, ...placing } };
}

/** The dead queue; `null` = the queue has none. */
function deadLetterDestination(
  scene: Scene,
  partition: Partition,
  { seq, past }: Leaving,
  { death, id: sourceId }: { readonly death: Death; readonly id: string },
): Move["to"] {
  const { draft } = scene;
  const { origin, reason } = readPast(past);
  if (reason !== undefined) draft.diedOf(partition.slot, reason);
  if (death === "expired") draft.count(partition.slot, "expired");
  const dead = partition.settings?.dead ?? null;
  if (dead === null) {
    draft.discard(partition.slot, origin ?? sourceId);
    return null;
  }
  draft.count(partition.slot, "dead");
  return toQueue(scene, { slot: partition.slot, seq }, dead, { past, sourceId });
}
