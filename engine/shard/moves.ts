// The few ways in which an item can move, each as one step that changes memory
// and draft together. Whether an item moves is decided in `lifecycle.ts` and by
// the callers; here only that nothing is moved by half.

import type { Item, ScheduledItem } from "../../stores/item.ts";
import { wakeAt } from "../../stores/item.ts";
import { assert } from "../assert.ts";
import { formatId } from "../ids.ts";
import type { Death, Fate } from "../lifecycle.ts";
import { expireDeadlineOf } from "../lifecycle.ts";
import { limits } from "../limits.ts";
import type { Draft } from "./draft.ts";
import type { Memory } from "./memory.ts";
import type { Held, Partition, Run } from "./partition.ts";

/** What every step of a turn works on. */
export interface Scene {
  /** This shard's number. */
  readonly shard: number;
  readonly memory: Memory;
  readonly draft: Draft;
  readonly now: number;
}

/** An item without a place; `append` and `schedule` give it one. */
export type Unplaced = Omit<Item, "slot" | "seq" | "queuedAt" | "early">;

function nextSeq(partition: Partition): number {
  const seq = partition.nextSeq;
  assert(seq <= limits.seqMax, "a partition ran out of sequence numbers");
  partition.nextSeq = seq + 1;
  return seq;
}

/** Writes an item at the tail, ready, or held when the caller leases it at once. */
export function append({ memory, draft, now }: Scene, partition: Partition, item: Unplaced): Item {
  const seq = nextSeq(partition);
  const early = item.expireDeadline < partition.expireDeadlineMax;
  const placed: Item = {
    slot: partition.slot,
    seq,
    createdAt: item.createdAt,
    queuedAt: now,
    expireDeadline: item.expireDeadline,
    early,
    attempts: item.attempts,
    kind: item.kind,
    encoding: item.encoding,
    reference: item.reference,
    sourceId: item.sourceId,
    payload: item.payload,
  };
  if (early) {
    memory.earlyFloor = Math.min(memory.earlyFloor, item.expireDeadline);
  } else {
    partition.expireDeadlineMax = item.expireDeadline;
    lowerFloor(memory, partition, item.expireDeadline);
  }
  partition.added(item.createdAt);
  draft.insert.push(placed);
  draft.touched.add(partition);
  draft.tallied.add(partition);
  draft.itemCount += 1;
  return placed;
}

/** Notes that an item of the partition expires at `floor`, unless an earlier one is noted already. */
export function lowerFloor(memory: Memory, partition: Partition, floor: number): void {
  if (floor >= partition.expireFloor) return;
  partition.expireFloor = floor;
  memory.floors.push({ floor, partition });
}

export function schedule(
  { memory, draft, now }: Scene,
  partition: Partition,
  item: Unplaced,
  when: { readonly dueAt: number; readonly retried: boolean },
): ScheduledItem {
  const placed: ScheduledItem = {
    slot: partition.slot,
    seq: nextSeq(partition),
    createdAt: item.createdAt,
    queuedAt: now,
    expireDeadline: item.expireDeadline,
    early: false,
    attempts: item.attempts,
    kind: item.kind,
    encoding: item.encoding,
    reference: item.reference,
    sourceId: item.sourceId,
    payload: item.payload,
    dueAt: when.dueAt,
    retried: when.retried,
  };
  if (when.retried) partition.retriedCount += 1;
  else partition.scheduledCount += 1;
  memory.wakeFloor = Math.min(memory.wakeFloor, wakeAt(placed));
  draft.schedule.push(placed);
  draft.touched.add(partition);
  draft.tallied.add(partition);
  draft.itemCount += 1;
  return placed;
}

/** Takes a ready item out; `letGo` comes first where it is held. */
export function remove(
  { draft }: Scene,
  partition: Partition,
  item: { seq: number; createdAt: number },
): void {
  partition.removed(item);
  draft.removed.add(partition.slot, item.seq);
  draft.touched.add(partition);
  draft.tallied.add(partition);
  draft.itemCount += 1;
}

