// Counts the ready items ahead of an item in its partition, up to a bound. With aging, which items
// of other priorities come first depends on how long each has waited, so they are not counted.

import { never } from "../model/duration.ts";
import { limits } from "../model/limits.ts";
import { partitionSlot } from "../model/priority.ts";
import { answering, type Operation } from "../operations/operation.ts";

export interface QueuePosition {
  readonly kind: "ahead";
  readonly slot: number;
  readonly seq: number;
}

const page = (op: number): string => `ahead ${op}`;

export const ahead: Operation<QueuePosition> = {
  phase: "before",
  weight: () => limits.aheadItemsMax,
  planReads({ memory, marks }, requests) {
    for (const { op, slot, seq } of requests) {
      const { head, clearReadyBelow } = memory.partition(slot);
      const from = Math.min(seq, Math.max(head, clearReadyBelow));
      const limit = { items: limits.aheadItemsMax, payloadBytes: Number.POSITIVE_INFINITY };
      marks.push({ name: page(op), slot, from, before: seq, limit });
    }
  },
  decide: answering(({ memory, readResult }, { op, slot }) => {
    const { held, priority } = memory.partition(slot);
    const { found = [], isAll = true } = readResult.marks.get(page(op)) ?? {};
    const count = found.reduce((sum, { seq }) => sum + (held.has(seq) ? 0 : 1), 0);
    const value = { kind: "ahead", count, isAll } as const;
    const others = memory
      .partitionsAt(partitionSlot(slot))
      .filter((one) => one.priority !== priority && one.readyCount > 0);
    const agingMs = memory.rules.ownerAt(slot)?.queue.priorityAgingMs ?? never;
    if (agingMs < never && others.length > 0) {
      return { ok: true, value: { ...value, hasOthers: true } };
    }
    const higher = others.filter((one) => one.priority > priority);
    const ahead = higher.reduce((sum, { readyCount }) => sum + readyCount, count);
    return { ok: true, value: { ...value, count: ahead } };
  }),
};
