// What /metrics tells, in the text format of Prometheus. A request costs a few
// additions; all else is put together at the scrape, from the engine's status.
// Operations are labelled from the table of the contract, and only so many queues
// are told apart, so that no client can make the page grow without end.

import { type Metric, Registry } from "prom-client";
import type { EngineStatus, Histogram, QueueGauges, ShardStatus } from "../engine/api.ts";
import { Observations } from "../engine/histogram.ts";
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
  /** Absent = the server is alone with its stores. */
  readonly node?: () => NodeFigures;
}

/** One of several nodes on one database. */
export interface NodeFigures {
  readonly isOwner: boolean;
  /** Whether it may answer from memory. */
  readonly isTrusted: boolean;
  readonly epoch: number;
  readonly takeovers: number;
  readonly forwarded: number;
  readonly peersUp: number;
  readonly nodes: number;
}

/** What the server itself has in hand. */
export interface ServerGauges {
  readonly requestsInFlight: number;
  readonly bodyBytesInFlight: number;
}

type Labels = Readonly<Record<string, string | number>>;
type Figure = readonly [labels: Labels, value: number | Histogram];
type Head = [name: string, type: "counter" | "gauge" | "histogram", help: string];
type Family = readonly [...head: Head, figures: readonly Figure[]];

/** A figure without labels. */
type Single = readonly [...head: Head, value: number];

const single = ([name, type, help, value]: Single): Family => [name, type, help, [[{}, value]]];

/** The answered requests of one operation. */
class Answered {
  readonly operation: string;
  readonly countByCode = new Map<number, number>();
  readonly seconds = new Observations(requestSecondsBounds);

  constructor(operation: string) {
    this.operation = operation;
  }

  add(code: number, seconds: number): void {
    this.countByCode.set(code, (this.countByCode.get(code) ?? 0) + 1);
    this.seconds.add(seconds);
  }
}

export class Metrics {
  readonly contentType: string = Registry.PROMETHEUS_CONTENT_TYPE;
  readonly #options: MetricsOptions;
  readonly #answeredByPath: ReadonlyMap<string, Answered>;
  readonly #answeredElsewhere = new Answered(other);

  constructor(options: MetricsOptions) {
    this.#options = options;
    const paths = Object.entries({ ...operations, ...pages });
    this.#answeredByPath = new Map(paths.map(([name, { path }]) => [path, new Answered(name)]));
  }

  /** Counts the requests to a path: to be called with the code of each answer and its seconds. */
  counterOf(path: string): (code: number, seconds: number) => void {
    const answered = this.#answeredByPath.get(path) ?? this.#answeredElsewhere;
    return (code, seconds) => answered.add(code, seconds);
  }

