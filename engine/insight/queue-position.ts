// Counts the ready items ahead of an item in its partition, up to a bound. With aging, which items
// of other priorities come first depends on how long each has waited, so they are not counted. Of a
// grouped item it tells what its group waits for.

import type { SlotSeq } from "../../stores/store.ts";
import { never } from "../model/duration.ts";
import { limits } from "../model/limits.ts";
import type { Result } from "../model/messages.ts";
import { partitionSlot } from "../model/priority.ts";
import { groupIn } from "../model/provenance.ts";
import { answering, type Operation } from "../operations/operation.ts";
import { holdersIn } from "../state/group-holders.ts";
import type { Memory } from "../state/memory.ts";
import type { Turn } from "../turn/turn-context.ts";

export interface QueuePosition {
  readonly kind: "ahead";
  readonly slot: number;
  readonly seq: number;
}

const page = (op: number): string => `ahead ${op}`;

export const ahead: Operation<QueuePosition> = {
  phase: "before",
  weight: () => limits.aheadItemsMax,
  planReads(planner, requests) {
    const { memory, marks } = planner;
    for (const { op, slot, seq } of requests) {
      if (isGrouped(memory, slot)) {
        planner.pick(slot, [seq]);
        continue;
      }
      const { head, clearReadyBelow } = memory.partition(slot);
      const from = Math.min(seq, Math.max(head, clearReadyBelow));
      const limit = { items: limits.aheadItemsMax, payloadBytes: Number.POSITIVE_INFINITY };
      marks.push({ name: page(op), slot, from, before: seq, limit });
    }
  },
  decide: answering((turn, { op, slot, seq: asked }) => {
    const { memory, readResult } = turn;
    if (isGrouped(memory, slot)) return inGroup(turn, { slot, seq: asked });
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

function isGrouped({ rules }: Memory, slot: number): boolean {
  return rules.settingsAt(slot)?.groups !== undefined;
}

/** Which groups have their turn before depends on limits and leases to come. */
function inGroup({ memory, readResult, now }: Turn, { slot, seq }: SlotSeq): Result {
  const past = readResult.picks.get(slot)?.ready.get(seq)?.past ?? "";
  const { group: name = "", rank = 0 } = groupIn(past) ?? {};
  const groups = memory.groupsAt(slot);
  const found = groups.find(name);
  const isFirst = found !== undefined && found.priority >= 0 && rank <= found.firstRank;
  const blockedBy = found === undefined ? "" : groups.blockOf(found, now);
  const group = {
    ...{ group: name, isFirst, blockedBy },
    waiting: found?.waiting ?? 0,
    nextAt: blockedBy === "rate" ? groups.nextAt(name) : null,
    deadId: groups.settings.get(name)?.deadId ?? "",
    holder: holdersIn(memory, partitionSlot(slot), new Set([name])).get(name) ?? null,
  };
  return { ok: true, value: { kind: "ahead", count: isFirst ? 0 : 1, isAll: false, group } };
}
