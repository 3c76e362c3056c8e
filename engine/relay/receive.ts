// Items from another shard's outbox: taken once, whatever number of times they come.

import type { OutboundItem } from "../../stores/item.ts";
import { answering, done, type Kind } from "../operations/kind.ts";
import { append, cameAs, schedule } from "../turn/moves.ts";
import type { Turn } from "../turn/turn-context.ts";

/** Of what is counted for a queue that is gone. */
const noSlot = -1;

export interface Receive {
  readonly kind: "receive";
  readonly sourceShard: number;
  readonly items: readonly OutboundItem[];
}

export const receive: Kind<Receive> = {
  phase: "within",
  weight: ({ items }) => items.length,
  // Their sender keeps them; what a full store has room for is for what it holds itself.
  adds: () => true,
  decide: answering((turn, { sourceShard, items }) => {
    const { memory, draft } = turn;
    let last = memory.inbound.get(sourceShard) ?? 0;
    for (const item of items) {
      if (item.outboundSeq <= last) continue;
      last = item.outboundSeq;
      receiveOne(turn, item, sourceShard);
    }
    if (last !== memory.inbound.get(sourceShard)) {
      memory.inbound.set(sourceShard, last);
      draft.receive.push({ sourceShard, outboundSeq: last });
    }
    return done;
  }),
};

function receiveOne(turn: Turn, item: OutboundItem, sourceShard: number): void {
  const { memory, draft, now, stamp } = turn;
  const { slot: _, seq: __, early: ___, outboundSeq: ____, targetShard: _____, ...rest } = item;
  const { targetSlot: sentTo, targetOwner, queuedAt, ...given } = rest;
  // The partition may have gone since, or its store went back and does not know it any more.
  const targetSlot = memory.rules.homeOf(targetOwner, sentTo);
  // The queue was deleted while it was on its way.
  if (targetSlot === null) {
    draft.discard(noSlot, item.sourceId);
    return;
  }
  const partition = memory.partition(targetSlot);
  const unplaced = { ...given, createdAt: stamp };
  // What died, or was sent back, was produced elsewhere.
  const isNew = item.sourceId === "" && item.past === "";
  draft.count(targetSlot, isNew ? "produced" : "arrived");
  const isLater = queuedAt > item.createdAt && queuedAt > now;
  const { slot: into, seq } = isLater
    ? schedule(turn, partition, unplaced, { dueAt: queuedAt, retried: false })
    : append(turn, partition, unplaced);
  const from = { shard: sourceShard, slot: 0, seq: item.outboundSeq };
  draft.history?.add({ slot: into, seq, what: cameAs(item.past), by: "", from });
}
