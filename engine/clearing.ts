// Clearing a queue over its shards, and counting before what would go.

import type { PartitionPlace } from "../stores/queue.ts";
import type { Guard, ItemCounts } from "./api.ts";
import { clearedInPart, clearedTooMany, countChanged, QueueError } from "./errors.ts";
import type { Value } from "./messages.ts";
import type { Clear, Clearing } from "./shard/clear.ts";

export interface ClearingOptions extends Guard {
  readonly places: Iterable<PartitionPlace>;
  readonly what: Clearing;
  readonly ask: (shard: number, request: Clear) => Promise<Value>;
}

interface Part {
  readonly shard: number;
  readonly slots: readonly number[];
}

/** What was cleared, or would be; `null` = a shard's answer was lost, and with it the counts. */
export async function clearPlaces(options: ClearingOptions): Promise<ItemCounts | null> {
  const { places, what, ask, dryRun = false, expect } = options;
  const parts = [...Map.groupBy(places, ({ shard }) => shard)].map(([shard, here]): Part => {
    return { shard, slots: here.map(({ slot }) => slot) };
  });
  const request = ({ slots }: Part): Clear => ({ kind: "clear", slots, what });
  if (!dryRun && (expect === undefined || parts.length === 1)) {
    return await clearAtOnce(parts, (part) =>
      ask(part.shard, { ...request(part), ...(expect !== undefined && { expect }) }),
    );
  }
  const values = await Promise.all(
    parts.map((part) => ask(part.shard, { ...request(part), isDry: true })),
  );
  const counts = summed(values);
  const total = totalOf(counts);
  if (expect !== undefined && total > expect) throw QueueError.from(countChanged(total, expect));
  if (dryRun || expect === undefined) return counts;
  return await clearInTurn(parts, values, {
    expect,
    ask: (part, bound) => ask(part.shard, { ...request(part), expect: bound }),
  });
}

async function clearAtOnce(
  parts: readonly Part[],
  ask: (part: Part) => Promise<Value>,
): Promise<ItemCounts | null> {
  // All of them, also when one fails: a call that is answered has no effect any more.
  const ended = await Promise.allSettled(parts.map(ask));
  const values = ended.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const failed = ended.find((one) => one.status === "rejected");
  if (failed === undefined) return summed(values);
  const { reason: cause } = failed;
  if (!(cause instanceof QueueError)) throw cause;
  if (values.length === 0 && cause.reason !== "in_part") throw cause;
  throw QueueError.from(clearedInPart(cause.code));
}

/** One shard after the other, each bound by what the others leave, so that it is never more. */
async function clearInTurn(
  parts: readonly Part[],
  counted: readonly Value[],
  {
    expect,
    ask,
  }: {
    readonly expect: number;
    readonly ask: (part: Part, bound: number) => Promise<Value>;
  },
): Promise<ItemCounts | null> {
  const values: Value[] = [];
  let left = expect;
  let later = totalOf(summed(counted));
  for (const [index, part] of parts.entries()) {
    later -= totalOf(summed(counted.slice(index, index + 1)));
    const bound = left - later;
    try {
      values.push(await ask(part, bound));
    } catch (cause) {
      if (!(cause instanceof QueueError)) throw cause;
      if (index > 0) {
        const isMore = cause.reason === "count_changed";
        throw QueueError.from(isMore ? clearedTooMany(expect) : clearedInPart(cause.code));
      }
      if (cause.reason !== "count_changed") throw cause;
      const total = Number(cause.details?.["count"]) + later;
      throw QueueError.from(countChanged(total, expect));
    }
    const cleared = summed(values.slice(-1));
    left -= cleared === null ? bound : totalOf(cleared);
  }
  return summed(values);
}

function summed(values: readonly Value[]): ItemCounts | null {
  const sum = { ready: 0, leased: 0, scheduled: 0, retried: 0 };
  for (const value of values) {
    if (value.kind !== "counted") return null;
    sum.ready += value.ready;
    sum.leased += value.leased;
    sum.scheduled += value.scheduled;
    sum.retried += value.retried;
  }
  return sum;
}

export function totalOf(counts: ItemCounts | null): number {
  if (counts === null) return 0;
  return counts.ready + counts.leased + counts.scheduled + counts.retried;
}
