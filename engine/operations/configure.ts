// What a shard goes by from now on. It changes the store only where that or another one went back.

import type { PartitionSettings, Passed, QueuePause } from "../model/messages.ts";
import { arrivedKey } from "../relay/outbox.ts";
import type { Turn } from "../turn/turn-context.ts";
import { answering, done, type Kind } from "./kind.ts";

export interface Configure {
  readonly kind: "configure";
  readonly partitions: readonly PartitionSettings[];
  /** Slots that belong to no queue any more. */
  readonly forget: readonly number[];
  /** Of queues that take no items, or do so again; absent = none has changed. */
  readonly pauses?: readonly QueuePause[];
  /** What the other shards have of this one; absent = nothing new is known. */
  readonly taken?: Passed["taken"];
}

export const configure: Kind<Configure> = {
  // An item whose partition has no settings would be taken for an orphan.
  phase: "before",
  decide: answering((turn, request) => {
    const { memory, draft, settings, pauses: kept } = turn;
    const { partitions, forget, pauses = [], taken = [] } = request;
    for (const [target, outboundSeq] of taken) agree(turn, target, outboundSeq);
    for (const { queueId, pause } of pauses) {
      if (pause === null) kept.delete(queueId);
      else kept.set(queueId, pause);
    }
    for (const one of partitions) {
      settings.set(one.slot, one);
      const partition = memory.partition(one.slot);
      partition.settings = one;
      draft.touched.add(partition);
    }
    for (const slot of forget) {
      settings.delete(slot);
      memory.partition(slot).settings = null;
    }
    return done;
  }),
};

/** One of the two may have gone back: no number that the target has is issued again, or waited for. */
function agree({ memory, draft, shard }: Turn, target: number, outboundSeq: number): void {
  if (memory.outbox.take(outboundSeq)) draft.receive.push({ sourceShard: shard, outboundSeq });
  if ((memory.arrived.get(target) ?? 0) <= outboundSeq) return;
  memory.arrived.set(target, outboundSeq);
  draft.receive.push({ sourceShard: arrivedKey(target), outboundSeq });
}