  render(server: ServerGauges): Promise<string> {
    const all = new Registry();
    const status = this.#options.status();
    const { durability, shards } = status;
    const families = [
      ...this.#requestFamilies(server),
      ...queueFamilies(status),
      ...shardFamilies(shards),
      ...processFamilies({ version: this.#options.version, durability }),
      ...nodeFamilies(this.#options.node?.()),
    ];
    for (const [name, type, help, figures] of families) {
      const values = figures.flatMap((figure) => lines(name, figure));
      // `prom-client` asks a metric for no more than this; its own histograms cannot be
      // given counts that were taken elsewhere.
      const metric = { name, type, help, get: async () => ({ name, type, help, values }) };
      all.registerMetric(metric as unknown as Metric);
    }
    return all.metrics();
  }

  #requestFamilies({ requestsInFlight, bodyBytesInFlight }: ServerGauges): Family[] {
    const answered = [...this.#answeredByPath.values(), this.#answeredElsewhere];
    const asked = answered.filter(({ countByCode }) => countByCode.size > 0);
    const inFlight = "Requests that are not answered yet.";
    const bodyBytes = "Bytes of the bodies of requests not answered yet.";
    return [
      [
        "holdfast_requests_total",
        "counter",
        "Requests answered, by operation and code.",
        asked.flatMap(({ operation, countByCode }) =>
          [...countByCode].map(([code, count]): Figure => [{ operation, code }, count]),
        ),
      ],
      [
        "holdfast_request_seconds",
        "histogram",
        "Seconds from the head of a request to its answer; leases wait in there.",
        asked.map(({ operation, seconds }) => [{ operation }, seconds]),
      ],
      single(["holdfast_requests_in_flight", "gauge", inFlight, requestsInFlight]),
      single(["holdfast_request_body_bytes", "gauge", bodyBytes, bodyBytesInFlight]),
    ];
  }
}

function nodeFamilies(node: NodeFigures | undefined): Family[] {
  if (node === undefined) return [];
  const { isOwner, isTrusted, epoch, takeovers, forwarded, peersUp, nodes } = node;
  const rows: readonly Single[] = [
    ["holdfast_node_owner", "gauge", "Whether this node has the shards: 1 or 0.", Number(isOwner)],
    [
      "holdfast_node_trusted",
      "gauge",
      "Whether it has had a sign from the database lately enough to answer from memory: 1 or 0.",
      Number(isTrusted),
    ],
    ["holdfast_node_epoch", "gauge", "How often the shards were taken over, by any node.", epoch],
    ["holdfast_node_takeovers_total", "counter", "Times that this node took them over.", takeovers],
    ["holdfast_node_forwarded_total", "counter", "Calls that it forwarded.", forwarded],
    ["holdfast_node_peers", "gauge", "Other nodes that it is connected to.", peersUp],
    ["holdfast_nodes", "gauge", "Nodes seen lately, this one included.", nodes],
  ];
  return rows.map(single);
}

const states = ["queued", "leased", "scheduled", "retried"] as const;
const ends = {
  lapsed: "lapsed",
  expired: "expired",
  deadLettered: "dead_lettered",
  discarded: "discarded",
} as const;
const endKeys = Object.keys(ends) as (keyof typeof ends)[];

function queueFamilies({ queues, waitingLeases }: EngineStatus): Family[] {
  const shown = withOthersSummed(queues);
  return [
    [
      "holdfast_items",
      "gauge",
      "Items by queue and state.",
      shown.flatMap(({ queue, ...counts }) =>
        states.map((state): Figure => [{ queue, state }, counts[state]]),
      ),
    ],
    [
      "holdfast_item_ends_total",
      "counter",
      "Leases that lapsed, items that expired, were dead-lettered, or removed for want of a dead queue.",
      shown.flatMap(({ queue, ...counts }) =>
        endKeys.map((end): Figure => [{ queue, end: ends[end] }, counts[end]]),
      ),
    ],
    [
      "holdfast_queue_waiting_leases",
      "gauge",
      "Lease requests that wait for an item, by queue.",
      shown.map(({ queue, waitingLeases }) => [{ queue }, waitingLeases]),
    ],
    [
      "holdfast_queue_paused",
      "gauge",
      "Whether leases or produces of the queue are paused: 1 or 0.",
      shown.flatMap(({ queue, leasePaused, producePaused }): Figure[] => [
        [{ queue, side: "lease" }, Number(leasePaused)],
        [{ queue, side: "produce" }, Number(producePaused)],
      ]),
    ],
    [
      "holdfast_queue_leased_max",
      "gauge",
      "Items of the queue that may be leased at one time, where that has a limit.",
      shown.flatMap(({ queue, leasedMax }): Figure[] =>
        leasedMax > 0 ? [[{ queue }, leasedMax]] : [],
      ),
    ],
    [
      "holdfast_queue_lease_rate",
      "gauge",
      "Items of the queue that may be leased in a second, where that has a limit.",
      shown.flatMap(({ queue, leaseRate }): Figure[] =>
        leaseRate > 0 ? [[{ queue }, leaseRate]] : [],
      ),
    ],
    single([
      "holdfast_waiting_leases",
      "gauge",
      "Lease requests that wait for an item.",
      waitingLeases,
    ]),
    single(["holdfast_queues", "gauge", "Queues that exist.", queues.length]),
  ];
}

function withOthersSummed(queues: readonly QueueGauges[]): readonly QueueGauges[] {
  if (queues.length <= queueLabelsMax) return queues;
  const size = (queue: QueueGauges) => states.reduce((sum, state) => sum + queue[state], 0);
  const bySize = queues.toSorted((a, b) => size(b) - size(a));
  const rest = bySize.splice(queueLabelsMax);
  const sum = (key: Exclude<keyof QueueGauges, "queue">) =>
    rest.reduce((total, queue) => total + Number(queue[key]), 0);
  const others = ["waitingLeases", "leasePaused", "producePaused"] as const;
  const sums = [...states, ...endKeys, ...others].map((key) => [key, sum(key)]);
  // Limits of different queues have no sum.
  return [...bySize, { queue: other, leasedMax: 0, leaseRate: 0, ...Object.fromEntries(sums) }];
}

/** `key`: where the figure stands in a shard's status. */
const ofShards = [
  ["holdfast_shard_up", "gauge", "Whether the shard answers: 1 or 0.", "up"],
  [
    "holdfast_shard_restarts_total",
    "counter",
    "Workers started in place of one that died.",
    "restarts",
  ],
  [
    "holdfast_store_failures_total",
    "counter",
    "Commits that the store refused or failed.",
    "failures",
  ],
  ["holdfast_commits_total", "counter", "Commits, each with one sync.", "commits"],
  ["holdfast_items_committed_total", "counter", "Items written by commits.", "itemsCommitted"],
  ["holdfast_items_per_commit", "histogram", "Items that one commit wrote.", "itemsPerCommit"],
  [
    "holdfast_commit_seconds",
    "histogram",
    "Seconds that a commit took, its sync included.",
    "commitSeconds",
  ],
  ["holdfast_wal_bytes", "gauge", "Size of the store's write-ahead log.", "walBytes"],
  ["holdfast_file_bytes", "gauge", "Size of the store's file.", "fileBytes"],
  [
    "holdfast_quarantined_items",
    "gauge",
    "Damaged items set aside instead of being offered.",
    "quarantined",
  ],
  [
    "holdfast_miscounted_items",
    "gauge",
    "Items that starts found missing, or too many, against what was counted with each commit.",
    "miscounted",
  ],
  [
    "holdfast_store_full",
    "gauge",
    "Whether the store has no room, and refuses what only adds: 1 or 0.",
    "full",
  ],
] as const;

function shardFamilies(shards: readonly ShardStatus[]): Family[] {
  return ofShards.map(([name, type, help, key]) => {
    const figures = shards.map(({ shard, up, full, ...same }): Figure => {
      const status = { ...same, up: up ? 1 : 0, full: full ? 1 : 0 };
      return [{ shard }, status[key]];
    });
    return [name, type, help, figures];
  });
}

function processFamilies(labels: { version: string; durability: string }): Family[] {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const cpuSeconds = (user + system) / 1e6;
  const startedAt = Math.round(Date.now() / 1000 - process.uptime());
  const about = "Version and durability of the server, as labels; always 1.";
  const figures: Single[] = [
    ["process_resident_memory_bytes", "gauge", "Memory of the process, its workers included.", rss],
    ["process_heap_bytes", "gauge", "JavaScript heap in use, that of the workers aside.", heapUsed],
    ["process_cpu_seconds_total", "counter", "Processor time of the process.", cpuSeconds],
    [
      "process_start_time_seconds",
      "gauge",
      "When the process started, in seconds since 1970.",
      startedAt,
    ],
  ];
  return [["holdfast_info", "gauge", about, [[labels, 1]]], ...figures.map(single)];
}

/** Prometheus counts a bucket together with all below it. */
function lines(name: string, [labels, value]: Figure) {
  if (typeof value === "number") return [{ labels, value }];
  const { bounds, counts, sum } = value;
  let total = 0;
  const buckets = counts.map((count, index) => {
    total += count;
    const le = bounds[index] ?? "+Inf";
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: total };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: total },
  ];
}
