// Takes back what was leased to a client that had left before it was told; the attempt does not count.

import type { CallKey } from "../model/call-key.ts";
import { release } from "../model/lifecycle.ts";
import { letGo, move } from "../turn/moves.ts";
import { receiptFor } from "../turn/repeated.ts";
import { answering, done, type Kind } from "./kind.ts";

export interface Withdraw {
  readonly kind: "withdraw";
  readonly slot: number;
  /** Of what is still held of it: a number that is held was never held by another. */
  readonly seqs: readonly number[];
  /** Under which it was asked for; it is free again. */
  readonly leaseKey?: CallKey;
}

export const withdraw: Kind<Withdraw> = {
  phase: "within",
  decide: answering((turn, { slot, seqs, leaseKey }) => {
    const partition = turn.memory.partition(slot);
    if (leaseKey !== undefined) {
      turn.draft.receipts.set(leaseKey.digest, receiptFor(leaseKey, null));
    }
    for (const seq of seqs) {
      const held = partition.held.get(seq);
      if (held === undefined) continue;
      letGo(turn, partition, seq, held);
      const item = { ...held, seq };
      move(turn, partition, item, { fate: release(item, turn.now), what: "released" });
      turn.draft.count(slot, "released");
    }
    return done;
  }),
};
