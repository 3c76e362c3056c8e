// Delete: removes items by id, in any state. Ids that are not stored are ignored.

import type { Item, ScheduledItem } from "../../stores/item.ts";
import type { SlotSeq } from "../../stores/store.ts";
import { countChanged } from "../model/errors.ts";
import type { IdPlaces } from "../state/memory.ts";
import type { LeasedFields, Partition } from "../state/partition.ts";
import { endLease, removeForGood } from "../turn/item-transitions.ts";
import type { Turn } from "../turn/turn-context.ts";
import { answering, type Numbered, type Operation } from "./operation.ts";

export interface Delete {
  readonly kind: "delete";
  readonly slot: number;
  readonly ids: readonly string[];
  /** The delete is refused if it would remove more items than this. */
  readonly expect?: number;
  /** Answered with the counts that it would delete; nothing changes. */
  readonly isDry?: true;
}

export const deleteItems: Operation<Delete> = {
  phase: "within",
  weight: ({ ids }) => ids.length,
  planReads(planner, requests) {
    for (const request of requests) {
      const places = planner.memory.placesOf(request.slot, request.ids);
      planner.named.set(request, places);
      for (const { slot, seq } of eachPlace(request, places)) planner.pick(slot, [seq]);
    }
  },
  decide: answering((turn, request) => {
    const { expect = Number.POSITIVE_INFINITY, isDry } = request;
    const found = findNamed(turn, request);
    if (found.length > expect) return countChanged(found.length, expect);
    const counts = { ready: 0, leased: 0, scheduled: 0, retried: 0 };
    for (const one of found) {
      counts[one.state] += 1;
      if (!isDry) deleteOne(turn, one);
    }
    return { ok: true, value: { kind: "counted", ...counts } };
  }),
};

type Deletable = { readonly partition: Partition } & (
  | {
      readonly state: "ready" | "leased";
      readonly item: Pick<Item, "seq" | "createdAt" | "past">;
      readonly held: LeasedFields | undefined;
    }
  | {
      readonly state: "scheduled" | "retried";
      readonly item: Pick<ScheduledItem, "seq" | "retried" | "dueAt" | "past">;
    }
);

/** The places of the ids that are of the partition, each once. */
function eachPlace({ ids, slot }: Delete, { seqs, slots }: IdPlaces): SlotSeq[] {
  const seen = new Set<string>();
  return ids.flatMap((id, index) => {
    const seq = seqs[index] ?? null;
    if (seq === null || seen.has(id)) return [];
    seen.add(id);
    return [{ slot: slots?.[index] ?? slot, seq }];
  });
}

/** Each stored item that the ids name, once. */
function findNamed(turn: Turn, request: Numbered<Delete>): Deletable[] {
  const places = turn.named.get(request) ?? { seqs: [], slots: null };
  return eachPlace(request, places).flatMap((place) => findOne(turn, place) ?? []);
}

export function findOne(
  { memory, changeSet, readResult }: Turn,
  { slot, seq }: SlotSeq,
): Deletable | null {
  const partition = memory.partition(slot);
  if (changeSet.hasLeft(slot, seq)) return null;
  const held = partition.held.get(seq);
  if (held === undefined && seq < partition.clearReadyBelow) return null;
  const picked = readResult.picks.get(slot);
  const ready = picked?.ready.get(seq);
  if (ready !== undefined)
    return { state: held ? "leased" : "ready", partition, item: ready, held };
  const scheduled = picked?.scheduled.get(seq);
  if (scheduled === undefined) return null;
  return { state: scheduled.retried ? "retried" : "scheduled", partition, item: scheduled };
}

export function deleteOne(turn: Turn, found: Deletable): void {
  const { partition, item } = found;
  const held = "held" in found ? found.held : undefined;
  if (held !== undefined) endLease(turn, partition, item.seq, held);
  removeForGood(turn, partition, held === undefined ? item : { ...item, holder: held.holder });
}
