// All queues at a glance, as rows that are kept from one time to the next: whoever says what they
// have seen is told what has changed since.

import type {
  Alarm,
  EngineOverview,
  IsShown,
  OverviewRow,
  ShardGlance,
  TaskInfo,
} from "../model/api.ts";
import { quantile } from "../model/histogram.ts";
import { newTag } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import { counterNames, noCounters } from "../model/queue-counters.ts";
import type { Random } from "../model/random.ts";
import type { Catalog } from "../state/catalog.ts";
import type { LogicalQueue } from "../state/queue.ts";
import type { Shard } from "../turn/shard.ts";
import type { Checkups } from "./checkups.ts";
import { assess, type Found, healthOf, type Surroundings } from "./health.ts";
import { sentence, type Telling } from "./sentences.ts";

/** Names of queues that are gone, for those who have seen them. */
const removedMax = 10_000;
const alarmsMax = 50;
/** Different moments at which those who ask looked last. */
const takenMax = 64;
/** Commits of the last one to two of these make the percentiles. */
const commitsMs = 30_000;
/** What time alone makes of a queue is noticed within this. */
const restMs = 5_000;

export interface OverviewOptions {
  readonly now: number;
  readonly catalog: Catalog;
  readonly checkups: Checkups;
  readonly ports: readonly Shard[];
  /** Those that run. */
  readonly tasks: readonly TaskInfo[];
}

interface Row {
  readonly row: OverviewRow;
  readonly trouble: Found | null;
  /** Of the overview that first had it like this. */
  readonly version: number;
  readonly lookedAt: number;
}

/** What makes a queue a person's matter. */
const alarming = new Set<Found["what"]>([
  "nobody_asks",
  "falls_behind",
  "leases_lapse",
  "dead_items",
]);

export class Overview {
  readonly #rows = new Map<LogicalQueue, Row>();
  /** Of all rows, carried on by what changed: with many queues few of them do within a second. */
  readonly #totals = { ...noTotals };
  #removed: { readonly name: string; readonly version: number }[] = [];
  /** Of those that were removed longer ago, nobody knows. */
  #forgotten = 0;
  /** Tells this engine's versions from those of any other that its shard had, or has in another node. */
  readonly #epoch: string;
  #version = 0;
  /** Which were not well at the latest look. */
  #shards = "";
  readonly #commits = new Map<number, Commits>();
  /** By what was seen before; of the latest. */
  readonly #taken = new Map<string, EngineOverview>();
  #latest: Latest | null = null;

  constructor(random: Random) {
    this.#epoch = newTag(random);
  }

  /** Looks at all queues. */
  make(options: OverviewOptions): void {
    const { now, catalog, checkups, ports, tasks } = options;
    this.#taken.clear();
    this.#version += 1;
    const around = checkups.surroundings(now);
    const shards = [...around.down.keys(), "full", ...around.full.keys()].join();
    const isSameShards = shards === this.#shards;
    this.#shards = shards;
    const troubles: Trouble[] = [];
    for (const queue of catalog.queues) {
      const known = this.#rows.get(queue);
      const { trouble } =
        known !== undefined && isSameShards && isAsBefore(queue, known, now)
          ? known
          : this.#look(queue, around);
      if (trouble !== null) troubles.push({ queue, found: trouble });
    }
    for (const queue of this.#rows.keys()) if (queue.deleted) this.#remove(queue);
    this.#latest = {
      asOf: now,
      shards: ports.map((port) => this.#glance(port, around)),
      totals: { ...this.#totals, queues: this.#rows.size },
      shardAlarms: shardAlarms(ports, around),
      troubles: worstFirst(troubles, now),
      tasks,
    };
  }

  #look(queue: LogicalQueue, around: Surroundings): Row {
    const found = assess(queue, around);
    const row = rowOf(queue, found, around);
    const trouble = found.find(({ what }) => alarming.has(what)) ?? null;
    const before = this.#rows.get(queue);
    const isKnown = before !== undefined && isSame(before.row, row);
    const version = isKnown ? before.version : this.#version;
    if (!isKnown) this.#addUp(row, before?.row ?? null);
    const looked = { row, trouble, version, lookedAt: around.now };
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

  #glance(port: Shard, { down, full, now }: Surroundings): ShardGlance {
    const { shard, isUp, counters } = port;
    const { commitSeconds, restarts, failures, quarantined, miscounted } = counters;
    const { walBytes, fileBytes } = counters;
    const commits = this.#commits.getOrInsertComputed(shard, () => new Commits(now));
    const lately = commits.since(commitSeconds.counts, now);
    const [p50, p99] = [0.5, 0.99].map((share) => quantile(commitSeconds.bounds, lately, share));
    const state = isUp ? (counters.full ? "full" : "up") : "down";
    const since = down.get(shard)?.since ?? full.get(shard) ?? null;
    const commitTimes = { commitP50Us: micros(p50), commitP99Us: micros(p99) };
    const counts = { restarts, failures, quarantined, miscounted, walBytes, fileBytes };
    return { shard, state, since, ...commitTimes, ...counts, waiting: port.waitingCount };
  }

  /**
   * `since`: what an earlier one said; `""`, or one that nobody knows any more: all of it.
   * `isShown`: the queues that it is about; absent = all.
   */
  take(said: string, isShown?: IsShown): EngineOverview {
    const since = said.length <= limits.overviewSinceMax ? said : "";
    const known = this.#taken.get(since);
    if (known !== undefined) return this.#shown(known, isShown);
    const taken = this.#since(since);
    // What others claim to have seen does not grow without end.
    if (this.#taken.size >= takenMax) this.#taken.clear();
    this.#taken.set(since, taken);
    return this.#shown(taken, isShown);
  }

  #shown(whole: EngineOverview, isShown: IsShown | undefined): EngineOverview {
    if (isShown === undefined) return whole;
    const all = [...this.#rows.values()].map(({ row }) => row);
    return {
      ...whole,
      totals: totalsOf(all.filter(({ queue }) => isShown(queue))),
      alarms: this.#alarms(isShown),
      rows: whole.rows.filter(({ queue }) => isShown(queue)),
      removed: whole.removed.filter(isShown),
      tasks: whole.tasks.filter(({ queue }) => isShown(queue)),
    };
  }

  #alarms(isShown: IsShown): Alarm[] {
    if (this.#latest === null) return [];
    const { shardAlarms: first, troubles, asOf } = this.#latest;
    const left = Math.max(0, alarmsMax - first.length);
    const shown = troubles.filter(({ queue }) => isShown(queue.definition.name));
    return [...first, ...queueAlarms(shown.slice(0, left), { now: asOf, isShown })];
  }

  #since(since: string): EngineOverview {
    if (this.#latest === null) throw new Error("there is no overview yet");
    const { asOf, shards, totals, tasks } = this.#latest;
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
      ...{ asOf, shards, totals, tasks },
      alarms: this.#alarms(() => true),
      since: `${this.#epoch}.${this.#version}`,
      isWhole,
      rows,
      removed: [...new Set(removed.map(({ name }) => name))],
    };
  }
}

const noTotals = { queues: 0, ready: 0, held: 0, scheduled: 0, waiting: 0, ...noCounters };
/** What differs as a rule comes first. */
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

function rowOf(queue: LogicalQueue, found: readonly Found[], around: Surroundings): OverviewRow {
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
    // One by one: a spread costs more than all the rest of a row.
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
    // What is written down may be ahead by the part of a millisecond.
    pausedSince:
      queue.definition.pause === undefined ? 0 : Math.min(queue.watch.pausedAt, around.now),
    shard: queue.shard,
  };
}

