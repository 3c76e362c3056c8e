// All queues at a glance. Rows are kept between calls, so that a caller with the token of an
// earlier overview receives only later changes.

import type { Alarm, EngineOverview, IsShown, OverviewRow, ShardGlance } from "../model/api.ts";
import type { Clock } from "../model/clock.ts";
import { quantile } from "../model/histogram.ts";
import { newTag } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import { counterNames, noCounters } from "../model/queue-counters.ts";
import type { Random } from "../model/random.ts";
import type { Catalog } from "../state/catalog.ts";
import type { LogicalQueue } from "../state/queue.ts";
import type { Tasks } from "../tasks/tasks.ts";
import type { Shard } from "../turn/shard.ts";
import { type FindingContext, sentence } from "./finding-text.ts";
import { type Assessment, assess, healthOf, type Surroundings } from "./health.ts";
import type { HealthMonitor } from "./health-monitor.ts";

/** Names of deleted queues, for callers with an earlier overview. */
const removedMax = 10_000;
const alarmsMax = 50;
/** Distinct tokens for which an overview is kept. */
const takenMax = 64;
/** The percentiles cover the commits of the last one to two of these intervals. */
const commitsMs = 30_000;
/** How long changes caused by time alone may go unnoticed. */
const restMs = 5_000;

export interface OverviewOptions {
  readonly clock: Clock;
  readonly catalog: Catalog;
  readonly healthMonitor: HealthMonitor;
  readonly shard: () => Shard;
  readonly tasks: Pick<Tasks, "running">;
  readonly random: Random;
}

interface OverviewEntry {
  readonly row: OverviewRow;
  readonly trouble: Assessment | null;
  /** The version of the overview that first had this row. */
  readonly version: number;
  readonly assessedAt: number;
}

/** Findings that need a person's attention. */
const alarming = new Set<Assessment["kind"]>([
  "no_consumers",
  "backlog_growing",
  "leases_lapsing",
  "dead_items",
]);

export class Overview {
  readonly #options: OverviewOptions;
  readonly #rows = new Map<LogicalQueue, OverviewEntry>();
  /** Sums of all rows, updated by each changed row; with many queues few change per second. */
  readonly #totals = { ...noTotals };
  #removed: { readonly name: string; readonly version: number }[] = [];
  /** Names removed at this version or earlier are no longer kept. */
  #forgotten = 0;
  /** Distinguishes its versions from those of other overviews of the shard, on any node. */
  readonly #epoch: string;
  #version = 0;
  /** On the machine's clock. */
  #madeAt = Number.NEGATIVE_INFINITY;
  /** Whether the shard was down or full at the last scan. */
  #shardState = "";
  readonly #commits: Commits;
  /** Results for the latest version, by the caller's token. */
  readonly #taken = new Map<string, EngineOverview>();
  #latest: Latest | null = null;

  constructor(options: OverviewOptions) {
    this.#options = options;
    this.#epoch = newTag(options.random);
    this.#commits = new Commits(options.clock.now());
  }

