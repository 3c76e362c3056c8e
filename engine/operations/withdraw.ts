// Withdraw: releases items that were leased to a client that disconnected before the answer. The
// attempt does not count.

import type { CallKey } from "../model/call-key.ts";
import { done } from "../model/messages.ts";
import type { HeldItem } from "../turn/held.ts";
import { receiptFor } from "../turn/repeated.ts";
import { answering, type Kind } from "./kind.ts";
import { releaseFound } from "./release.ts";

export interface Withdraw {
  readonly kind: "withdraw";
  readonly slot: number;
  /** Only those still leased are released. A sequence number is leased only once. */
  readonly seqs: readonly number[];
  /** The idempotency key of the lease, which can be used again. */
  readonly leaseKey?: CallKey;
}

export const withdraw: Kind<Withdraw> = {
  phase: "within",
  decide: answering((turn, { slot, seqs, leaseKey }) => {
    const { held } = turn.memory.partition(slot);
    if (leaseKey !== undefined) {
      turn.draft.receipts.set(leaseKey.digest, receiptFor(leaseKey, null));
    }
    const left: HeldItem[] = [];
    for (const seq of seqs) {
      const one = held.get(seq);
      if (one !== undefined) left.push({ ...one, seq });
    }
    if (left.length > 0) releaseFound(turn, slot, left);
    return done;
  }),
};
