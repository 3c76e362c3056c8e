// The few ways in which an item can move, each as one step that changes memory
// and draft together. Whether an item moves is decided in `lifecycle.ts` and by
// the callers; here only that nothing is moved by half.

import type { Item, ScheduledItem } from "../../stores/item.ts";
import { wakeAt } from "../../stores/item.ts";
import type { Destination, Mark, Move, ScheduledMark } from "../../stores/store.ts";
import { assert } from "../assert.ts";
import { formatId } from "../ids.ts";
import type { Death, Fate } from "../lifecycle.ts";
import { expireDeadlineOf } from "../lifecycle.ts";
import { limits, type TurnLimits } from "../limits.ts";
import type { Draft } from "./draft.ts";
import type { Memory } from "./memory.ts";
import type { Held, Partition, Run } from "./partition.ts";

/** What every step of a turn works on. */
export interface Scene {
  /** This shard's number. */
  readonly shard: number;
  readonly memory: Memory;
  readonly draft: Draft;
  /** What is decided by. */
  readonly now: number;
  /** What is written down as when an item came or moved. */
  readonly stamp: number;
  readonly limits: TurnLimits;
}

/** An item without a place; `append` and `schedule` give it one. */
export type Unplaced = Omit<Item, "slot" | "seq" | "queuedAt" | "early">;

/** What it takes to give an item a place. */
type Placing = Pick<Item, "createdAt" | "expireDeadline" | "attempts">;

/** An item that may leave its place. */
type Leaving = Pick<Mark, "seq" | "createdAt" | "expireDeadline" | "attempts">;

function nextSeq(partition: Partition): number {
  const seq = partition.nextSeq;
  assert(seq <= limits.seqMax, "a partition ran out of sequence numbers");
  partition.nextSeq = seq + 1;
  return seq;
}

/** Counts in an item at the tail; whether it is an early one. */
function countIn({ memory, draft }: Scene, partition: Partition, item: Placing): boolean {
  const { expireDeadline } = item;
  // Behind nothing, nothing is early: a queue whose items once never expired forgets it here.
  if (partition.itemCount === 0) partition.expireDeadlineMax = 0;
  const early = expireDeadline < partition.expireDeadlineMax;
  if (early) {
    memory.cameEarly(expireDeadline);
  } else {
    partition.expireDeadlineMax = expireDeadline;
    lowerFloor(memory, partition, expireDeadline);
  }
  partition.added(item.createdAt);
  touch(draft, partition);
  return early;
}

function countAside(
  { memory, draft }: Scene,
  partition: Partition,
  item: Pick<ScheduledItem, "dueAt" | "retried" | "expireDeadline">,
): void {
  if (item.retried) partition.retriedCount += 1;
  else partition.scheduledCount += 1;
  memory.wakeFloor = Math.min(memory.wakeFloor, wakeAt(item));
  touch(draft, partition);
}

function touch(draft: Draft, partition: Partition): void {
  draft.touched.add(partition);
  draft.tallied.add(partition);
  draft.itemCount += 1;
}

/** Writes a new item at the tail, ready, or held when the caller leases it at once. */
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
    payload: item.payload,
  };
  scene.draft.insert(placed);
  return placed;
}

/** Writes a new item into the outbox, for a partition of another shard. */
export function send(
  { memory, draft }: Scene,
  { shard, slot }: { readonly shard: number; readonly slot: number },
  item: Unplaced,
  queuedAt: number,
): void {
  const outboundSeq = memory.outbox.put(shard, slot);
  draft.sent.add(shard);
  draft.itemCount += 1;
  const nowhere = { slot: 0, seq: 0, early: false };
  const route = { outboundSeq, targetShard: shard, targetSlot: slot };
  draft.send.push({ ...item, ...nowhere, queuedAt, ...route });
}

/** Notes that an item of the partition expires at `floor`, unless an earlier one is noted already. */
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

/** Takes a ready item out; `letGo` comes first where it is held. */
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
  item: Pick<ScheduledItem, "seq" | "retried">,
): void {
  partition.unscheduled(item);
  draft.unscheduled.add(partition.slot, item.seq);
  touch(draft, partition);
}

/** Sets a damaged item aside, with all that is left of it; once, however often a turn comes to it. */
export function quarantine({ draft }: Scene, partition: Partition, seq: number): void {
  if (draft.quarantined.has(partition.slot, seq)) return;
  partition.removedDamaged(seq);
  countDamaged(draft, partition, seq);
}