  /** Scans all queues, unless it did so recently: clients meanwhile see the same moment. */
  #refresh(): Latest {
    const { clock } = this.#options;
    const machineNow = clock.machine.now();
    if (this.#latest === null || machineNow - this.#madeAt >= limits.overviewMs) {
      this.#madeAt = machineNow;
      this.#latest = this.#make(clock.now());
    }
    return this.#latest;
  }

  #make(now: number): Latest {
    const { catalog, healthMonitor, shard, tasks } = this.#options;
    this.#taken.clear();
    this.#version += 1;
    const around = healthMonitor.surroundings(now);
    const shardState = `${around.down !== null}, ${around.fullSince !== null}`;
    const isSameState = shardState === this.#shardState;
    this.#shardState = shardState;
    const troubles: Trouble[] = [];
    for (const queue of catalog.queues) {
      const known = this.#rows.get(queue);
      const { trouble } =
        known !== undefined && isSameState && isAsBefore(queue, known, now)
          ? known
          : this.#look(queue, around);
      if (trouble !== null) troubles.push({ queue, found: trouble });
    }
    for (const queue of this.#rows.keys()) if (queue.deleted) this.#remove(queue);
    return {
      asOf: now,
      shard: this.#glance(around),
      totals: { ...this.#totals, queues: this.#rows.size },
      shardAlarms: shardAlarms(shard(), around),
      troubles: worstFirst(troubles, now),
      tasks: tasks.running(),
    };
  }

  #look(queue: LogicalQueue, around: Surroundings): OverviewEntry {
    const found = assess(queue, around);
    const row = rowOf(queue, found, around);
    const trouble = found.find(({ kind }) => alarming.has(kind)) ?? null;
    const before = this.#rows.get(queue);
    const isKnown = before !== undefined && isSame(before.row, row);
    const version = isKnown ? before.version : this.#version;
    if (!isKnown) this.#addUp(row, before?.row ?? null);
    const looked = { row, trouble, version, assessedAt: around.now };
    this.#rows.set(queue, looked);
    return looked;
  }

  #addUp(row: OverviewRow | null, before: OverviewRow | null): void {
    for (const key of totalKeys) this.#totals[key] += (row?.[key] ?? 0) - (before?.[key] ?? 0);
  }

  #remove(queue: LogicalQueue): void {
    this.#addUp(null, this.#rows.get(queue)?.row ?? null);
    this.#rows.delete(queue);
    this.#removed.push({ name: queue.definition.name, version: this.#version });
    if (this.#removed.length <= removedMax) return;
    this.#forgotten = this.#removed.shift()?.version ?? 0;
  }

  #glance({ down, fullSince, now }: Surroundings): ShardGlance {
    const {
      shard,
      isUp,
      counters,
      waitingCount: waiting,
      itemsOfLastMinute,
    } = this.#options.shard();
    const { commitSeconds, restarts, failures, quarantined, miscounted } = counters;
    const { walBytes, fileBytes } = counters;
    const recent = this.#commits.since(commitSeconds.counts, now);
    const [p50, p99] = [0.5, 0.99].map((share) => quantile(commitSeconds.bounds, recent, share));
    const state = isUp ? (counters.full ? "full" : "up") : "down";
    const since = down?.since ?? fullSince;
    const commitTimes = { commitP50Us: micros(p50), commitP99Us: micros(p99) };
    const counts = { restarts, failures, quarantined, miscounted, walBytes, fileBytes };
    const itemsPerSecond = Math.ceil(itemsOfLastMinute / 60);
    return { shard, state, since, ...commitTimes, ...counts, waiting, itemsPerSecond };
  }

  /**
   * `since`: the token of an earlier overview; `""` or an unknown token = all rows. `isShown`: the
   * queues to include; absent = all.
   */
  take(given: string, isShown?: IsShown): EngineOverview {
    const latest = this.#refresh();
    const since = given.length <= limits.overviewSinceMax ? given : "";
    const known = this.#taken.get(since);
    if (known !== undefined) return this.#shown(known, latest, isShown);
    const taken = this.#since(since, latest);
    // Clients may send any `since`, so the cache has a bound.
    if (this.#taken.size >= takenMax) this.#taken.clear();
    this.#taken.set(since, taken);
    return this.#shown(taken, latest, isShown);
  }

  #shown(whole: EngineOverview, latest: Latest, isShown: IsShown | undefined): EngineOverview {
    if (isShown === undefined) return whole;
    const all = [...this.#rows.values()].map(({ row }) => row);
    return {
      ...whole,
      totals: totalsOf(all.filter(({ queue }) => isShown(queue))),
      alarms: alarmsOf(latest, isShown),
      rows: whole.rows.filter(({ queue }) => isShown(queue)),
      removed: whole.removed.filter(isShown),
      tasks: whole.tasks.filter(({ queue }) => isShown(queue)),
    };
  }

  #since(since: string, latest: Latest): EngineOverview {
    const { asOf, shard, totals, tasks } = latest;
    const [epoch, text] = since.split(".");
    const seen = Number(text);
    const isWhole = epoch !== this.#epoch || !(seen >= this.#forgotten && seen <= this.#version);
    const rows: OverviewRow[] = [];
    for (const { row, version } of this.#rows.values()) {
      if (isWhole || version > seen) rows.push(row);
    }
    const gone = isWhole ? [] : this.#removed.filter(({ version }) => version > seen);
    const names = gone.length === 0 ? [] : [...this.#rows.keys()];
    const present = new Set(names.map(({ definition }) => definition.name));
    const removed = gone.filter(({ name }) => !present.has(name));
    return {
      ...{ asOf, shard, totals, tasks },
      alarms: alarmsOf(latest, () => true),
      since: `${this.#epoch}.${this.#version}`,
      isWhole,
      rows,
      removed: [...new Set(removed.map(({ name }) => name))],
    };
  }
}

const noTotals = { queues: 0, ready: 0, held: 0, scheduled: 0, waiting: 0, ...noCounters };
/** The columns that change most often come first. */
const rowKeys = [
  ...([
    "ready",
    "held",
    "scheduled",
    "waiting",
    "oldestReadyAt",
    "nextDueAt",
    "pausedSince",
  ] as const),
  ...counterNames,
  ...(["health", "healthSince", "healthCount", "nextAt", "shard", "queue"] as const),
];
const totalKeys = ["ready", "held", "scheduled", "waiting", ...counterNames] as const;

function totalsOf(rows: readonly OverviewRow[]): EngineOverview["totals"] {
  const totals = { ...noTotals, queues: rows.length };
  for (const row of rows) for (const key of totalKeys) totals[key] += row[key];
  return totals;
}

