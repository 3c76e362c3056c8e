// The contents of /metrics. Each request costs a few additions; the rest is built at the scrape,
// from the engine's status. Labels are operations of the contract and a bounded number of queues,
// so clients cannot make the page grow without bound.

import type { EngineStatus, ShardStatus } from "../../engine/model/api.ts";
import { limits } from "../../engine/model/limits.ts";
import { shareOf } from "../../engine/model/placement.ts";
import type { OverviewMachine } from "../../openapi/schemas.ts";
import type { Membership } from "../nodes/membership.ts";
import type { Router } from "../nodes/router.ts";
import { type Family, type Sample, type Single, single, textOf } from "./families.ts";
import type { LostCommits } from "./lost-commits.ts";
import { QueueMetrics, queueLabelsMax } from "./queue-metrics.ts";
import { RequestCounts } from "./request-counts.ts";

export interface MetricsOptions {
  readonly version: string;
  readonly status: () => EngineStatus | Promise<EngineStatus>;
  /** Queues with a label of their own, the busiest; default `queueLabelsMax`. */
  readonly queuesMax?: number;
  /** Most calls with a key that all shards together remember; default `limits.receiptsMax`. */
  readonly receiptsMax?: number;
  /** Absent = the outcome of each commit is known at once. */
  readonly commitFates?: () => CommitFates;
  /** Absent = the stores cannot lose commits. */
  readonly lostCommits?: LostCommits;
  /** Absent = the server is not one of several nodes. */
  readonly node?: () => NodeStats;
  /** Absent = disk and backups are unknown. */
  readonly machine?: () => OverviewMachine;
  /** Whether the server makes backups; default no. */
  readonly hasBackups?: boolean;
}

/** Counts of commits since the process started. */
export interface CommitFates {
  readonly lost: number;
  /** The commit had no answer, and was found in the database. */
  readonly held: number;
  /** The commit had no answer, and was not found in the database. */
  readonly notHeld: number;
}

/** State of this node, which is one of several on one database. */
export interface NodeStats {
  /** Numbers of the shards that it owns. */
  readonly held: readonly number[];
  /** Whether it may answer from memory. */
  readonly isTrusted: boolean;
  /** Shards that it has handed over. */
  readonly handOvers: number;
  readonly takeovers: Membership["takeovers"];
  readonly forwarded: Router["forwarded"];
  readonly peersUp: number;
  readonly nodes: number;
}

/** Requests in progress. */
export interface ServerGauges {
  readonly requestsInFlight: number;
  readonly bodyBytesInFlight: number;
}

export const metricsType = "text/plain; version=0.0.4; charset=utf-8";

export class Metrics {
  readonly #options: MetricsOptions;
  readonly #queues: QueueMetrics;
  /** Requests that this thread answers. */
  readonly requests = new RequestCounts();

  constructor(options: MetricsOptions) {
    this.#options = options;
    this.#queues = new QueueMetrics(options.queuesMax ?? queueLabelsMax);
  }

