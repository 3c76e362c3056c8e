// Withdraw: releases items that were leased to a client that disconnected before the answer. The
// attempt does not count.

import type { IdempotencyKey } from "../model/idempotency-key.ts";
import { done } from "../model/messages.ts";
import { receiptFor } from "../turn/idempotency.ts";
import type { HeldItem } from "../turn/leased-items.ts";
import { answering, type Operation } from "./operation.ts";
import { releaseFound } from "./release.ts";

export interface Withdraw {
  readonly kind: "withdraw";
  readonly slot: number;
  /** Only those still leased are released. A sequence number is leased only once. */
  readonly seqs: readonly number[];
  /** The idempotency key of the lease, which can be used again. */
  readonly leaseKey?: IdempotencyKey;
}

export const withdraw: Operation<Withdraw> = {
  phase: "within",
  decide: answering((turn, { slot, seqs, leaseKey }) => {
    const { held } = turn.memory.partition(slot);
    if (leaseKey !== undefined) {
      turn.changeSet.receipts.set(leaseKey.digest, receiptFor(leaseKey, null));
    }
    const left: HeldItem[] = [];
    for (const seq of seqs) {
      const one = held.get(seq);
      if (one !== undefined) left.push({ ...one, slot, seq });
    }
    releaseFound(turn, left);
    return done;
  }),
};