function countDamaged(draft: Draft, partition: Partition, seq: number): void {
  draft.quarantined.add(partition.slot, seq);
  draft.quarantinedCount += 1;
  touch(draft, partition);
}

/** Leases items that lie one behind the other, with no ready item between them. */
export function hold(
  { memory, draft, now }: Scene,
  partition: Partition,
  items: readonly Item[],
  leaseDeadline: number,
): Run {
  const first = items[0];
  const last = items.at(-1);
  assert(first !== undefined && last !== undefined, "a lease needs an item");
  const { slot } = partition;
  const lease = { slot, first: first.seq, last: last.seq, leaseDeadline, leasedAt: now };
  const payloadBytes = items.reduce((sum, { payload }) => sum + payload.length, 0);
  const run = memory.hold(partition, lease, { items, payloadBytes });
  draft.lease(lease);
  draft.touched.add(partition);
  return run;
}

/** Some of what a run holds gets a later deadline; the run is cut where neighbours then differ. */
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
    memory.hold(partition, lease, { items: piece, payloadBytes });
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

/** Ends the hold on one item; its lease goes with the last. The item itself stays. */
export function letGo({ draft }: Scene, partition: Partition, seq: number, held: Held): void {
  partition.held.delete(seq);
  held.run.heldCount -= 1;
  draft.touched.add(partition);
  if (held.run.heldCount > 0) return;
  partition.runs.delete(held.run);
  draft.unlease(held.run.lease);
}

/** Does with a ready item, or one that was just let go, what was decided. */
export function move(scene: Scene, partition: Partition, item: Leaving, fate: Fate): void {
  const { slot } = partition;
  if (scene.memory.isSpoilt(slot, item.seq)) {
    quarantine(scene, partition, item.seq);
    return;
  }
  remove(scene, partition, item);
  const to = destination(scene, partition, item, fate);
  scene.draft.move({ slot, seq: item.seq, from: "items", to });
}

/** The same with a scheduled item. */
export function moveScheduled(
  scene: Scene,
  partition: Partition,
  item: ScheduledMark,
  fate: Fate,
): void {
  const { slot } = partition;
  if (scene.memory.isSpoilt(slot, item.seq)) {
    partition.unscheduled(item);
    countDamaged(scene.draft, partition, item.seq);
    return;
  }
  unschedule(scene, partition, item);
  const to = destination(scene, partition, item, fate);
  scene.draft.move({ slot, seq: item.seq, from: "scheduled", to });
}

function destination(scene: Scene, partition: Partition, item: Leaving, fate: Fate): Move["to"] {
  if (fate.to === "dead") return grave(scene, partition, item, fate.death);
  const placing = { ...placingOf(item), attempts: fate.attempts };
  if (fate.to === "queue") return tail(scene, partition, placing, null);
  const when = { dueAt: fate.dueAt, retried: true };
  countAside(scene, partition, { ...placing, ...when });
  const seq = nextSeq(partition);
  const place = { slot: partition.slot, seq, queuedAt: scene.stamp, early: false, sourceId: null };
  return { into: "scheduled", item: { ...place, ...placing, ...when } };
}

/** All that a mark says beyond it stays behind. */
function placingOf({ createdAt, expireDeadline, attempts }: Placing): Placing {
  return { createdAt, expireDeadline, attempts };
}

function tail(
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

/**
 * The dead queue, or nowhere when there is none. In the same shard that is part of the
 * same commit; to another shard it goes through an outbox, which keeps it until that
 * shard has it.
 */
function grave(scene: Scene, partition: Partition, item: Leaving, death: Death): Move["to"] {
  const { memory, draft, now, stamp } = scene;
  if (death === "expired") draft.event(partition.slot, "expired");
  const sourceId = formatId(partition.idPrefix, item.seq);
  const dead = partition.settings?.dead ?? null;
  if (dead === null) {
    draft.discard(partition.slot, sourceId);
    return null;
  }
  draft.event(partition.slot, "deadLettered");
  const placing = { createdAt: stamp, expireDeadline: expireDeadlineOf(dead, now), attempts: 0 };
  if (dead.shard === scene.shard) {
    return tail(scene, memory.partition(dead.slot), placing, sourceId);
  }
  const { shard: targetShard, slot: targetSlot } = dead;
  const outboundSeq = memory.outbox.put(targetShard, targetSlot);
  draft.sent.add(targetShard);
  const { slot } = partition;
  const place = { slot, seq: item.seq, queuedAt: stamp, early: false, sourceId };
  return {
    into: "outbox",
    item: { ...place, ...placing, outboundSeq, targetShard, targetSlot },
  };
}
