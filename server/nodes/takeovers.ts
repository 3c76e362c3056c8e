// How often this node took shards over, why, and how long that took.

import { Observations } from "../../engine/model/histogram.ts";

/** No node had the shard; its owner was silent; it was this node's own before. */
const takeoverReasons = ["free", "lapsed", "own"] as const;
export type TakeoverReason = (typeof takeoverReasons)[number];

export const takeoverReasonTexts: Readonly<Record<TakeoverReason, string>> = {
  free: "free",
  lapsed: "lapsed",
  own: "its own before",
};

export interface Takeovers {
  readonly reason: TakeoverReason;
  readonly count: number;
  /** From the row of the shard to a shard that is open, of those that got so far. */
  readonly seconds: Observations;
}

const secondsBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export class TakeoverCounts {
  readonly #all = takeoverReasons.map((reason) => ({
    ...{ reason, count: 0 },
    seconds: new Observations(secondsBounds),
  }));

  get all(): readonly Takeovers[] {
    return this.#all;
  }

  taken(reason: TakeoverReason): void {
    const takeovers = this.#of(reason);
    if (takeovers !== undefined) takeovers.count += 1;
  }

  opened(reason: TakeoverReason, seconds: number): void {
    this.#of(reason)?.seconds.add(seconds);
  }

  #of(reason: TakeoverReason) {
    return this.#all[takeoverReasons.indexOf(reason)];
  }
}
