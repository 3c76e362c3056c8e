// The contents of /metrics. Each request costs a few additions; the rest is built at the scrape,
// from the engine's status. Labels are operations of the contract and a bounded number of queues,
// so clients cannot make the page grow without bound.

import type { EngineStatus, ShardStatus } from "../../engine/model/api.ts";
import { limits } from "../../engine/model/limits.ts";
import { shareOf } from "../../engine/model/placement.ts";
import type { OverviewMachine } from "../../openapi/schemas.ts";
import type { Router } from "../nodes/router.ts";
import type { TakeoverStats } from "../nodes/takeover-stats.ts";
import { counter, type Family, gauge, histogram, metricsText, type Sample } from "./families.ts";
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
  readonly takeovers: readonly TakeoverStats[];
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
    const { version, commitFates, lostCommits, node } = this.#options;
    const receiptsMax = shareOf(this.#options.receiptsMax ?? limits.receiptsMax, shards.length);
    return metricsText([
      ...requestFamilies(server, requests),
      ...this.#queues.families(queues, status.now),
      gauge("holdfast_waiting_leases", "Lease requests that wait for an item.", waitingLeases),
      gauge("holdfast_queues", "Queues that exist.", queues.length),
      ...shardFamilies(shards),
      gauge(
        "holdfast_receipts_max",
        "Calls with a key that each shard remembers at most.",
        receiptsMax,
      ),
      ...commitFamilies(commitFates?.(), lostCommits?.unconfirmed ?? 0),
      ...this.#machineFamilies(),
      ...processFamilies({ version, durability }),
      ...(node ? nodeFamilies(node()) : []),
    ]);
  }

  #machineFamilies(): Family[] {
    const { machine, hasBackups = false } = this.#options;
    const { disk_bytes = 0, disk_free_bytes = 0, last_backup_at = null } = machine?.() ?? {};
    const disk = [
      gauge("holdfast_disk_bytes", "Size of the disk that has the stores.", disk_bytes),
      gauge("holdfast_disk_free_bytes", "Free space on that disk.", disk_free_bytes),
    ];
    const backup = gauge(
      "holdfast_last_backup_timestamp_seconds",
      "When the last complete backup was made, in seconds since 1970; 0 = there is none.",
      last_backup_at === null ? 0 : Date.parse(last_backup_at) / 1_000,
    );
    return [...(disk_bytes > 0 ? disk : []), ...(hasBackups ? [backup] : [])];
  }
}

function requestFamilies(
  { requestsInFlight, bodyBytesInFlight }: ServerGauges,
  { counted }: RequestCounts,
): Family[] {
  return [
    counter(
      "holdfast_requests_total",
      "Requests answered, by operation and code.",
      counted.flatMap(({ operation, countByCode }) =>
        [...countByCode].map(([code, count]): Sample => [{ operation, code }, count]),
      ),
    ),
    histogram(
      "holdfast_request_seconds",
      "Seconds from the head of a request to its reply; the wait of a lease is included.",
      counted.map(({ operation, seconds }) => [{ operation }, seconds]),
    ),
    gauge("holdfast_requests_in_flight", "Requests in progress.", requestsInFlight),
    gauge(
      "holdfast_request_body_bytes",
      "Bytes of the bodies of requests in progress.",
      bodyBytesInFlight,
    ),
  ];
}

function commitFamilies(
  { lost, held, notHeld }: CommitFates = { lost: 0, held: 0, notHeld: 0 },
  unconfirmed: number,
): Family[] {
  return [
    counter(
      "holdfast_lost_commits_total",
      "Acknowledged commits that the database has lost.",
      lost,
    ),
    counter(
      "holdfast_unknown_commits_total",
      "Commits without an answer, by whether the database was later found to have them.",
      [
        [{ outcome: "committed" }, held],
        [{ outcome: "not_committed" }, notHeld],
      ],
    ),
    gauge(
      "holdfast_lost_commits_unconfirmed",
      "Lost commits that no operator has confirmed.",
      unconfirmed,
    ),
  ];
}

