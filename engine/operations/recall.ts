// Recall: looks up whether this shard has done a request with a given key. It is needed after the
// partitions of a queue changed: a produce now has another place, or the named partition is gone.

import type { CallKey } from "../model/call-key.ts";
import type { Kind } from "./kind.ts";

export interface Recall {
  readonly kind: "recall";
  readonly key: CallKey;
}

export const recall: Kind<Recall> = {
  phase: "within",
  keyed: { answer: (_, __, values) => ({ ok: true, value: { kind: "recalled", values } }) },
  // Known keys are answered from their receipts before this.
  decide(turn, requests) {
    for (const { op } of requests) {
      turn.draft.answer(op, { ok: true, value: { kind: "nothing" } });
    }
  },
};
