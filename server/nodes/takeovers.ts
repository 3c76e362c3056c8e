// Counts this node's takeovers by reason, and measures how long they took.

import { Observations } from "../../engine/model/histogram.ts";

/** No node owned the shard; its owner's lease lapsed; its row already named this node. */
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
  /** Seconds from reading the shard's row until it was open; failed takeovers are absent. */
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