  /** `requests`: the counts of all threads; default: only those of this thread. */
  async render(server: ServerGauges, requests: RequestCounts = this.requests): Promise<string> {
    const status = await this.#options.status();
    const { durability, shards, queues, waitingLeases } = status;
    const unconfirmedHelp = "Lost commits that no operator has confirmed yet.";
    const unconfirmed = this.#options.lostCommits?.unconfirmed ?? 0;
    const waiting = "Lease requests that wait for an item.";
    const receiptsMax = shareOf(this.#options.receiptsMax ?? limits.receiptsMax, shards.length);
    const most = "Calls with a key that each shard remembers at most.";
    return textOf([
      ...requestFamilies(server, requests),
      ...this.#queues.families(queues, status.now),
      single(["holdfast_waiting_leases", "gauge", waiting, waitingLeases]),
      single(["holdfast_queues", "gauge", "Queues that exist.", queues.length]),
      ...shardFamilies(shards),
      single(["holdfast_receipts_max", "gauge", most, receiptsMax]),
      ...fateFamilies(this.#options.commitFates?.()),
      single(["holdfast_lost_commits_unconfirmed", "gauge", unconfirmedHelp, unconfirmed]),
      ...this.#machineFamilies(),
      ...processFamilies({ version: this.#options.version, durability }),
      ...nodeFamilies(this.#options.node?.()),
    ]);
  }

  #machineFamilies(): Family[] {
    const { machine, hasBackups = false } = this.#options;
    const { disk_bytes = 0, disk_free_bytes = 0, last_backup_at = null } = machine?.() ?? {};
    const size = "Size of the disk that has the stores.";
    const free = "Room on the disk that has the stores.";
    const made = "When the last whole backup was made, in seconds since 1970; 0 = there is none.";
    const madeAt = last_backup_at === null ? 0 : Date.parse(last_backup_at) / 1_000;
    const disk: readonly Single[] = [
      ["holdfast_disk_bytes", "gauge", size, disk_bytes],
      ["holdfast_disk_free_bytes", "gauge", free, disk_free_bytes],
    ];
    const backup: Single = ["holdfast_last_backup_timestamp_seconds", "gauge", made, madeAt];
    return [...(disk_bytes > 0 ? disk : []), ...(hasBackups ? [backup] : [])].map(single);
  }
}

function requestFamilies(
  { requestsInFlight, bodyBytesInFlight }: ServerGauges,
  { counted }: RequestCounts,
): Family[] {
  const inFlight = "Requests that are not answered yet.";
  const bodyBytes = "Bytes of the bodies of requests not answered yet.";
  return [
    [
      "holdfast_requests_total",
      "counter",
      "Requests answered, by operation and code.",
      counted.flatMap(({ operation, countByCode }) =>
        [...countByCode].map(([code, count]): Sample => [{ operation, code }, count]),
      ),
    ],
    [
      "holdfast_request_seconds",
      "histogram",
      "Seconds from the head of a request to its answer; leases wait in there.",
      counted.map(({ operation, seconds }) => [{ operation }, seconds]),
    ],
    single(["holdfast_requests_in_flight", "gauge", inFlight, requestsInFlight]),
    single(["holdfast_request_body_bytes", "gauge", bodyBytes, bodyBytesInFlight]),
  ];
}

function fateFamilies(
  { lost, held, notHeld }: CommitFates = { lost: 0, held: 0, notHeld: 0 },
): Family[] {
  const gone = "Commits that had been acknowledged, and that the database has lost since.";
  return [
    single(["holdfast_lost_commits_total", "counter", gone, lost]),
    [
      "holdfast_unknown_commits_total",
      "counter",
      "Commits without an answer, by whether the database was found to hold them.",
      [
        [{ outcome: "held" }, held],
        [{ outcome: "not_held" }, notHeld],
      ],
    ],
  ];
}

function nodeFamilies(node: NodeStats | undefined): Family[] {
  if (node === undefined) return [];
  const { held, isTrusted, handOvers, takeovers, forwarded, peersUp, nodes } = node;
  const rows: readonly Single[] = [
    ["holdfast_node_shards", "gauge", "Shards that this node has.", held.length],
    [
      "holdfast_node_trusted",
      "gauge",
      "Whether it has had a sign from the database lately enough to answer from memory: 1 or 0.",
      Number(isTrusted),
    ],
    ["holdfast_node_hand_overs_total", "counter", "Shards that it handed over.", handOvers],
    ["holdfast_node_peers", "gauge", "Other nodes that it is connected to.", peersUp],
    ["holdfast_nodes", "gauge", "Nodes seen lately, this one included.", nodes],
  ];
  return [
    ...rows.map(single),
    [
      "holdfast_node_takeovers_total",
      "counter",
      "Times that this node took a shard over, by reason.",
      takeovers.map(({ reason, count }): Sample => [{ reason }, count]),
    ],
    [
      "holdfast_node_takeover_seconds",
      "histogram",
      "Seconds from a takeover until the shard was open, by its reason.",
      takeovers.map(({ reason, seconds }): Sample => [{ reason }, seconds]),
    ],
    [
      "holdfast_node_forwarded_total",
      "counter",
      "Calls that it forwarded, by operation.",
      Array.from(forwarded, ([operation, { counts }]): Sample => {
        return [{ operation }, counts.reduce((sum, count) => sum + count, 0)];
      }),
    ],
    [
      "holdfast_node_forwarded_seconds",
      "histogram",
      "Seconds from forwarding a call to its answer; leases wait in there.",
      Array.from(forwarded, ([operation, seconds]): Sample => [{ operation }, seconds]),
    ],
  ];
}

/** Name, type, help, and the key of the figure in a shard's status. */
const ofShards = [
  ["holdfast_shard_up", "gauge", "Whether the shard answers: 1 or 0.", "up"],
  [
    "holdfast_shard_restarts_total",
    "counter",
    "Attempts to open the store again after it failed.",
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
    "Items set aside instead of being offered: damaged, or of a queue that is not known.",
    "quarantined",
  ],
  [
    "holdfast_miscounted_items",
    "gauge",
    "Items that starts found missing, or too many, against what was counted with each commit.",
    "miscounted",
  ],
  ["holdfast_receipts", "gauge", "Calls with a key that the shard remembers.", "receipts"],
  [
    "holdfast_store_full",
    "gauge",
    "Whether the store has no room, and refuses what only adds: 1 or 0.",
    "full",
  ],
] as const;

function shardFamilies(shards: readonly ShardStatus[]): Family[] {
  return ofShards.map(([name, type, help, key]) => {
    const figures = shards.map(({ shard, up, full, ...same }): Sample => {
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
    [
      "process_resident_memory_bytes",
      "gauge",
      "Memory of the process, with all of its threads.",
      rss,
    ],
    ["process_heap_bytes", "gauge", "JavaScript heap in use by the engine's thread.", heapUsed],
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