function rowOf(
  queue: LogicalQueue,
  found: readonly Assessment[],
  around: Surroundings,
): OverviewRow {
  const { ready, leased: held, scheduled, retried: waitingForRetry } = queue.itemCounts;
  const { counters } = queue;
  return {
    queue: queue.definition.name,
    health: healthOf(queue, found, around),
    healthSince: found[0]?.since ?? 0,
    healthCount: found[0]?.count ?? 0,
    nextAt: found[0]?.nextAt ?? 0,
    ready,
    held,
    scheduled: scheduled + waitingForRetry,
    waiting: queue.line.size,
    // Listed one by one: a spread costs more than the rest of a row.
    produced: counters.produced,
    leased: counters.leased,
    completed: counters.completed,
    retried: counters.retried,
    released: counters.released,
    extended: counters.extended,
    lapsed: counters.lapsed,
    expired: counters.expired,
    dead: counters.dead,
    discarded: counters.discarded,
    removed: counters.removed,
    arrived: counters.arrived,
    redriven: counters.redriven,
    oldestReadyAt: queue.oldestReadyAt ?? 0,
    nextDueAt: queue.nextDueAt ?? 0,
    // The recorded instant is rounded up and may be up to 1 ms ahead.
    pausedSince:
      queue.definition.pause === undefined ? 0 : Math.min(queue.activity.pausedAt, around.now),
    shard: queue.shard,
  };
}

/** An idle queue changes only with time, so it is assessed less often. */
function isAsBefore(
  { activity }: LogicalQueue,
  { assessedAt }: OverviewEntry,
  now: number,
): boolean {
  return activity.changedAt < assessedAt && now - assessedAt < restMs;
}

function isSame(a: OverviewRow, b: OverviewRow): boolean {
  return rowKeys.every((key) => a[key] === b[key]);
}

function micros(seconds: number | null | undefined): number | null {
  return typeof seconds === "number" ? Math.round(seconds * 1e6) : null;
}

/** Earlier commit counts, to subtract from the present ones. */
class Commits {
  #at: number;
  #before: readonly number[] = [];
  #next: readonly number[] = [];

  constructor(now: number) {
    this.#at = now;
  }

  since(counts: readonly number[], now: number): number[] {
    if (now - this.#at >= commitsMs) {
      this.#at = now;
      this.#before = this.#next;
      this.#next = [...counts];
    }
    return counts.map((count, bucket) => count - (this.#before[bucket] ?? 0));
  }
}

interface Latest extends Pick<EngineOverview, "asOf" | "shard" | "totals" | "tasks"> {
  readonly shardAlarms: readonly Alarm[];
  readonly troubles: readonly Trouble[];
}

interface Trouble {
  readonly queue: LogicalQueue;
  readonly found: Assessment;
}

/** By the product of items and duration, whatever the cause. */
function worstFirst(troubles: readonly Trouble[], now: number): Trouble[] {
  const weight = ({ found: { count, since } }: Trouble) => count * Math.max(1, now - since);
  return troubles.toSorted((a, b) => weight(b) - weight(a));
}

function queueAlarms(troubles: readonly Trouble[], telling: FindingContext): Alarm[] {
  return troubles.map(({ queue, found }) => {
    const { kind, since, count } = found;
    const text = sentence(found, queue, telling);
    return { kind, since, count, queue: queue.definition.name, shard: null, text };
  });
}

function alarmsOf({ shardAlarms: first, troubles, asOf }: Latest, isShown: IsShown): Alarm[] {
  const left = Math.max(0, alarmsMax - first.length);
  const shown = troubles.filter(({ queue }) => isShown(queue.definition.name));
  return [...first, ...queueAlarms(shown.slice(0, left), { now: asOf, isShown })];
}

function shardAlarms({ shard, counters }: Shard, { down, fullSince }: Surroundings): Alarm[] {
  const { quarantined, miscounted } = counters;
  const alarms: Alarm[] = [];
  const add = (kind: Alarm["kind"], since: number | null, count: number, text: string) =>
    alarms.push({ kind, since, count, queue: "", shard, text: `Shard ${shard} ${text}.` });
  if (down !== null) {
    add("shard_down", down.since, 1, "is down; its partitions cannot be reached");
  }
  if (fullSince !== null) {
    add("store_full", fullSince, 1, "has no room; items cannot be produced");
  }
  if (quarantined > 0) {
    const text = `has set aside ${quarantined} items that are damaged, or of no known queue`;
    add("items_damaged", null, quarantined, text);
  }
  if (miscounted > 0) {
    const text = `found ${miscounted} items missing, or too many, at a start`;
    add("items_miscounted", null, miscounted, text);
  }
  return alarms;
}
