// Deletes items by their ids, whatever state they are in; those that are not there are passed over.

import { seqOf } from "../ids.ts";
import { answering, done, type Kind, type Numbered } from "./kind.ts";
import { letGo, remove, unschedule } from "./moves.ts";
import type { Turn } from "./turn-context.ts";

export interface Delete {
  readonly kind: "delete";
  readonly slot: number;
  readonly ids: readonly string[];
}

export const deleteItems: Kind<Delete> = {
  phase: "within",
  weight: ({ ids }) => ids.length,
  lost: () => done,
  wants(asking, requests) {
    for (const request of requests) {
      const { slot, ids } = request;
      const { idPrefix } = asking.memory.partition(slot);
      const seqs = ids.flatMap((id) => seqOf(idPrefix, id) ?? []);
      asking.named.set(request, seqs);
      asking.pick(slot, seqs);
    }
  },
  decide: answering((turn, request) => {
    for (const seq of turn.named.get(request) ?? []) {
      if (seq !== null) deleteOne(turn, request, seq);
    }
    return done;
  }),
};

function deleteOne(turn: Turn, { slot }: Numbered<Delete>, seq: number): void {
  const { memory, draft, facts } = turn;
  const partition = memory.partition(slot);
  if (draft.removed.has(slot, seq) || draft.unscheduled.has(slot, seq)) return;
  const held = partition.held.get(seq);
  if (held === undefined && seq < partition.clearReadyBelow) return;
  const picked = facts.picks.get(slot);
  const ready = picked?.ready.get(seq);
  const scheduled = picked?.scheduled.get(seq);
  if (ready !== undefined) {
    if (held !== undefined) letGo(turn, partition, seq, held);
    remove(turn, partition, ready);
  } else if (scheduled !== undefined) unschedule(turn, partition, scheduled);
}
