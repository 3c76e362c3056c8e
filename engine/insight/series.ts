// Recent values of the shard and its queues: counters and gauges, sampled every 10 s into rings of
// bounded size. A value is kept every 10 s for an hour and every minute for a day. A name takes
// memory from its first value other than 0. The shard takes precedence over queues, and busier
// queues replace less busy ones. Nothing is stored: the record starts with the engine.

import type { Series, SeriesName, SeriesRequest, ShardSeriesName } from "../model/api.ts";
import { formatDuration } from "../model/duration.ts";
import { quantile } from "../model/histogram.ts";
import { limits } from "../model/limits.ts";
import { type CounterName, counterNames } from "../model/queue-counters.ts";
import { checkWhole, checkWithin, refuse } from "../model/validate.ts";
import type { LogicalQueue } from "../state/queue.ts";
import type { Shard } from "../turn/shard.ts";

const gaugeNames = ["ready", "held", "scheduled", "waiting", "oldest_ready_seconds"] as const;

/** The order of the values of a sample: counters first. */
export const seriesNames: readonly SeriesName[] = [...counterNames, ...gaugeNames];
const ages = seriesNames.indexOf("oldest_ready_seconds");

/** How the points of a name are computed. */
interface Measure {
  readonly name: SeriesName | ShardSeriesName;
  /** `count`: events within the point; `peak`: its maximum; `gauge`: the value at its end. */
  readonly by: "count" | "peak" | "gauge";
  /** The unit of the stored integers. */
  readonly unit: number;
}

const queueMeasures: readonly Measure[] = [
  ...counterNames.map((name) => ({ name, by: "count", unit: 1 }) as const),
  ...gaugeNames.map((name) => ({ name, by: "gauge", unit: 1 }) as const),
];
const shardMeasures: readonly Measure[] = [
  ...(["commits", "items_committed"] as const).map(
    (name) => ({ name, by: "count", unit: 1 }) as const,
  ),
  ...(["commit_p50_us", "commit_p99_us"] as const).map(
    (name) => ({ name, by: "peak", unit: 1 }) as const,
  ),
  ...(["file_bytes", "log_bytes"] as const).map(
    // In KiB, because files grow beyond 4 GiB.
    (name) => ({ name, by: "gauge", unit: 1024 }) as const,
  ),
];
export const shardSeriesNames = shardMeasures.map(({ name }) => name as ShardSeriesName);

/** Between two samples. */
export const fineMs = 10_000;
export const coarseMs = 60_000;
const finePoints = 360;
const coarsePoints = 1_440;
/** Fine points in the whole period. */
const finePointsPerDay = (coarsePoints * coarseMs) / fineMs;
/** One more, for the current minute. */
const coarseLength = coarsePoints + 1;
const columnBytes = 4 * (finePoints + coarseLength);
/** The shard and all queues together: both take precedence over any queue. */
const reservedBytes = columnBytes * (queueMeasures.length + shardMeasures.length);
/** Queues that get memory in one sample: hundreds at once would cause a noticeable delay. */
const newcomersMax = 64;
/** Decay of a queue's weight per 10 s: half in 10 min. */
const weightDecay = 0.5 ** (1 / 60);
const valueMax = 2 ** 32 - 1;

export function checkSeries(
  { queue, shard, names, from = 0, stepMs = fineMs }: SeriesRequest,
  shards: number,
): void {
  if (shard !== undefined) {
    if (queue !== undefined) refuse("shard is invalid; expected a queue or a shard, got both");
    checkWithin("shard", shard, { min: 0, max: shards - 1 });
  }
  const known: SeriesRequest["names"] = shard === undefined ? seriesNames : shardSeriesNames;
  const expected = known.join(", ");
  if (names.length === 0) refuse(`names is invalid; expected at least one of ${expected}`);
  for (const [index, name] of names.entries()) {
    if (!known.includes(name)) {
      refuse(
        `names is invalid; expected one of ${expected}, got '${name.slice(0, limits.quotedMax)}'`,
      );
    }
    if (names.indexOf(name) < index) refuse(`names is invalid; '${name}' is named more than once`);
  }
  checkWhole("from", from);
  if (stepMs !== fineMs && stepMs !== coarseMs) {
    refuse(
      `step is invalid; expected 10s or 1m, got ${stepMs > 0 ? formatDuration(stepMs) : stepMs}`,
    );
  }
}

class Column {
  readonly fine = new Uint32Array(finePoints);
  readonly coarse = new Uint32Array(coarseLength);
  readonly measure: Measure;
  #last = 0;

  constructor(measure: Measure) {
    this.measure = measure;
  }

  /** `skipped`: preceding points without a sample. */
  put(point: number, skipped: number, value: number): void {
    const { by, unit } = this.measure;
    const kept = Math.min(valueMax, Math.max(0, Math.round(value / unit)));
    for (let back = Math.min(skipped, finePointsPerDay); back > 0; back -= 1) {
      this.#set(point - back, by === "gauge" ? this.#last : 0);
    }
    this.#set(point, kept);
    this.#last = kept;
  }

