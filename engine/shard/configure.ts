// What a shard goes by from now on. Not a change of the store.

import type { PartitionSettings, QueuePause } from "../messages.ts";
import { answering, done, type Kind } from "./kind.ts";

export interface Configure {
  readonly kind: "configure";
  readonly partitions: readonly PartitionSettings[];
  /** Slots that belong to no queue any more. */
  readonly forget: readonly number[];
  /** Of queues that take no items, or do so again; absent = none has changed. */
  readonly pauses?: readonly QueuePause[];
}

export const configure: Kind<Configure> = {
  // An item whose partition has no settings would be taken for an orphan.
  phase: "before",
  lost: "again",
  decide: answering(({ memory, draft, settings, pauses: kept }, request) => {
    const { partitions, forget, pauses = [] } = request;
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
