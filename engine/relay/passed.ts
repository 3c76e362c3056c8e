// What shards say of the items that went from one to another. Where two of them differ, the store of
// one went back to an earlier state: it sent, or took, items that it knows nothing of.

import type { Passed } from "../model/messages.ts";
import type { Standing } from "./other-shard.ts";

/** What the others have of a shard, each up to which number. */
export function takenFrom(shard: number, others: readonly Standing[]): Passed["taken"] {
  return others.map((other) => [other.shard, new Map(other.passed.taken).get(shard) ?? 0] as const);
}

/** How far behind its last number a shard goes on that does not know what another has of its items. */
export const numbersPassedOver = 2 ** 20;

/** Items that the shard sent or took, and knows nothing of; with several others at most as many. */
export function stepBackOf(shard: number, own: Passed, others: readonly Standing[]): number {
  const ahead = Math.max(0, ...takenFrom(shard, others).map(([, last]) => last - own.sent));
  const sent = ahead % numbersPassedOver;
  const taken = others.reduce((sum, { shard: source, passed }) => {
    const arrived = new Map(passed.arrived).get(shard) ?? 0;
    return sum + Math.max(0, arrived - (new Map(own.taken).get(source) ?? 0));
  }, 0);
  return sent + taken;
}