  #set(point: number, value: number): void {
    this.fine[point % finePoints] = value;
    const index = Math.floor((point * fineMs) / coarseMs) % coarseLength;
    const { by } = this.measure;
    const isFirst = (point * fineMs) % coarseMs === 0;
    const before = isFirst || by === "gauge" ? 0 : (this.coarse[index] as number);
    const minute = by === "peak" ? Math.max(before, value) : before + value;
    this.coarse[index] = Math.min(valueMax, minute);
  }
}

/** The values of one queue, of all together, or of the shard. */
class Track {
  /** The first point with values. */
  readonly since: number;
  readonly #measures: readonly Measure[];
  /** Undefined for a name without a value other than 0 so far. */
  readonly #columns: (Column | undefined)[];
  #count = 0;

  constructor(since: number, measures: readonly Measure[]) {
    this.since = since;
    this.#measures = measures;
    this.#columns = measures.map(() => undefined);
  }

  get bytes(): number {
    return this.#count * columnBytes;
  }

  /** For names with their first value other than 0. */
  bytesFor(values: Float64Array): number {
    let names = 0;
    for (let index = 0; index < values.length; index += 1) {
      if ((values[index] as number) > 0 && this.#columns[index] === undefined) names += 1;
    }
    return names * columnBytes;
  }

  put(point: number, skipped: number, values: Float64Array): void {
    for (let index = 0; index < values.length; index += 1) {
      const value = values[index] as number;
      let column = this.#columns[index];
      if (column === undefined) {
        if (value === 0) continue;
        column = new Column(this.#measures[index] as Measure);
        this.#columns[index] = column;
        this.#count += 1;
      }
      column.put(point, skipped, value);
    }
  }

  column(name: Measure["name"]): Column | undefined {
    return this.#columns.find((column) => column?.measure.name === name);
  }
}

const noTrack = new Track(0, queueMeasures);

/** The state of a queue between two samples. */
interface SeriesQueue {
  /** The last point at which the queue existed. */
  point: number;
  readonly counters: Float64Array;
  /** Recent activity, with exponential decay. */
  weight: number;
  track: Track | null;
}

/** The shard's counters at the last sample. */
interface ShardCounts {
  readonly commits: number;
  readonly items: number;
  readonly times: readonly number[];
}

export type SeenCounters = Pick<
  Shard["counters"],
  "commits" | "itemsCommitted" | "commitSeconds" | "fileBytes" | "walBytes"
>;

interface Sample {
  readonly queues: Iterable<LogicalQueue>;
  readonly shard: { readonly counters: SeenCounters };
  readonly now: number;
}

export class SeriesRecorder {
  readonly #bytesMax: number;
  readonly #shard: Track;
  #shardCounts: ShardCounts = { commits: 0, items: 0, times: [] };
  /** By owner, because a reopened store has the same queues. */
  readonly #known = new Map<number, SeriesQueue>();
  readonly #total: Track;
  /** The last complete point. */
  #point: number;
  /** Memory of the tracks of queues. */
  #bytes = 0;
  /** Queues that got memory in this sample. */
  #newcomers = 0;
  /** Queues with memory, least busy last; computed once per sample, if memory is short. */
  #leastBusy: SeriesQueue[] | null = null;

  /** `bytesMax`: memory for points; 0 = off. */
  constructor(bytesMax: number, now: number) {
    this.#bytesMax = bytesMax;
    this.#point = Math.floor(now / fineMs) - 1;
    this.#total = new Track(this.#point + 1, queueMeasures);
    this.#shard = new Track(this.#point + 1, shardMeasures);
  }

  get bytes(): number {
    return this.#bytes + this.#total.bytes + this.#shard.bytes;
  }

  get nextAt(): number {
    return (this.#point + 2) * fineMs;
  }

  sample({ queues, shard, now }: Sample): void {
    const point = Math.floor(now / fineMs) - 1;
    const skipped = point - this.#point - 1;
    if (skipped < 0 || this.#bytesMax === 0) return;
    this.#point = point;
    this.#leastBusy = null;
    this.#newcomers = 0;
    this.#shard.put(point, skipped, this.#observeShard(shard.counters));
    const total = new Float64Array(seriesNames.length);
    const values = new Float64Array(seriesNames.length);
    for (const queue of queues) {
      const known = this.#observe(queue, now, values);
      for (let index = 0; index < values.length; index += 1) {
        const [sum, value] = [total[index] as number, values[index] as number];
        total[index] = index === ages ? Math.max(sum, value) : sum + value;
      }
      this.#keep(known, point, skipped, values);
    }
    this.#total.put(point, skipped, total);
    for (const [owner, known] of this.#known) {
      if (known.point === point) continue;
      this.#drop(known);
      this.#known.delete(owner);
    }
  }

  #observeShard(counters: SeenCounters): Float64Array {
    const known = this.#shardCounts;
    const { commits, itemsCommitted: items, commitSeconds, fileBytes, walBytes } = counters;
    const times = commitSeconds.counts.map((count, at) => increase(known.times[at] ?? 0, count));
    const [p50, p99] = [0.5, 0.99].map((share) => quantile(commitSeconds.bounds, times, share));
    this.#shardCounts = { commits, items, times: [...commitSeconds.counts] };
    const counted = [increase(known.commits, commits), increase(known.items, items)];
    return Float64Array.of(...counted, (p50 ?? 0) * 1e6, (p99 ?? 0) * 1e6, fileBytes, walBytes);
  }

  /** Writes the values of the queue into `values`. */
  #observe(queue: LogicalQueue, now: number, values: Float64Array): SeriesQueue {
    const known = this.#known.getOrInsertComputed(queue.owner, () => {
      return { point: 0, counters: new Float64Array(counterNames.length), weight: 0, track: null };
    });
    known.point = this.#point;
    const { counters, oldestReadyAt } = queue;
    let events = 0;
    for (let index = 0; index < counterNames.length; index += 1) {
      const name = counterNames[index] as CounterName;
      const happened = increase(known.counters[index] as number, counters[name]);
      known.counters[index] = counters[name];
      values[index] = happened;
      events += happened;
    }
    const { ready, leased, scheduled, retried } = queue.itemCounts;
    const ageMs = oldestReadyAt === null ? 0 : Math.max(0, now - oldestReadyAt);
    const gauges = [ready, leased, scheduled + retried, queue.line.size, ageMs / 1_000];
    values.set(gauges, counterNames.length);
    // An idle queue with items weighs more than an empty one.
    known.weight = known.weight * weightDecay + events + Math.min(1, ready + leased);
    return known;
  }

