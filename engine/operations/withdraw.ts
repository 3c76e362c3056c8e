// Takes back what was leased to a client that had already left; the attempt does not count.

import type { CallKey } from "../model/call-key.ts";
import { release } from "../model/lifecycle.ts";
import { letGo, move } from "../turn/moves.ts";
import { receiptFor } from "../turn/repeated.ts";
import { answering, done, type Kind } from "./kind.ts";

/** The client of this lease request had left before it was told what it holds. */
export interface Withdraw {
  readonly kind: "withdraw";
  readonly slot: number;
  readonly leaseOp: number;
  /** Under which it was asked for; it is free again. */
  readonly leaseKey?: CallKey;
}

export const withdraw: Kind<Withdraw> = {
  phase: "within",
  decide: answering((turn, { slot, leaseOp, leaseKey }) => {
    const partition = turn.memory.partition(slot);
    if (leaseKey !== undefined) {
      turn.draft.receipts.set(leaseKey.digest, receiptFor(leaseKey, null));
    }
    const { grants } = turn.draft;
    const granted = grants.has(leaseOp) ? grants.get(leaseOp) : turn.grants.get(leaseOp);
    grants.set(leaseOp, null);
    for (const seq of granted ?? []) {
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
