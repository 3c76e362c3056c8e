// Compares what two shards know of the items exchanged between them. If they differ, the store of
// one went back to an earlier state: it sent or took items that it no longer knows.

import type { Passed } from "../model/messages.ts";
import type { Standing } from "./other-shard.ts";

/** The last number that each of the others has of a shard. */
export function takenFrom(shard: number, others: readonly Standing[]): Passed["taken"] {
  return others.map((other) => [other.shard, new Map(other.passed.taken).get(shard) ?? 0] as const);
}

/** Numbers that a shard skips after its last one if it does not know what another shard has. */
export const numbersPassedOver = 2 ** 20;

/** Items that the shard sent or took but no longer knows; with several others an upper bound. */
export function stepBackOf(shard: number, own: Passed, others: readonly Standing[]): number {
  const ahead = Math.max(0, ...takenFrom(shard, others).map(([, last]) => last - own.sent));
  const sent = ahead % numbersPassedOver;
  const taken = others.reduce((sum, { shard: source, passed }) => {
    const arrived = new Map(passed.arrived).get(shard) ?? 0;
    return sum + Math.max(0, arrived - (new Map(own.taken).get(source) ?? 0));
  }, 0);
  return sent + taken;
}