/** Of a queue on which nothing happens, only time can change anything; and not by the second. */
function isAsBefore({ watch }: LogicalQueue, { lookedAt }: Row, now: number): boolean {
  return watch.changedAt < lookedAt && now - lookedAt < restMs;
}

function isSame(a: OverviewRow, b: OverviewRow): boolean {
  return rowKeys.every((key) => a[key] === b[key]);
}

function micros(seconds: number | null | undefined): number | null {
  return typeof seconds === "number" ? Math.round(seconds * 1e6) : null;
}

/** How commits were counted a while ago, to be taken off what is counted now. */
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

interface Latest extends Pick<EngineOverview, "asOf" | "shards" | "totals" | "tasks"> {
  readonly shardAlarms: readonly Alarm[];
  readonly troubles: readonly Trouble[];
}

interface Trouble {
  readonly queue: LogicalQueue;
  readonly found: Found;
}

/** By how many items for how long, whatever the cause. */
function worstFirst(troubles: readonly Trouble[], now: number): Trouble[] {
  const weight = ({ found: { count, since } }: Trouble) => count * Math.max(1, now - since);
  return troubles.toSorted((a, b) => weight(b) - weight(a));
}

function queueAlarms(troubles: readonly Trouble[], telling: Telling): Alarm[] {
  return troubles.map(({ queue, found }) => {
    const { what, since, count } = found;
    const text = sentence(found, queue, telling);
    return { what, since, count, queue: queue.definition.name, shard: null, text };
  });
}

function shardAlarms(ports: readonly Shard[], { down, full }: Surroundings): Alarm[] {
  return ports.flatMap(({ shard, counters }): Alarm[] => {
    const { quarantined, miscounted } = counters;
    const of = { queue: "", shard };
    const alarm = (what: Alarm["what"], since: number | null, count: number, text: string) => [
      { ...of, what, since, count, text: `Shard ${shard} ${text}.` },
    ];
    return [
      ...(down.has(shard)
        ? alarm(
            "shard_down",
            down.get(shard)?.since ?? null,
            1,
            "is down; its partitions cannot be reached",
          )
        : []),
      ...(full.has(shard)
        ? alarm("store_full", full.get(shard) ?? null, 1, "has no room; items cannot be produced")
        : []),
      ...(quarantined > 0
        ? alarm(
            "items_damaged",
            null,
            quarantined,
            `has set aside ${quarantined} items that are damaged, or of no known queue`,
          )
        : []),
      ...(miscounted > 0
        ? alarm(
            "items_miscounted",
            null,
            miscounted,
            `found ${miscounted} items missing, or too many, at a start`,
          )
        : []),
    ];
  });
}
