// What is known of all queues, and what a reply of `server.overview` makes of it. Pure: a row that
// has not changed stays the same object.

import type {
  OverviewAlarm,
  OverviewMachine,
  OverviewQueues,
  OverviewShard,
  OverviewTotals,
  ServerOverviewReply,
  TaskInfo,
} from "../../openapi/schemas.ts";
import { rateOf, type Sample, withSample } from "./rates.ts";

/** One queue: what its columns say, and how its counters went. */
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
  /** When the console saw the server for the first time. */
  readonly firstMs: number;
  readonly totals: OverviewTotals & Flow;
  readonly queues: ReadonlyMap<string, QueueRow>;
  /** In order; the same list until a queue comes or goes. */
  readonly names: readonly string[];
  readonly shards: readonly OverviewShard[];
  readonly alarms: readonly OverviewAlarm[];
  /** Those that run, the newest first. */
  readonly tasks: readonly TaskInfo[];
  readonly machine: OverviewMachine;
  /** Shards that are missing in the last reply; their queues are as they were before it. */
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
  // Sums over other shards make no rate together.
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

/** What goes from queue to queue comes in once. */
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
