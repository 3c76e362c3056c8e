// Counts some partitions again, once all that came before is decided. It changes the store only where
// that or another one went back.

import type { Passed } from "../model/messages.ts";
import { arrivedKey } from "../relay/outbox.ts";
import type { Turn } from "../turn/turn-context.ts";
import { answering, done, type Kind } from "./kind.ts";

export interface Refresh {
  readonly kind: "refresh";
  /** Whose counts are reported. */
  readonly slots: readonly number[];
  /**
   * What other shards have of this one, or for its own number what it has issued: the answer says what has
   * come of it. Absent = nothing new is known, and nothing is asked.
   */
  readonly taken?: Passed["taken"];
}

export const refresh: Kind<Refresh> = {
  phase: "before",
  decide: answering((turn, { slots, taken }) => {
    for (const [target, outboundSeq] of taken ?? []) agree(turn, target, outboundSeq);
    for (const slot of slots) turn.draft.touched.add(turn.memory.partition(slot));
    if (taken === undefined) return done;
    return { ok: true, value: { kind: "passed", passed: turn.memory.passed(turn.shard) } };
  }),
};

/** One of the two may have gone back: no number that the target has is issued again, or waited for. */
function agree({ memory, draft, shard }: Turn, target: number, outboundSeq: number): void {
  if (memory.outbox.take(outboundSeq)) draft.receive.push({ sourceShard: shard, outboundSeq });
  if ((memory.arrived.get(target) ?? 0) <= outboundSeq) return;
  memory.arrived.set(target, outboundSeq);
  draft.receive.push({ sourceShard: arrivedKey(target), outboundSeq });
}
