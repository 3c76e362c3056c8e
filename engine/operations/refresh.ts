// Refresh: reports the counts of some partitions after all earlier requests are decided. It changes
// the store only if this store or that of another shard went back to an earlier state.

import type { Passed } from "../model/messages.ts";
import { done } from "../model/messages.ts";
import { arrivedKey } from "../relay/outbox.ts";
import type { Turn } from "../turn/turn-context.ts";
import { answering, type Operation } from "./operation.ts";

export interface Refresh {
  readonly kind: "refresh";
  readonly slots: readonly number[];
  /**
   * The last number that each other shard has received from this one, or, for the shard itself,
   * that it has issued. The answer contains the state after that. Absent: the answer is only
   * `done`.
   */
  readonly taken?: Passed["taken"];
}

export const refresh: Operation<Refresh> = {
  phase: "before",
  decide: answering((turn, { slots, taken }) => {
    for (const [target, outboundSeq] of taken ?? []) agree(turn, target, outboundSeq);
    for (const slot of slots) {
      for (const one of turn.memory.partitionsAt(slot)) turn.changeSet.touched.add(one);
    }
    if (taken === undefined) return done;
    return { ok: true, value: { kind: "passed", passed: turn.memory.passed(turn.shard) } };
  }),
};

/** After a rollback of either store, numbers that the target has are not issued or awaited. */
function agree({ memory, changeSet, shard }: Turn, target: number, outboundSeq: number): void {
  if (memory.outbox.take(outboundSeq)) changeSet.receive.push({ sourceShard: shard, outboundSeq });
  if ((memory.arrived.get(target) ?? 0) <= outboundSeq) return;
  memory.arrived.set(target, outboundSeq);
  changeSet.receive.push({ sourceShard: arrivedKey(target), outboundSeq });
}
