// Sample replies for tests of merging; a test gives only the fields that it is about.

import type { EngineStatus, QueueGauges, ShardStatus } from "../../../engine/model/api.ts";
import { noCounters } from "../../../engine/model/queue-counters.ts";
import { operations } from "../../../openapi/operations.ts";
import {
  type ItemExplained,
  type OverviewAlarm,
  type QueueInfo,
  type ServerOverviewReply,
  sampleTask,
} from "../../../openapi/schemas.ts";

const instant = (ms: number) => new Date(ms).toISOString();

export function sampleQueue(queue_name: string): QueueInfo {
  return { ...operations.queueInfo.replies[200].example, queue_name };
}

export function sampleExplained({
  events = 0,
  isFound = false,
}: {
  readonly events?: number;
  readonly isFound?: boolean;
}): ItemExplained {
  const { item, history, ...sample } = operations.explainItem.replies[200].example;
  const [event] = history;
  return {
    ...sample,
    ...(isFound && item && { item }),
    history: Array.from({ length: events }, () => event).filter((one) => one !== undefined),
    // Absent from a shard that did not issue the id.
    history_since: events === 0 ? null : sample.history_since,
  };
}

interface OverviewSample {
  /** The number of the shard that replies. */
  readonly shard?: number;
  /** The instant of the reply and of its figures, in epoch milliseconds. */
  readonly at?: number;
  readonly since?: string;
  readonly queues?: readonly string[];
  readonly removed?: string[];
  readonly poll_after_ms?: number;
  /** The start instants of tasks, in epoch milliseconds. */
  readonly tasks?: readonly number[];
  readonly alarms?: OverviewAlarm[];
}

/** The changes of one shard since an earlier reply. */
export function sampleOverview({
  shard = 0,
  at = 0,
  since = "a.1",
  queues = [],
  removed = [],
  poll_after_ms = 1_000,
  tasks = [],
  alarms = [],
}: OverviewSample): ServerOverviewReply {
  const sample = operations.overview.replies[200].example;
  const columns = Object.entries(sample.queues).map(([name, values]) => [
    name,
    queues.map((queue) => ({ queue_name: queue, shard })[name] ?? values[0]),
  ]);
  return {
    ...sample,
    ...{ now: instant(at), machine_now: instant(at), as_of: instant(at), since, whole: false },
    ...{ poll_after_ms, removed, alarms },
    totals: { ...sample.totals, queues: queues.length },
    queues: Object.fromEntries(columns) as ServerOverviewReply["queues"],
    shards: sample.shards.slice(0, 1).map((one) => ({ ...one, shard })),
    tasks: tasks.map((begun) => ({ ...sampleTask, created_at: instant(begun) })),
  };
}

const noTimes = { bounds: [], counts: [0], sum: 0 };

const firstShard: ShardStatus = {
  ...{ shard: 0, up: true, restarts: 0, failures: 0, commits: 0, itemsCommitted: 0 },
  ...{ itemsPerCommit: noTimes, commitSeconds: noTimes, walBytes: 0, fileBytes: 0 },
  ...{ quarantined: 0, miscounted: 0, receipts: 0, full: false },
};

const gauges: QueueGauges = {
  ...{ queue: "", queued: 0, leased: 0, scheduled: 0, retried: 0, waitingLeases: 0 },
  ...{ leasePaused: false, producePaused: false, leasedMax: 0, leaseRate: 0 },
  ...{ oldestReadyAt: null, nextDueAt: null, counters: noCounters, waited: null, held: null },
};

export function sampleStatus({
  shard = 0,
  queues = [],
  ...change
}: Partial<Omit<EngineStatus, "queues" | "shards">> & {
  /** The number of the shard. */
  readonly shard?: number;
  readonly queues?: readonly string[];
}): EngineStatus {
  return {
    ...{ now: 0, durability: "full", waitingLeases: 0, shards: [{ ...firstShard, shard }] },
    queues: queues.map((queue) => ({ ...gauges, queue })),
    ...change,
  };
}
