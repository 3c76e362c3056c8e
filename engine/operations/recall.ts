// Recall: whether something was done here for a key, when the partitions of its queue have changed
// since: what is produced has another place now, or the partition that a call names is gone.

import type { CallKey } from "../model/call-key.ts";
import type { Kind } from "./kind.ts";

export interface Recall {
  readonly kind: "recall";
  readonly key: CallKey;
}

export const recall: Kind<Recall> = {
  phase: "within",
  keyed: { answer: (_, __, values) => ({ ok: true, value: { kind: "recalled", values } }) },
  // What is known is answered from its receipt.
  decide(turn, requests) {
    for (const { op } of requests) {
      turn.draft.answer(op, { ok: true, value: { kind: "nothing" } });
    }
  },
};