  #keep(known: SeriesQueue, point: number, skipped: number, values: Float64Array): void {
    if (known.track === null && this.#newcomers >= newcomersMax) return;
    const needed = (known.track ?? noTrack).bytesFor(values);
    if (needed > 0 && !this.#makeRoom(known, needed)) return;
    if (known.track === null) {
      if (needed === 0) return;
      this.#newcomers += 1;
      known.track = new Track(point, queueMeasures);
    }
    const { track } = known;
    this.#bytes += needed;
    track.put(point, track.since === point ? 0 : skipped, values);
  }

  /** Drops less busy queues. `false` = they do not suffice, and the queue lost its own track. */
  #makeRoom(queue: SeriesQueue, needed: number): boolean {
    const bytesMax = this.#bytesMax - reservedBytes;
    while (this.#bytes + needed > bytesMax) {
      this.#leastBusy ??= [...this.#known.values()]
        .filter(({ track }) => track !== null)
        .sort((a, b) => b.weight - a.weight);
      const least = this.#leastBusy.at(-1) ?? queue;
      // A newcomer must be much busier; otherwise two queues would replace each other forever.
      const isNear = queue.track === null && 2 * least.weight > queue.weight;
      if (least === queue || isNear) {
        this.#drop(queue);
        return false;
      }
      this.#leastBusy.pop();
      this.#drop(least);
    }
    return true;
  }

  #drop(known: SeriesQueue): void {
    this.#bytes -= known.track?.bytes ?? 0;
    known.track = null;
  }

  /** `queue`: absent = all queues together, or the shard. */
  read({ shard, names, from, stepMs }: SeriesRequest, queue?: LogicalQueue): Series {
    const track = this.#bytesMax === 0 ? null : this.#trackOf(shard, queue);
    const endAt = (this.#point + 1) * fineMs;
    const isFine = (stepMs ?? stepFor(from, endAt)) === fineMs;
    const [step, points] = isFine ? [fineMs, finePoints] : [coarseMs, coarsePoints];
    const end = Math.floor(endAt / step);
    const sinceAt = track === null ? endAt : track.since * fineMs;
    const wanted = Math.ceil((from ?? 0) / step);
    // The minute in which it began is incomplete.
    const first = Math.min(end, Math.max(Math.ceil(sinceAt / step), wanted, end - points));
    return {
      since: track === null ? null : sinceAt,
      from: first * step,
      stepMs: step,
      values: names.map((name) => {
        const column = track?.column(name);
        const ring = isFine ? column?.fine : column?.coarse;
        const [length, unit] = [ring?.length ?? 1, column?.measure.unit ?? 1];
        return Array.from(
          { length: end - first },
          (_, index) => (ring?.[(first + index) % length] ?? 0) * unit,
        );
      }),
    };
  }

  #trackOf(shard: number | undefined, queue: LogicalQueue | undefined): Track | null {
    if (shard !== undefined) return this.#shard;
    if (queue === undefined) return this.#total;
    return this.#known.get(queue.owner)?.track ?? null;
  }
}

/** A counter that has fallen was restarted. */
function increase(before: number, now: number): number {
  return now < before ? now : now - before;
}

/** The finer step, unless its record does not reach back to `from`. */
function stepFor(from: number | undefined, endAt: number): number {
  return from === undefined || from >= endAt - finePoints * fineMs ? fineMs : coarseMs;
}
