import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import type { EngineStatus, QueueGauges } from "../../engine/model/api.ts";
import { Observations } from "../../engine/model/histogram.ts";
import { noCounters, spanBounds } from "../../engine/model/queue-counters.ts";
import type { OperationId } from "../../openapi/operations.ts";
import { LostCommits } from "./lost-commits.ts";
import { Metrics, metricsType } from "./metrics.ts";

function gauges(queue: string, queued: number): QueueGauges {
  const none = { leased: 0, scheduled: 0, retried: 0, waitingLeases: 0 };
  const limits = { leasePaused: false, producePaused: false, leasedMax: 0, leaseRate: 0 };
  const times = { oldestReadyAt: null, nextDueAt: null, waited: null, held: null };
  return { queue, queued, ...none, ...limits, ...times, counters: noCounters };
}

function statusOf(change: Partial<EngineStatus>): EngineStatus {
  return { now: 0, durability: "full", shards: [], queues: [], waitingLeases: 0, ...change };
}

async function linesOf(metrics: Metrics): Promise<string[]> {
  const text = await metrics.render({ requestsInFlight: 0, bodyBytesInFlight: 0 });
  return text.split("\n");
}

function render(change: Partial<EngineStatus>, use?: (metrics: Metrics) => void) {
  const metrics = new Metrics({ version: "1.2.3", status: () => statusOf(change), queuesMax: 100 });
  use?.(metrics);
  return linesOf(metrics);
}

test("metrics: their type is the one of the library that writes them", () => {
  expect(metricsType).toBe(Registry.PROMETHEUS_CONTENT_TYPE);
});

test("histograms: each bucket counts those below it too", async () => {
  const lines = await render({}, (metrics) => {
    for (const seconds of [0.0001, 0.0005, 0.0006, 0.7, 5_000]) {
      metrics.requests.counterOf("/v1/queue.lease")(200, seconds);
    }
  });
  const bucket = (le: string) => `holdfast_request_seconds_bucket{operation="lease",le="${le}"}`;
  expect(lines).toContain(`${bucket("0.0005")} 2`);
  expect(lines).toContain(`${bucket("0.001")} 3`);
  expect(lines).toContain(`${bucket("0.5")} 3`);
  expect(lines).toContain(`${bucket("1")} 4`);
  expect(lines).toContain(`${bucket("900")} 4`);
  expect(lines).toContain(`${bucket("+Inf")} 5`);
  expect(lines).toContain('holdfast_request_seconds_count{operation="lease"} 5');
  expect(lines).toContain('holdfast_requests_total{operation="lease",code="200"} 5');
});

test("paths outside the contract share one label", async () => {
  const lines = await render({}, (metrics) => {
    for (let index = 0; index < 1_000; index++) metrics.requests.counterOf(`/${index}`)(404, 0.001);
  });
  expect(lines.filter((line) => line.startsWith("holdfast_requests_total"))).toEqual([
    'holdfast_requests_total{operation="~other",code="404"} 1000',
  ]);
});

