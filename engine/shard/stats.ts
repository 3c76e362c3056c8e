// The ages of what partitions hold.

import type { Kind } from "./kind.ts";

export interface Stats {
  readonly kind: "stats";
  readonly slots: readonly number[];
}

export const stats: Kind<Stats> = {
  phase: "after",
  lost: "again",
  decide({ memory, draft, now }, requests) {
    for (const { op, slots } of requests) {
      const ages = slots.map((slot) => {
        const partition = memory.partition(slot);
        return {
          slot,
          averageAgeMs: partition.averageAgeMs(now),
          averageLeasedAgeMs: partition.averageLeasedAgeMs(now),
        };
      });
      draft.answer(op, { ok: true, value: { kind: "ages", ages } });
    }
  },
};
