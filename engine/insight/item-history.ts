// The history of one item across shards: first back to its origin, then forward to its present
// place.

import type { ItemEvent } from "../model/api.ts";
import { limits } from "../model/limits.ts";
import type { Trace } from "../model/messages.ts";
import type { HistoryPart } from "../relay/other-shard.ts";
import type { HistoryOf } from "../state/history.ts";

/** An id, and the shard that issued it. */
export interface Issued {
  readonly shard: number;
  readonly id: string;
}

export interface FollowedItem {
  readonly events: readonly ItemEvent[];
  /** Its last known place, or the last place that it left. */
  readonly last: Issued;
  /** Earlier events may be missing; `null` = no history is kept. */
  readonly since: number | null;
}

type AskShard = (shard: number, request: HistoryOf) => Promise<HistoryPart>;

interface Start extends Issued {
  readonly slot: number;
  readonly seq: number;
}

export async function follow(start: Start, ask: AskShard): Promise<FollowedItem> {
  const before = await walk("earlier", start, ask);
  const after = await walk("later", start, ask);
  const events = [...before.events, ...after.events.filter(({ id }) => id !== start.id)];
  return { events, last: after.last, since: later(before.since, after.since) };
}

/** `null` = a shard keeps no history. */
function later(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : Math.max(one, other);
}

async function walk(
  direction: HistoryOf["direction"],
  { shard: first, slot, seq, id }: Start,
  ask: AskShard,
): Promise<FollowedItem> {
  let events: ItemEvent[] = [];
  let last: Issued = { shard: first, id };
  let since: number | null = 0;
  let at: { shard: number; trace: Trace } | null = { shard: first, trace: { slot, seq } };
  for (let shards = 0; at !== null && shards < limits.historyShardsMax; shards += 1) {
    const { shard, trace }: { shard: number; trace: Trace } = at;
    const part = await ask(shard, { kind: "history", direction, trace });
    events = direction === "later" ? [...events, ...part.events] : [...part.events, ...events];
    if (part.lastId !== null) last = { shard, id: part.lastId };
    since = later(since, part.since);
    at = part.next;
  }
  return { events, last, since };
}
