// What happened to one item, from shard to shard: back to where it came from, and on to where it is.

import { limits } from "../model/limits.ts";
import type { Happened, Value } from "../model/messages.ts";
import type { HistoryOf, Trace } from "../state/history.ts";

type Told = Extract<Value, { kind: "history" }>;

export interface Step extends Happened {
  readonly shard: number;
}

export interface Place {
  readonly shard: number;
  readonly slot: number;
  readonly seq: number;
}

export interface Followed {
  readonly steps: readonly Step[];
  /** Where it was last heard of, or on its way from. */
  readonly last: Place;
  /** What happened before may be missing; `null` = nothing is kept. */
  readonly since: number | null;
}

export async function follow(
  start: Place,
  ask: (shard: number, request: HistoryOf) => Promise<Told>,
): Promise<Followed> {
  const before = await walk("back", start, ask);
  const after = await walk("on", start, ask);
  const isStart = ({ shard, slot, seq }: Step): boolean =>
    shard === start.shard && slot === start.slot && seq === start.seq;
  const steps = [...before.steps, ...after.steps.filter((step) => !isStart(step))];
  return { steps, last: after.last, since: later(before.since, after.since) };
}

/** `null` = nothing is kept somewhere. */
function later(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : Math.max(one, other);
}

async function walk(
  way: HistoryOf["way"],
  { shard: first, slot, seq }: Place,
  ask: (shard: number, request: HistoryOf) => Promise<Told>,
): Promise<Followed> {
  let steps: Step[] = [];
  let last: Place = { shard: first, slot, seq };
  let since: number | null = 0;
  let at: { shard: number; trace: Trace } | null = { shard: first, trace: { slot, seq } };
  for (let shards = 0; at !== null && shards < limits.historyShardsMax; shards += 1) {
    const { shard, trace }: { shard: number; trace: Trace } = at;
    const told = await ask(shard, { kind: "history", way, trace });
    const found = told.happened.map((one) => ({ ...one, shard }));
    steps = way === "on" ? [...steps, ...found] : [...found, ...steps];
    if (told.last !== null) last = { shard, ...told.last };
    since = later(since, told.since);
    at = told.next;
  }
  return { steps, last, since };
}