export function unschedule(
  { draft }: Scene,
  partition: Partition,
  item: Pick<ScheduledItem, "seq" | "retried">,
): void {
  partition.unscheduled(item);
  draft.unscheduled.add(partition.slot, item.seq);
  draft.touched.add(partition);
  draft.tallied.add(partition);
  draft.itemCount += 1;
}

/** Sets a damaged item aside, with all that is left of it; once, however often a turn comes to it. */
export function quarantine({ draft }: Scene, partition: Partition, seq: number): void {
  if (draft.quarantined.has(partition.slot, seq)) return;
  partition.removedDamaged(seq);
  draft.quarantined.add(partition.slot, seq);
  draft.quarantinedCount += 1;
  draft.touched.add(partition);
  draft.tallied.add(partition);
}

/** Leases items that lie one behind the other, with no ready item between them. */
export function hold(
  { memory, draft, now }: Scene,
  partition: Partition,
  items: readonly Pick<Item, "seq" | "createdAt">[],
  leaseDeadline: number,
): Run {
  const first = items[0];
  const last = items.at(-1);
  assert(first !== undefined && last !== undefined, "a lease needs an item");
  const run: Run = {
    lease: { slot: partition.slot, first: first.seq, last: last.seq, leaseDeadline, leasedAt: now },
    heldCount: items.length,
  };
  let held: Held = { run, createdAt: first.createdAt };
  for (const { seq, createdAt } of items) {
    if (createdAt !== held.createdAt) held = { run, createdAt };
    partition.held.set(seq, held);
  }
  partition.runs.add(run);
  memory.runs.push(run);
  draft.lease.push(run.lease);
  draft.touched.add(partition);
  return run;
}

/** Ends the hold on one item; its lease goes with the last. The item itself stays. */
export function letGo({ draft }: Scene, partition: Partition, seq: number, held: Held): void {
  partition.held.delete(seq);
  held.run.heldCount -= 1;
  draft.touched.add(partition);
  if (held.run.heldCount > 0) return;
  partition.runs.delete(held.run);
  draft.unlease.push(held.run.lease);
}

/** Does with an item, taken out by the caller, what was decided. */
export function follow(scene: Scene, partition: Partition, item: Item, fate: Fate): void {
  switch (fate.to) {
    case "queue":
      append(scene, partition, { ...item, attempts: fate.attempts });
      return;
    case "schedule":
      schedule(
        scene,
        partition,
        { ...item, attempts: fate.attempts },
        { dueAt: fate.dueAt, retried: true },
      );
      return;
    case "dead":
      bury(scene, partition, item, fate.death);
      return;
  }
}

/**
 * Sends an item, taken out by the caller, to the dead queue, or away where
 * there is none. In the same shard that is part of the same commit; to another
 * shard it goes through an outbox, which keeps it until that shard has it.
 */
function bury(scene: Scene, partition: Partition, item: Item, death: Death): void {
  const { memory, draft, now } = scene;
  if (death === "expired") draft.event(partition.slot, "expired");
  const dead = partition.settings?.dead ?? null;
  if (dead === null) {
    draft.event(partition.slot, "discarded");
    return;
  }
  draft.event(partition.slot, "deadLettered");
  const buried: Unplaced = {
    createdAt: now,
    expireDeadline: expireDeadlineOf(dead, now),
    attempts: 0,
    kind: item.kind,
    encoding: item.encoding,
    reference: item.reference,
    sourceId: formatId(partition.idPrefix, item.seq),
    payload: item.payload,
  };
  if (dead.shard === scene.shard) {
    append(scene, memory.partition(dead.slot), buried);
    return;
  }
  memory.outboundSeqLast += 1;
  const outbound = {
    ...buried,
    slot: item.slot,
    seq: item.seq,
    queuedAt: now,
    early: false,
    outboundSeq: memory.outboundSeqLast,
    targetShard: dead.shard,
    targetSlot: dead.slot,
  };
  memory.outbound.add(outbound.outboundSeq);
  draft.send.push(outbound);
}
