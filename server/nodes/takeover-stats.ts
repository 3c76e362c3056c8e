// Counts this node's takeovers by reason, and measures how long they took.

import { Observations } from "../../engine/model/histogram.ts";

export interface TakeoverStats {
  /** No node owned the shard; its owner's lease lapsed; its row already named this node. */
  readonly reason: "free" | "lapsed" | "own";
  count: number;
  /** Seconds from reading the shard's row until it was open; failed takeovers are absent. */
  readonly seconds: Observations;
}

const secondsBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export type TakeoversByReason = Readonly<Record<TakeoverStats["reason"], TakeoverStats>>;

export function noTakeovers(): TakeoversByReason {
  const stats = (reason: TakeoverStats["reason"]): TakeoverStats => ({
    ...{ reason, count: 0 },
    seconds: new Observations(secondsBounds),
  });
  return { free: stats("free"), lapsed: stats("lapsed"), own: stats("own") };
}