function nodeFamilies(node: NodeStats): Family[] {
  const { held, isTrusted, handOvers, takeovers, forwarded, peersUp, nodes } = node;
  return [
    gauge("holdfast_node_shards", "Shards that this node owns.", held.length),
    gauge(
      "holdfast_node_trusted",
      "Whether it renewed its ownership recently enough to answer from memory: 1 or 0.",
      Number(isTrusted),
    ),
    counter("holdfast_node_hand_overs_total", "Shards that it handed over.", handOvers),
    gauge("holdfast_node_peers", "Other nodes that it is connected to.", peersUp),
    gauge("holdfast_nodes", "Nodes seen recently, this one included.", nodes),
    counter(
      "holdfast_node_takeovers_total",
      "Shards that this node took ownership of, by reason.",
      takeovers.map(({ reason, count }) => [{ reason }, count]),
    ),
    histogram(
      "holdfast_node_takeover_seconds",
      "Seconds from a takeover until the shard was open, by reason.",
      takeovers.map(({ reason, seconds }) => [{ reason }, seconds]),
    ),
    counter(
      "holdfast_node_forwarded_total",
      "Calls that it forwarded, by operation.",
      Array.from(forwarded, ([operation, { counts }]) => {
        return [{ operation }, counts.reduce((sum, count) => sum + count, 0)];
      }),
    ),
    histogram(
      "holdfast_node_forwarded_seconds",
      "Seconds from forwarding a call to its reply; the wait of a lease is included.",
      Array.from(forwarded, ([operation, seconds]) => [{ operation }, seconds]),
    ),
  ];
}

function shardFamilies(shards: readonly ShardStatus[]): Family[] {
  const of = (key: keyof ShardStatus): Sample[] =>
    shards.map((status) => {
      const value = status[key];
      return [{ shard: status.shard }, typeof value === "boolean" ? Number(value) : value];
    });
  return [
    gauge("holdfast_shard_up", "Whether the shard answers: 1 or 0.", of("up")),
    counter(
      "holdfast_shard_restarts_total",
      "Attempts to open the store again after it failed.",
      of("restarts"),
    ),
    counter("holdfast_store_failures_total", "Commits that failed in the store.", of("failures")),
    counter("holdfast_commits_total", "Commits, each with one sync.", of("commits")),
    counter("holdfast_items_committed_total", "Items written by commits.", of("itemsCommitted")),
    histogram("holdfast_items_per_commit", "Items that one commit wrote.", of("itemsPerCommit")),
    histogram(
      "holdfast_commit_seconds",
      "Seconds that a commit took, its sync included.",
      of("commitSeconds"),
    ),
    gauge("holdfast_wal_bytes", "Size of the store's write-ahead log.", of("walBytes")),
    gauge("holdfast_file_bytes", "Size of the store's file.", of("fileBytes")),
    gauge(
      "holdfast_quarantined_items",
      "Items in quarantine: damaged, or of an unknown queue.",
      of("quarantined"),
    ),
    gauge(
      "holdfast_miscounted_items",
      "Items that starts found missing or surplus, compared with the stored counts.",
      of("miscounted"),
    ),
    gauge("holdfast_receipts", "Calls with a key that the shard remembers.", of("receipts")),
    gauge(
      "holdfast_store_full",
      "Whether the store is out of space and refuses calls that only add items: 1 or 0.",
      of("full"),
    ),
  ];
}

function processFamilies(labels: { version: string; durability: string }): Family[] {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return [
    gauge("holdfast_info", "Version and durability of the server, as labels; always 1.", [
      [labels, 1],
    ]),
    gauge("process_resident_memory_bytes", "Memory of the process with all its threads.", rss),
    gauge("process_heap_bytes", "JavaScript heap of the engine's thread.", heapUsed),
    counter(
      "process_cpu_seconds_total",
      "Processor time of the process.",
      (user + system) / 1_000_000,
    ),
    gauge(
      "process_start_time_seconds",
      "When the process started, in seconds since 1970.",
      Math.round(Date.now() / 1_000 - process.uptime()),
    ),
  ];
}
