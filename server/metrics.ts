// What /metrics tells, in the text format of Prometheus. A request costs a few
// additions; all else is put together at the scrape, from the engine's status.
// Operations are labelled from the table of the contract, and only so many queues
// are told apart, so that no client can make the page grow without end.

import { type Metric, Registry } from "prom-client";
import type { EngineStatus, Histogram, QueueGauges, ShardStatus } from "../engine/api.ts";
import { operations, pages } from "../openapi/operations.ts";

/** Queues with a label of their own, those with most items first; the rest is summed up. */
const queueLabelsMax = 100;
/** Label of queues beyond these, whose names cannot have a `~`, and of paths not of the contract. */
const other = "~other";

/** Seconds; from an answer out of memory to the longest wait for an item. */
const requestSecondsBounds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 60, 300, 900,
];

export interface MetricsOptions {
  readonly version: string;
  readonly status: () => EngineStatus;
}

/** What the server itself has in hand. */
export interface ServerGauges {
  readonly requestsInFlight: number;
  readonly bodyBytesInFlight: number;
}

type Labels = Readonly<Record<string, string | number>>;

interface Line {
  readonly labels: Labels;
  readonly value: number;
  /** For the lines of a histogram, which are not named as their family. */
  readonly metricName?: string;
}

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly values: readonly Line[];
}

/** The answered requests of one operation. */
class Answered {
  readonly operation: string;
  readonly countByCode = new Map<number, number>();
  readonly counts: number[] = new Array(requestSecondsBounds.length + 1).fill(0);
  sum = 0;

  constructor(operation: string) {
    this.operation = operation;
  }

