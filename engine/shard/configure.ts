// What a shard goes by from now on. Not a change of the store.

import type { PartitionSettings } from "../messages.ts";
import { answering, done, type Kind } from "./kind.ts";

export interface Configure {
  readonly kind: "configure";
  readonly partitions: readonly PartitionSettings[];
  /** Slots that belong to no queue any more. */
  readonly forget: readonly number[];
}

export const configure: Kind<Configure> = {
  // An item whose partition has no settings would be taken for an orphan.
  phase: "before",
  lost: "again",
  decide: answering(({ memory, draft, settings }, { partitions, forget }) => {
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
