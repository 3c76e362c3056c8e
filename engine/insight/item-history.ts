// What happened to one item, from shard to shard: back to where it came from, and on to where it is.

import type { ItemEvent } from "../model/api.ts";
import { limits } from "../model/limits.ts";
import type { HistoryPart } from "../relay/other-shard.ts";
import type { HistoryOf, Trace } from "../state/history.ts";

/** An id, and the shard that issued it. */
export interface Issued {
  readonly shard: number;
  readonly id: string;
}

export interface Followed {
  readonly events: readonly ItemEvent[];
  /** Where it was last heard of, or on its way from. */
  readonly last: Issued;
  /** What happened before may be missing; `null` = nothing is kept. */
  readonly since: number | null;
}

type Ask = (shard: number, request: HistoryOf) => Promise<HistoryPart>;

interface Start extends Issued {
  readonly slot: number;
  readonly seq: number;
}

export async function follow(start: Start, ask: Ask): Promise<Followed> {
  const before = await walk("back", start, ask);
  const after = await walk("on", start, ask);
  const events = [...before.events, ...after.events.filter(({ id }) => id !== start.id)];
  return { events, last: after.last, since: later(before.since, after.since) };
}

/** `null` = nothing is kept somewhere. */
function later(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : Math.max(one, other);
}

async function walk(
  way: HistoryOf["way"],
  { shard: first, slot, seq, id }: Start,
  ask: Ask,
): Promise<Followed> {
  let events: ItemEvent[] = [];
  let last: Issued = { shard: first, id };
  let since: number | null = 0;
  let at: { shard: number; trace: Trace } | null = { shard: first, trace: { slot, seq } };
  for (let shards = 0; at !== null && shards < limits.historyShardsMax; shards += 1) {
    const { shard, trace }: { shard: number; trace: Trace } = at;
    const told = await ask(shard, { kind: "history", way, trace });
    events = way === "on" ? [...events, ...told.events] : [...told.events, ...events];
    if (told.lastId !== null) last = { shard, id: told.lastId };
    since = later(since, told.since);
    at = told.next;
  }
  return { events, last, since };
}
