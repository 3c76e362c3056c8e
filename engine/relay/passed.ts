// What shards say of the items that went from one to another. Where two of them differ, the store of
// one went back to an earlier state: it sent, or took, items that it knows nothing of.

import type { Passed } from "../model/messages.ts";

/** What the other shards have of a shard, each up to which number. */
export function takenFrom(shard: number, all: readonly Passed[]): Passed["taken"] {
  return all.flatMap(({ taken }, target) => {
    if (target === shard) return [];
    return [[target, new Map(taken).get(shard) ?? 0] as const];
  });
}

export interface StepBack {
  readonly shard: number;
  /** Items that it sent or took since, and knows nothing of; with more than two shards at most as many. */
  readonly count: number;
}

export function stepsBack(all: readonly Passed[]): StepBack[] {
  return all.flatMap((own, shard) => {
    const sent = Math.max(0, ...takenFrom(shard, all).map(([, last]) => last - own.sent));
    const taken = all.reduce((sum, { arrived }, source) => {
      const lacking = (new Map(arrived).get(shard) ?? 0) - (new Map(own.taken).get(source) ?? 0);
      return sum + Math.max(0, lacking);
    }, 0);
    return sent + taken === 0 ? [] : [{ shard, count: sent + taken }];
  });
}
