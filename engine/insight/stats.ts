// The average ages of items, by partition.

import { answering, type Operation } from "../operations/operation.ts";

export interface Stats {
  readonly kind: "stats";
  readonly slots: readonly number[];
}

export const stats: Operation<Stats> = {
  phase: "after",
  decide: answering(({ memory, now }, { slots }) => {
    const ages = slots.map((slot) => {
      const partition = memory.partition(slot);
      const averageAgeMs = partition.averageAgeMs(now);
      return { slot, averageAgeMs, averageLeasedAgeMs: partition.averageLeasedAgeMs(now) };
    });
    return { ok: true, value: { kind: "ages", ages } };
  }),
};
