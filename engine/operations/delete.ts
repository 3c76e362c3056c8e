// Delete: removes items by id, in any state. Ids that are not stored are ignored.

import type { Item, ScheduledItem } from "../../stores/item.ts";
import { countChanged } from "../model/errors.ts";
import type { LeasedFields } from "../state/partition.ts";
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
      const { slot, ids } = request;
      const partition = planner.memory.partition(slot);
      const seqs = ids.flatMap((id) => partition.seqOf(id) ?? []);
      planner.named.set(request, seqs);
      planner.pick(slot, seqs);
    }
  },
  decide: answering((turn, request) => {
    const { expect = Number.POSITIVE_INFINITY, isDry } = request;
    const found = findNamed(turn, request);
    if (found.length > expect) return countChanged(found.length, expect);
    const counts = { ready: 0, leased: 0, scheduled: 0, retried: 0 };
    for (const one of found) {
      counts[one.state] += 1;
      if (!isDry) deleteOne(turn, request, one);
    }
    return { ok: true, value: { kind: "counted", ...counts } };
  }),
};

type Deletable =
  | {
      readonly state: "ready" | "leased";
      readonly item: Pick<Item, "seq" | "createdAt">;
      readonly held: LeasedFields | undefined;
    }
  | {
      readonly state: "scheduled" | "retried";
      readonly item: Pick<ScheduledItem, "seq" | "retried" | "dueAt">;
    };

/** Each stored item that the ids name, once. */
function findNamed(turn: Turn, request: Numbered<Delete>): Deletable[] {
  const { slot } = request;
  const seqs = new Set(turn.named.get(request) ?? []);
  return [...seqs].flatMap((seq) => (seq === null ? [] : (findOne(turn, slot, seq) ?? [])));
}

function findOne(
  { memory, changeSet, readResult }: Turn,
  slot: number,
  seq: number,
): Deletable | null {
  const partition = memory.partition(slot);
  if (changeSet.hasLeft(slot, seq)) return null;
  const held = partition.held.get(seq);
  if (held === undefined && seq < partition.clearReadyBelow) return null;
  const picked = readResult.picks.get(slot);
  const ready = picked?.ready.get(seq);
  if (ready !== undefined) return { state: held ? "leased" : "ready", item: ready, held };
  const scheduled = picked?.scheduled.get(seq);
  if (scheduled === undefined) return null;
  return { state: scheduled.retried ? "retried" : "scheduled", item: scheduled };
}

function deleteOne(turn: Turn, { slot }: Numbered<Delete>, found: Deletable): void {
  const partition = turn.memory.partition(slot);
  const { item } = found;
  if ("held" in found && found.held !== undefined) endLease(turn, partition, item.seq, found.held);
  removeForGood(turn, partition, item);
}
