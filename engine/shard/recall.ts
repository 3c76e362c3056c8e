// Recall: whether something was done here for a key, before it is done elsewhere: the partitions of
// its queue have changed since, and with them the place that follows from the key.

import type { CallKey } from "../call-key.ts";
import { doneOnce, type Kind } from "./kind.ts";

export interface Recall {
  readonly kind: "recall";
  readonly key: CallKey;
}

export const recall: Kind<Recall> = {
  phase: "within",
  lost: "again",
  keyed: doneOnce,
  // What is known is answered from its receipt.
  decide(turn, requests) {
    for (const { op } of requests) {
      turn.draft.answer(op, { ok: true, value: { kind: "nothing", more: false } });
    }
  },
};