test("queues: the busiest have a label each, the others share one", async () => {
  const queues = Array.from({ length: 150 }, (_, index) => gauges(`q${index}`, index + 1));
  const lines = await render({ queues });
  const queued = lines.filter((line) => /^holdfast_items\{.*state="queued"/.test(line));
  expect(queued).toHaveLength(101);
  expect(queued[0]).toBe('holdfast_items{queue="q149",state="queued"} 150');
  expect(queued[99]).toBe('holdfast_items{queue="q50",state="queued"} 51');
  expect(queued.at(-1)).toBe('holdfast_items{queue="~other",state="queued"} 1275');
  expect(lines).toContain("holdfast_queues 150");
});

test("queues: the pause of each is reported, and how many of the others are paused", async () => {
  const queues = Array.from({ length: 103 }, (_, index) => ({
    ...gauges(`q${index}`, 200 - index),
    leasePaused: index > 99,
    producePaused: index === 0,
  }));
  const lines = await render({ queues });
  expect(lines).toContain('holdfast_queue_paused{queue="q0",side="produce"} 1');
  expect(lines).toContain('holdfast_queue_paused{queue="q0",side="lease"} 0');
  expect(lines).toContain('holdfast_queue_paused{queue="~other",side="lease"} 3');
  expect(lines).toContain('holdfast_queue_paused{queue="~other",side="produce"} 0');
});

test("queues: item events are counted by event, with how long items waited and were held", async () => {
  const counters = { ...noCounters, produced: 7, leased: 5, completed: 3, dead: 2, discarded: 4 };
  const waited = { bounds: [0.5, 2], counts: [3, 1, 1], sum: 9.5 };
  const queue = {
    ...gauges("orders", 1),
    counters,
    waited,
    oldestReadyAt: 4_500,
    nextDueAt: 9_000,
  };
  const lines = await render({ queues: [queue, gauges("idle", 0)], now: 6_000 });
  for (const line of [
    'holdfast_queue_items_total{queue="orders",event="produced"} 7',
    'holdfast_queue_items_total{queue="orders",event="dead"} 2',
    'holdfast_queue_items_total{queue="orders",event="discarded"} 4',
    'holdfast_queue_items_total{queue="idle",event="leased"} 0',
    'holdfast_queue_wait_seconds_bucket{queue="orders",le="2"} 4',
    'holdfast_queue_wait_seconds_count{queue="orders"} 5',
    'holdfast_queue_oldest_ready_seconds{queue="orders"} 1.5',
    'holdfast_queue_oldest_ready_seconds{queue="idle"} 0',
    'holdfast_queue_next_due_seconds{queue="orders"} 3',
  ]) {
    expect(lines).toContain(line);
  }
  const unexpected = lines.filter((line) =>
    /(held|wait|next_due)_seconds.*idle|held_seconds_/.test(line),
  );
  expect(unexpected).toEqual([]);
});

test("queues: sums never fall and never jump, whichever queues are busiest", async () => {
  const produced: Record<string, number> = { a: 5, b: 3, c: 1 };
  const queues = () =>
    Object.entries(produced).map(([name, count]) => {
      const waited = {
        bounds: spanBounds,
        counts: [count, ...spanBounds.map(() => 0)],
        sum: count,
      };
      return { ...gauges(name, 0), counters: { ...noCounters, produced: count }, waited };
    });
  const status = () => statusOf({ queues: queues() });
  const metrics = new Metrics({ version: "1.2.3", status, queuesMax: 1 });
  const others = async (): Promise<number[]> => {
    const lines = await linesOf(metrics);
    const sampleOf = (start: string) =>
      Number(lines.find((line) => line.startsWith(start))?.split(" ")[1]);
    return [
      sampleOf('holdfast_queue_items_total{queue="~other",event="produced"}'),
      sampleOf('holdfast_queue_wait_seconds_count{queue="~other"}'),
    ];
  };
  expect(await others()).toEqual([4, 4]);
  // From now on the busiest queue; its earlier events stay counted for the others.
  produced["b"] = 10;
  expect(await others()).toEqual([4, 4]);
  produced["a"] = 6;
  produced["c"] = 2;
  expect(await others()).toEqual([6, 6]);
  // Deleted and created again.
  produced["c"] = 1;
  expect(await others()).toEqual([7, 7]);
});

test("queues: limits are reported for queues that have them", async () => {
  const queues = [{ ...gauges("a", 1), leasedMax: 5, leaseRate: 0.5 }, gauges("b", 1)];
  const lines = await render({ queues });
  expect(lines.filter((line) => /^holdfast_queue_lease(d_max|_rate)\{/.test(line))).toEqual([
    'holdfast_queue_leased_max{queue="a"} 5',
    'holdfast_queue_lease_rate{queue="a"} 0.5',
  ]);
});

test("queues: a name cannot break out of its label", async () => {
  const lines = await render({ queues: [gauges('a"b\\c', 1)] });
  expect(lines).toContain('holdfast_items{queue="a\\"b\\\\c",state="queued"} 1');
});

test("shards: what each has committed, and how", async () => {
  const histogram = { bounds: [1, 10], counts: [3, 2, 1], sum: 42 };
  const shard = {
    shard: 1,
    up: false,
    restarts: 2,
    failures: 3,
    commits: 6,
    itemsCommitted: 42,
    itemsPerCommit: histogram,
    commitSeconds: { bounds: [0.001], counts: [6, 0], sum: 0.003 },
    walBytes: 4_096,
    fileBytes: 8_192,
    quarantined: 1,
    miscounted: 2,
    receipts: 7,
    full: true,
  };
  const lines = await render({ shards: [shard] });
  for (const line of [
    'holdfast_shard_up{shard="1"} 0',
    'holdfast_shard_restarts_total{shard="1"} 2',
    'holdfast_store_failures_total{shard="1"} 3',
    'holdfast_commits_total{shard="1"} 6',
    'holdfast_items_per_commit_bucket{shard="1",le="1"} 3',
    'holdfast_items_per_commit_bucket{shard="1",le="10"} 5',
    'holdfast_items_per_commit_bucket{shard="1",le="+Inf"} 6',
    'holdfast_items_per_commit_sum{shard="1"} 42',
    'holdfast_commit_seconds_count{shard="1"} 6',
    'holdfast_wal_bytes{shard="1"} 4096',
    'holdfast_quarantined_items{shard="1"} 1',
    'holdfast_miscounted_items{shard="1"} 2',
    'holdfast_receipts{shard="1"} 7',
    "holdfast_receipts_max 2000000",
    'holdfast_store_full{shard="1"} 1',
  ]) {
    expect(lines).toContain(line);
  }
});

test("commits without an answer are counted by whether the database has them", async () => {
  const commitFates = () => ({ lost: 4, held: 2, notHeld: 3 });
  let lost = 3;
  const lostCommits = new LostCommits(() => lost);
  lostCommits.confirm();
  lost = 4;
  const status = () => statusOf({});
  const lines = await linesOf(new Metrics({ version: "1.2.3", status, commitFates, lostCommits }));
  for (const line of [
    "holdfast_lost_commits_total 4",
    "holdfast_lost_commits_unconfirmed 1",
    'holdfast_unknown_commits_total{outcome="committed"} 2',
    'holdfast_unknown_commits_total{outcome="not_committed"} 3',
  ]) {
    expect(lines).toContain(line);
  }
});

test("machine: room on the disk, and when the last backup was made", async () => {
  const status = () => statusOf({});
  const shownOf = async (last_backup_at: string | null, hasBackups: boolean, disk_bytes = 400) => {
    const machine = () => ({
      ...{ name: "", version: "", store: "", started_at: "", memory_bytes: 0 },
      ...{ disk_bytes, disk_free_bytes: disk_bytes / 4, last_backup_at },
    });
    const lines = await linesOf(new Metrics({ version: "1", status, machine, hasBackups }));
    return lines.filter((line) => /^holdfast_(disk|last_backup)/.test(line));
  };
  const disk = ["holdfast_disk_bytes 400", "holdfast_disk_free_bytes 100"];
  expect(await shownOf(null, false)).toEqual(disk);
  const backup = "holdfast_last_backup_timestamp_seconds";
  expect(await shownOf(null, true)).toEqual([...disk, `${backup} 0`]);
  expect(await shownOf("1970-01-01T00:02:00.500Z", true)).toEqual([...disk, `${backup} 120.5`]);
  // Unknown, or not on this machine.
  expect(await shownOf(null, false, 0)).toEqual([]);
});

test("nodes: takeovers are counted by reason and calls by operation, with their durations", async () => {
  const seconds = new Observations([1, 5]);
  seconds.add(0.5);
  seconds.add(3);
  const node = () => ({
    ...{ held: [0, 3], isTrusted: false, handOvers: 4, peersUp: 1, nodes: 3 },
    takeovers: [
      { reason: "lapsed", count: 3, seconds } as const,
      { reason: "own", count: 0, seconds: new Observations([1, 5]) } as const,
    ],
    forwarded: new Map<OperationId, Observations>([
      ["lease", seconds],
      ["produce", new Observations([1])],
    ]),
  });
  const lines = await linesOf(new Metrics({ version: "1.2.3", status: () => statusOf({}), node }));
  for (const line of [
    "holdfast_node_shards 2",
    "holdfast_node_trusted 0",
    "holdfast_node_hand_overs_total 4",
    'holdfast_node_takeovers_total{reason="lapsed"} 3',
    'holdfast_node_takeovers_total{reason="own"} 0',
    'holdfast_node_takeover_seconds_bucket{reason="lapsed",le="1"} 1',
    'holdfast_node_takeover_seconds_bucket{reason="lapsed",le="5"} 2',
    'holdfast_node_takeover_seconds_sum{reason="lapsed"} 3.5',
    'holdfast_node_takeover_seconds_count{reason="own"} 0',
    'holdfast_node_forwarded_total{operation="lease"} 2',
    'holdfast_node_forwarded_total{operation="produce"} 0',
    'holdfast_node_forwarded_seconds_bucket{operation="lease",le="1"} 1',
    'holdfast_node_forwarded_seconds_sum{operation="lease"} 3.5',
    'holdfast_node_forwarded_seconds_count{operation="lease"} 2',
  ]) {
    expect(lines).toContain(line);
  }
});
