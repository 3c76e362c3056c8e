// The state of all queues, updated by each reply of `server.overview`. Pure: a row that has not
// changed stays the same object.

import type {
  OverviewAlarm,
  OverviewMachine,
  OverviewQueues,
  OverviewShard,
  OverviewTotals,
  ServerOverviewReply,
  TaskInfo,
} from "../../openapi/schemas.ts";

/** One queue: its columns, and recent samples of its counters. */
export type QueueRow = {
  readonly [Column in keyof OverviewQueues]: OverviewQueues[Column][number];
} & Flow;

interface Flow {
  readonly in: readonly Sample[];
  readonly out: readonly Sample[];
}

export interface Overview {
  readonly since: string;
  readonly asOfMs: number;
  /** The time of the first overview. */
  readonly firstMs: number;
  readonly totals: OverviewTotals & Flow;
  readonly queues: ReadonlyMap<string, QueueRow>;
  /** In order; the same list until a queue is created or deleted. */
  readonly names: readonly string[];
  readonly shards: readonly OverviewShard[];
  readonly alarms: readonly OverviewAlarm[];
  /** Running tasks, the newest first. */
  readonly tasks: readonly TaskInfo[];
  readonly machine: OverviewMachine;
  /** Shards missing from the last reply; their queues are as before. */
  readonly unreached: readonly number[];
}

export function withReply(before: Overview | null, reply: ServerOverviewReply): Overview {
  const asOfMs = Date.parse(reply.as_of);
  const known = before?.queues ?? new Map<string, QueueRow>();
  const queues = new Map(reply.whole ? [] : known);
  for (const name of reply.removed) queues.delete(name);
  for (const [index, name] of reply.queues.queue_name.entries()) {
    queues.set(name, rowAt({ columns: reply.queues, index, before: known.get(name), asOfMs }));
  }
  const isSame =
    before?.queues.size === queues.size && before.names.every((name) => queues.has(name));
  // Sums over different shards make no rate.
  const isSameSum = before?.unreached.join() === reply.unreached.join();
  const flow = isSameSum ? before?.totals : undefined;
  return {
    since: reply.since,
    asOfMs,
    firstMs: before?.firstMs ?? asOfMs,
    totals: { ...reply.totals, ...flowOf(countsOf(reply.totals), flow, asOfMs) },
    queues,
    names: isSame ? before.names : [...queues.keys()].sort(),
    shards: reply.shards,
    alarms: reply.alarms,
    tasks: reply.tasks,
    machine: reply.machine,
    unreached: reply.unreached,
  };
}

interface RowSource {
  readonly columns: OverviewQueues;
  readonly index: number;
  readonly before: QueueRow | undefined;
  readonly asOfMs: number;
}

function rowAt({ columns, index, before, asOfMs }: RowSource): QueueRow {
  const cells = Object.entries(columns).map(([name, values]) => [name, values[index]]);
  const row = Object.fromEntries(cells) as QueueRow;
  const counts = { in: row.produced_total + row.arrived_total, out: row.completed_total };
  return { ...row, ...flowOf(counts, before, asOfMs) };
}

interface Counts {
  readonly in: number;
  readonly out: number;
}

/** An item that moves between queues counts once. */
function countsOf({ produced_total, completed_total }: OverviewTotals): Counts {
  return { in: produced_total, out: completed_total };
}

function flowOf(counts: Counts, before: Flow | undefined, atMs: number): Flow {
  return {
    in: withSample(before?.in ?? [], { atMs, value: counts.in }),
    out: withSample(before?.out ?? [], { atMs, value: counts.out }),
  };
}

export interface Rates {
  readonly in: number | null;
  readonly out: number | null;
}

export function ratesOf(flow: Flow, nowMs: number): Rates {
  return { in: rateOf(flow.in, nowMs), out: rateOf(flow.out, nowMs) };
}

export interface Sample {
  readonly atMs: number;
  readonly value: number;
}

/** The span of a rate: long enough to be steady, short enough to be current. */
export const windowMs = 10_000;

/** With one more sample, and without those that no rate needs any more. */
export function withSample(samples: readonly Sample[], next: Sample): readonly Sample[] {
  const last = samples.at(-1);
  if (last !== undefined && next.value < last.value) return [next];
  if (last !== undefined && next.atMs <= last.atMs) return samples;
  const from = next.atMs - windowMs;
  // The newest sample before the window is the value at its start.
  const first = samples.findLastIndex(({ atMs }) => atMs <= from);
  return [...samples.slice(Math.max(0, first)), next];
}

/** Per second, up to `nowMs`; since the last sample the counter has not changed. */
export function rateOf(samples: readonly Sample[], nowMs: number): number | null {
  const last = samples.at(-1);
  if (last === undefined) return null;
  const from = nowMs - windowMs;
  const base = samples.findLast(({ atMs }) => atMs <= from) ?? samples[0];
  if (base === undefined) return null;
  const elapsedMs = nowMs - Math.max(base.atMs, from);
  return elapsedMs <= 0 ? null : ((last.value - base.value) / elapsedMs) * 1_000;
}
