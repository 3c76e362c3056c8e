// The average ages of items, by partition.

import { answering, type Operation } from "../operations/operation.ts";
import type { Partition } from "../state/partition.ts";

export interface Stats {
  readonly kind: "stats";
  readonly slots: readonly number[];
}

export const stats: Operation<Stats> = {
  phase: "after",
  decide: answering(({ memory, now }, { slots }) => {
    const ages = slots.map((slot) => {
      const all = memory.partitionsAt(slot);
      const averageAgeMs = mean(all, (one) => [one.itemCount, one.averageAgeMs(now)]);
      const averageLeasedAgeMs = mean(all, (one) => [one.held.size, one.averageLeasedAgeMs(now)]);
      return { slot, averageAgeMs, averageLeasedAgeMs };
    });
    return { ok: true, value: { kind: "ages", ages } };
  }),
};

/** The mean over the items of all priorities; `of` returns the number of items and their mean. */
function mean(
  partitions: readonly Partition[],
  of: (partition: Partition) => readonly [count: number, mean: number],
): number {
  if (partitions.length === 1) return of(partitions[0] as Partition)[1];
  const means = partitions.map(of);
  const count = means.reduce((sum, [items]) => sum + items, 0);
  const total = means.reduce((sum, [items, one]) => sum + items * one, 0);
  return count === 0 ? 0 : Math.round(total / count);
}