  add(code: number, seconds: number): void {
    this.countByCode.set(code, (this.countByCode.get(code) ?? 0) + 1);
    let bucket = 0;
    while (seconds > (requestSecondsBounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket++;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += seconds;
  }
}

export class Metrics {
  readonly contentType: string = Registry.PROMETHEUS_CONTENT_TYPE;
  readonly #options: MetricsOptions;
  readonly #answeredByPath: ReadonlyMap<string, Answered>;
  readonly #answeredElsewhere = new Answered(other);

  constructor(options: MetricsOptions) {
    this.#options = options;
    this.#answeredByPath = new Map(
      Object.entries({ ...operations, ...pages }).map(([name, { path }]) => [
        path,
        new Answered(name),
      ]),
    );
  }

  /** Counts the requests to a path: to be called with the code of each answer and its seconds. */
  counterOf(path: string): (code: number, seconds: number) => void {
    const answered = this.#answeredByPath.get(path) ?? this.#answeredElsewhere;
    return (code, seconds) => answered.add(code, seconds);
  }

  render(server: ServerGauges): Promise<string> {
    const all = new Registry();
    const status = this.#options.status();
    const families = [
      ...this.#requestFamilies(server),
      ...queueFamilies(status),
      ...shardFamilies(status.shards),
      ...processFamilies({ version: this.#options.version, durability: status.durability }),
    ];
    for (const family of families) {
      // `prom-client` asks a metric for no more than this; its own histograms cannot be
      // given counts that were taken elsewhere.
      all.registerMetric({ ...family, get: async () => family } as unknown as Metric);
    }
    return all.metrics();
  }

  #requestFamilies({ requestsInFlight, bodyBytesInFlight }: ServerGauges): Family[] {
    const answered = [...this.#answeredByPath.values(), this.#answeredElsewhere];
    const asked = answered.filter(({ countByCode }) => countByCode.size > 0);
    return [
      counter(
        "holdfast_requests_total",
        "Requests answered, by operation and code.",
        asked.flatMap(({ operation, countByCode }) =>
          [...countByCode].map(([code, value]) => ({ labels: { operation, code }, value })),
        ),
      ),
      histogram(
        "holdfast_request_seconds",
        "Seconds from the head of a request to its answer; leases wait in there.",
        asked.map(({ operation, counts, sum }) => ({
          labels: { operation },
          histogram: { bounds: requestSecondsBounds, counts, sum },
        })),
      ),
      gauge("holdfast_requests_in_flight", "Requests that are not answered yet.", [
        { labels: {}, value: requestsInFlight },
      ]),
      gauge("holdfast_request_body_bytes", "Bytes of the bodies of requests not answered yet.", [
        { labels: {}, value: bodyBytesInFlight },
      ]),
    ];
  }
}

const states = ["queued", "leased", "scheduled", "retried"] as const;
const ends = ["lapsed", "expired", "deadLettered", "discarded"] as const;
const endLabels = {
  lapsed: "lapsed",
  expired: "expired",
  deadLettered: "dead_lettered",
  discarded: "discarded",
} as const satisfies Record<(typeof ends)[number], string>;

function queueFamilies({ queues, waitingLeases }: EngineStatus): Family[] {
  const shown = withOthersSummed(queues);
  return [
    gauge(
      "holdfast_items",
      "Items by queue and state.",
      shown.flatMap((queue) =>
        states.map((state) => ({ labels: { queue: queue.queue, state }, value: queue[state] })),
      ),
    ),
    counter(
      "holdfast_item_ends_total",
      "Leases that lapsed, items that expired, were dead-lettered, or removed for want of a dead queue.",
      shown.flatMap((queue) =>
        ends.map((end) => ({
          labels: { queue: queue.queue, end: endLabels[end] },
          value: queue[end],
        })),
      ),
    ),
    gauge(
      "holdfast_queue_waiting_leases",
      "Lease requests that wait for an item, by queue.",
      shown.map((queue) => ({ labels: { queue: queue.queue }, value: queue.waitingLeases })),
    ),
    gauge("holdfast_waiting_leases", "Lease requests that wait for an item.", [
      { labels: {}, value: waitingLeases },
    ]),
    gauge("holdfast_queues", "Queues that exist.", [{ labels: {}, value: queues.length }]),
  ];
}

function withOthersSummed(queues: readonly QueueGauges[]): readonly QueueGauges[] {
  if (queues.length <= queueLabelsMax) return queues;
  const size = ({ queued, leased, scheduled, retried }: QueueGauges) =>
    queued + leased + scheduled + retried;
  const bySize = queues.toSorted((a, b) => size(b) - size(a));
  const rest = bySize.slice(queueLabelsMax);
  const sum = (key: Exclude<keyof QueueGauges, "queue">) =>
    rest.reduce((total, queue) => total + queue[key], 0);
  return [
    ...bySize.slice(0, queueLabelsMax),
    {
      queue: other,
      queued: sum("queued"),
      leased: sum("leased"),
      scheduled: sum("scheduled"),
      retried: sum("retried"),
      waitingLeases: sum("waitingLeases"),
      discarded: sum("discarded"),
      deadLettered: sum("deadLettered"),
      lapsed: sum("lapsed"),
      expired: sum("expired"),
    },
  ];
}

function shardFamilies(shards: readonly ShardStatus[]): Family[] {
  const each = eachOf(shards);
  return [
    gauge(
      "holdfast_shard_up",
      "Whether the shard answers: 1 or 0.",
      each(({ up }) => (up ? 1 : 0)),
    ),
    counter(
      "holdfast_shard_restarts_total",
      "Workers started in place of one that died.",
      each(({ restarts }) => restarts),
    ),
    ...commitFamilies(shards),
    gauge(
      "holdfast_wal_bytes",
      "Size of the store's write-ahead log.",
      each(({ walBytes }) => walBytes),
    ),
    gauge(
      "holdfast_file_bytes",
      "Size of the store's file.",
      each(({ fileBytes }) => fileBytes),
    ),
    gauge(
      "holdfast_quarantined_items",
      "Damaged items set aside instead of being offered.",
      each(({ quarantined }) => quarantined),
    ),
    gauge(
      "holdfast_miscounted_items",
      "Items that starts found missing, or too many, against what was counted with each commit.",
      each(({ miscounted }) => miscounted),
    ),
  ];
}

function commitFamilies(shards: readonly ShardStatus[]): Family[] {
  const each = eachOf(shards);
  const spread = (of: (shard: ShardStatus) => Histogram) =>
    shards.map((shard) => ({ labels: { shard: shard.shard }, histogram: of(shard) }));
  return [
    counter(
      "holdfast_store_failures_total",
      "Commits that the store refused or failed.",
      each(({ failures }) => failures),
    ),
    counter(
      "holdfast_commits_total",
      "Commits, each with one sync.",
      each(({ commits }) => commits),
    ),
    counter(
      "holdfast_items_committed_total",
      "Items written by commits.",
      each(({ itemsCommitted }) => itemsCommitted),
    ),
    histogram(
      "holdfast_items_per_commit",
      "Items that one commit wrote.",
      spread(({ itemsPerCommit }) => itemsPerCommit),
    ),
    histogram(
      "holdfast_commit_seconds",
      "Seconds that a commit took, its sync included.",
      spread(({ commitSeconds }) => commitSeconds),
    ),
  ];
}

/** A figure of every shard, with the shard as its label. */
function eachOf(shards: readonly ShardStatus[]) {
  return (value: (shard: ShardStatus) => number): Line[] =>
    shards.map((shard) => ({ labels: { shard: shard.shard }, value: value(shard) }));
}

function processFamilies(labels: { version: string; durability: string }): Family[] {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return [
    gauge("holdfast_info", "Version and durability of the server, as labels; always 1.", [
      { labels, value: 1 },
    ]),
    gauge("process_resident_memory_bytes", "Memory of the process, its workers included.", [
      { labels: {}, value: rss },
    ]),
    gauge("process_heap_bytes", "JavaScript heap in use, that of the workers aside.", [
      { labels: {}, value: heapUsed },
    ]),
    counter("process_cpu_seconds_total", "Processor time of the process.", [
      { labels: {}, value: (user + system) / 1e6 },
    ]),
    gauge("process_start_time_seconds", "When the process started, in seconds since 1970.", [
      { labels: {}, value: Math.round(Date.now() / 1000 - process.uptime()) },
    ]),
  ];
}

function counter(name: string, help: string, values: readonly Line[]): Family {
  return { name, help, type: "counter", values };
}

function gauge(name: string, help: string, values: readonly Line[]): Family {
  return { name, help, type: "gauge", values };
}

interface Spread {
  readonly labels: Labels;
  readonly histogram: Histogram;
}

/** Prometheus counts a bucket together with all below it. */
function histogram(name: string, help: string, spreads: readonly Spread[]): Family {
  const values = spreads.flatMap(({ labels, histogram: { bounds, counts, sum } }) => {
    let total = 0;
    const buckets = counts.map((count, index): Line => {
      total += count;
      const le = bounds[index] ?? "+Inf";
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: total };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: total },
    ];
  });
  return { name, help, type: "histogram", values };
}
