// Recall: looks up whether this shard has done a request with a given key. It is needed after the
// partitions of a queue changed: a produce now has another place, or the named partition is gone.

import type { IdempotencyKey } from "../model/idempotency-key.ts";
import type { Operation } from "./operation.ts";

export interface Recall {
  readonly kind: "recall";
  readonly key: IdempotencyKey;
}

export const recall: Operation<Recall> = {
  phase: "within",
  keyed: { answer: (_, __, values) => ({ ok: true, value: { kind: "recalled", values } }) },
  // Known keys are answered from their receipts before this.
  decide(turn, requests) {
    for (const { op } of requests) {
      turn.changeSet.answer(op, { ok: true, value: { kind: "nothing" } });
    }
  },
};
