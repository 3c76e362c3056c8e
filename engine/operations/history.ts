// History: the recorded events of one item in this shard.

import { limits } from "../model/limits.ts";
import type { HistoryOf } from "../state/history.ts";
import { answering, type Operation } from "./operation.ts";

export const history: Operation<HistoryOf> = {
  phase: "before",
  // It searches the whole ring, which takes a few milliseconds.
  weight: () => limits.turnWeightMax,
  decide: answering(({ shard, history: kept }, { direction, trace }) => ({
    ok: true,
    value: { kind: "history", ...kept.follow(shard, direction, trace), since: kept.since },
  })),
};
