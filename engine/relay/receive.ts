// Takes items from another shard's outbox: each once, however often it arrives.

import type { OutboundItem } from "../../stores/item.ts";
import { assert } from "../model/assert.ts";
import { expireDeadlineOf } from "../model/lifecycle.ts";
import { priorityOf } from "../model/priority.ts";
import { answering, type Operation } from "../operations/operation.ts";
import { append, arrivalEvent, type StepContext, schedule } from "../turn/item-transitions.ts";

/** For counts of a queue that no longer exists. */
const noSlot = -1;

export interface Receive {
  readonly kind: "receive";
  readonly sourceShard: number;
  readonly items: readonly OutboundItem[];
}

export const receive: Operation<Receive> = {
  phase: "within",
  weight: ({ items }) => items.length,
  // A full store refuses them: the sender keeps them, and the reserve is for stored items.
  adds: () => true,
  decide: answering((turn, { sourceShard, items }) => {
    const { memory, changeSet } = turn;
    let last = memory.inbound.get(sourceShard) ?? 0;
    // An acknowledged item leaves the outbox with all before it, so strays must be set aside there
    // first.
    const strays = items.filter(
      ({ outboundSeq, targetOwner }) => outboundSeq > last && memory.rules.isLost(targetOwner),
    );
    const before = strays[0]?.outboundSeq ?? Number.POSITIVE_INFINITY;
    for (const item of items) {
      if (item.outboundSeq >= before) break;
      if (item.outboundSeq <= last) continue;
      last = item.outboundSeq;
      receiveOne(turn, item, sourceShard);
    }
    // Committed even if no item is new: the sender deletes acknowledged items, and only a commit
    // proves that the store still has them.
    if (last > 0) {
      memory.inbound.set(sourceShard, last);
      changeSet.receive.push({ sourceShard, outboundSeq: last });
    }
    const value = {
      kind: "received",
      strays: strays.map(({ outboundSeq }) => outboundSeq),
    } as const;
    return { ok: true, value };
  }),
};

export function receiveOne(context: StepContext, item: OutboundItem, sourceShard: number): void {
  const { memory, changeSet, now, stamp } = context;
  const { slot: _, seq: __, early: ___, outboundSeq: ____, targetShard: _____, ...rest } = item;
  const { targetOwner, queuedAt, ...given } = rest;
  const home = memory.rules.homeOf(targetOwner, priorityOf(item.slot));
  // The queue was deleted while the item was in transit.
  if (home === null) {
    changeSet.discard(noSlot, item.sourceId);
    return;
  }
  const partition = memory.partition(home);
  const { settings } = partition;
  assert(settings !== null, "an item is received for a partition without a queue");
  const what = arrivalEvent(item.past);
  // Dead and redriven items were produced elsewhere.
  changeSet.count(home, what === "produced" ? "produced" : "arrived");
  const isLater = queuedAt > item.createdAt && queuedAt > now;
  const expireDeadline = expireDeadlineOf(settings, queuedAt);
  const unplaced = { ...given, createdAt: stamp, expireDeadline };
  const { slot: into, seq } = isLater
    ? schedule(context, partition, unplaced, { dueAt: queuedAt, retried: false })
    : append(context, partition, unplaced);
  // Updates the queue's counts, so that the next item may go to another partition.
  memory.updateLoad(partition);
  const from = { shard: sourceShard, slot: 0, seq: item.outboundSeq };
  changeSet.history?.add({ slot: into, seq, what, by: "", from });
}
