// Items from another shard's outbox: taken once, whatever number of times they come.

import type { OutboundItem } from "../../stores/item.ts";
import { assert } from "../model/assert.ts";
import { expireDeadlineOf } from "../model/lifecycle.ts";
import { answering, type Kind } from "../operations/kind.ts";
import { append, cameAs, type Scene, schedule } from "../turn/moves.ts";

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
    // What has arrived leaves the outbox, and all before it: those have to be set aside there first.
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
    // Also committed if nothing is new: the sender deletes what is acknowledged here, and only a commit
    // shows that the store still has it.
    if (last > 0) {
      memory.inbound.set(sourceShard, last);
      draft.receive.push({ sourceShard, outboundSeq: last });
    }
    const value = {
      kind: "received",
      strays: strays.map(({ outboundSeq }) => outboundSeq),
    } as const;
    return { ok: true, value };
  }),
};

export function receiveOne(scene: Scene, item: OutboundItem, sourceShard: number): void {
  const { memory, draft, now, stamp } = scene;
  const { slot: _, seq: __, early: ___, outboundSeq: ____, targetShard: _____, ...rest } = item;
  const { targetOwner, queuedAt, ...given } = rest;
  const home = memory.rules.homeOf(targetOwner);
  // The queue was deleted while it was on its way.
  if (home === null) {
    draft.discard(noSlot, item.sourceId);
    return;
  }
  const partition = memory.partition(home);
  const { settings } = partition;
  assert(settings !== null, "an item goes to a partition that no queue has");
  // What died, or was sent back, was produced elsewhere.
  const isNew = item.sourceId === "" && item.past === "";
  draft.count(home, isNew ? "produced" : "arrived");
  const isLater = queuedAt > item.createdAt && queuedAt > now;
  const expireDeadline = expireDeadlineOf(settings, queuedAt);
  const unplaced = { ...given, createdAt: stamp, expireDeadline };
  const { slot: into, seq } = isLater
    ? schedule(scene, partition, unplaced, { dueAt: queuedAt, retried: false })
    : append(scene, partition, unplaced);
  // The next of this turn may go elsewhere.
  memory.tellQueue(partition);
  const from = { shard: sourceShard, slot: 0, seq: item.outboundSeq };
  draft.history?.add({ slot: into, seq, what: cameAs(item.past), by: "", from });
}
