// What became of queues lately: their counters and gauges, looked at every ten seconds and kept in
// rings of bounded bytes, ten seconds apart for an hour and a minute apart for a day. A name takes
// room from when a queue first has something to say by it; where all room is taken, queues with
// less to tell make way for busier ones. Nothing of it is stored: it begins with the engine.

import type { QueueCounters, Series, SeriesName, SeriesRequest } from "./api.ts";
import type { LogicalQueue } from "./queue.ts";
import { counterNames } from "./queue-counters.ts";

const gaugeNames = ["ready", "held", "scheduled", "waiting", "oldest_ready_seconds"] as const;
type Gauge = (typeof gaugeNames)[number];

export const seriesNames: readonly SeriesName[] = [...counterNames, ...gaugeNames];

/** From one look to the next. */
export const fineMs = 10_000;
export const coarseMs = 60_000;
const finePoints = 360;
const coarsePoints = 1_440;
/** Fine ones in all that is kept. */
const pointsOfDay = (coarsePoints * coarseMs) / fineMs;
/** Beside them the minute that runs. */
const coarseRing = coarsePoints + 1;
const columnBytes = 4 * (finePoints + coarseRing);
/** Of all queues together; it has room before any. */
const totalBytes = columnBytes * seriesNames.length;
/** Of what happens in ten seconds, how much of a queue's weight is left ten minutes later: half. */
const weightKept = 0.5 ** (1 / 60);
const valueMax = 2 ** 32 - 1;

type Values = { readonly [name in SeriesName]: number };

/** Of one name: per point what was counted in it, or a gauge at its end. */
class Column {
  readonly fine = new Uint32Array(finePoints);
  readonly coarse = new Uint32Array(coarseRing);
  readonly #isGauge: boolean;
  #last = 0;

  constructor(name: SeriesName) {
    this.#isGauge = (gaugeNames as readonly string[]).includes(name);
  }

  /** `skipped`: points before it at which nobody looked. */
  put(point: number, skipped: number, value: number): void {
    const kept = Math.min(valueMax, Math.max(0, Math.round(value)));
    for (let back = Math.min(skipped, pointsOfDay); back > 0; back -= 1) {
      this.#set(point - back, this.#isGauge ? this.#last : 0);
    }
    this.#set(point, kept);
    this.#last = kept;
  }

  #set(point: number, value: number): void {
    this.fine[point % finePoints] = value;
    const index = Math.floor((point * fineMs) / coarseMs) % coarseRing;
    const isFirst = (point * fineMs) % coarseMs === 0;
    const before = isFirst || this.#isGauge ? 0 : (this.coarse[index] as number);
    this.coarse[index] = Math.min(valueMax, before + value);
  }
}

/** What is kept of one queue, or of all together. */
class Track {
  /** The first point of which it has values. */
  readonly since: number;
  readonly #columns = new Map<SeriesName, Column>();

  constructor(since: number) {
    this.since = since;
  }

  get bytes(): number {
    return this.#columns.size * columnBytes;
  }

  /** Names that have something to say for the first time. */
  newNames(values: Values): SeriesName[] {
    return seriesNames.filter((name) => values[name] > 0 && !this.#columns.has(name));
  }

  put(point: number, skipped: number, values: Values): void {
    for (const name of this.newNames(values)) this.#columns.set(name, new Column(name));
    for (const [name, column] of this.#columns) column.put(point, skipped, values[name]);
  }

  column(name: SeriesName): Column | undefined {
    return this.#columns.get(name);
  }
}

/** What is known of a queue from one look to the next. */
interface Known {
  counters: QueueCounters;
  /** How much happens to it, lately more than before. */
  weight: number;
  track: Track | null;
}

export class SeriesKeeper {
  readonly #bytesMax: number;
  readonly #known = new Map<LogicalQueue, Known>();
  readonly #total: Track;
  /** The last point that is complete. */
  #point: number;
  /** Of all tracks but that of the whole. */
  #bytes = 0;
  /** Those that have room, the least busy last; made once a look, when room is short. */
  #leastBusy: Known[] | null = null;

  /** `bytesMax`: of the points; 0 = none are kept. */
  constructor(bytesMax: number, now: number) {
    this.#bytesMax = bytesMax;
    this.#point = Math.floor(now / fineMs) - 1;
    this.#total = new Track(this.#point + 1);
  }

  get bytes(): number {
    return this.#bytes + this.#total.bytes;
  }

  /** The instant of the next look. */
  get nextAt(): number {
    return (this.#point + 2) * fineMs;
  }

  /** `now`: by which time passes here; `clockNow`: by which items come to be ready. */
  look(queues: Iterable<LogicalQueue>, now: number, clockNow: number): void {
    const point = Math.floor(now / fineMs) - 1;
    const skipped = point - this.#point - 1;
    if (skipped < 0 || this.#bytesMax === 0) return;
    this.#point = point;
    this.#leastBusy = null;
    const total = Object.fromEntries(seriesNames.map((name) => [name, 0])) as Record<
      SeriesName,
      number
    >;
    for (const queue of queues) {
      const values = this.#observe(queue, clockNow);
      for (const name of seriesNames) {
        const isAge = name === "oldest_ready_seconds";
        total[name] = isAge ? Math.max(total[name], values[name]) : total[name] + values[name];
      }
      this.#keep(queue, point, skipped, values);
    }
    this.#total.put(point, skipped, total);
    for (const [queue, known] of this.#known) {
      if (!queue.deleted) continue;
      this.#drop(known);
      this.#known.delete(queue);
    }
  }

  #observe(queue: LogicalQueue, clockNow: number): Values {
    const counters = { ...queue.counters };
    const known = this.#known.get(queue);
    const before = known?.counters;
    const happened = Object.fromEntries(
      counterNames.map((name) => [name, counters[name] - (before?.[name] ?? 0)]),
    ) as Record<keyof QueueCounters, number>;
    const { ready, leased, scheduled, retried } = queue.itemCounts;
    const { oldestReadyAt } = queue;
    const gauges: Record<Gauge, number> = {
      ready,
      held: leased,
      scheduled: scheduled + retried,
      waiting: queue.line.size,
      oldest_ready_seconds:
        oldestReadyAt === null ? 0 : Math.max(0, clockNow - oldestReadyAt) / 1_000,
    };
    const events = counterNames.reduce((sum, name) => sum + happened[name], 0);
    // One that stands still with items is worth more than one that has none.
    const weight = (known?.weight ?? 0) * weightKept + events + Math.min(1, ready + leased);
    if (known === undefined) this.#known.set(queue, { counters, weight, track: null });
    else Object.assign(known, { counters, weight });
    return { ...happened, ...gauges };
  }

  #keep(queue: LogicalQueue, point: number, skipped: number, values: Values): void {
    const known = this.#known.get(queue) as Known;
    const track = known.track ?? new Track(point);
    const needed = track.newNames(values).length * columnBytes;
    if (needed > 0 && !this.#makeRoom(known, needed)) return;
    if (track.bytes + needed === 0) return;
    known.track = track;
    this.#bytes += needed;
    track.put(point, track.since === point ? 0 : skipped, values);
  }

  /** Whether there is room for it now; if not, the queue itself has none any more. */
  #makeRoom(wanting: Known, needed: number): boolean {
    const bytesMax = this.#bytesMax - totalBytes;
    while (this.#bytes + needed > bytesMax) {
      this.#leastBusy ??= [...this.#known.values()]
        .filter(({ track }) => track !== null)
        .sort((a, b) => b.weight - a.weight);
      const least = this.#leastBusy.at(-1) ?? wanting;
      // A newcomer has to be well busier, or two would push out each other for ever.
      const isNear = wanting.track === null && 2 * least.weight > wanting.weight;
      if (least === wanting || isNear) {
        this.#drop(wanting);
        return false;
      }
      this.#leastBusy.pop();
      this.#drop(least);
    }
    return true;
  }

  #drop(known: Known): void {
    this.#bytes -= known.track?.bytes ?? 0;
    known.track = null;
  }

  /** `queue`: absent = all together. */
  read({ names, from, stepMs }: Omit<SeriesRequest, "queue">, queue?: LogicalQueue): Series {
    const kept = queue === undefined ? this.#total : (this.#known.get(queue)?.track ?? null);
    const track = this.#bytesMax === 0 ? null : kept;
    const endAt = (this.#point + 1) * fineMs;
    const isFine = (stepMs ?? stepFor(from, endAt)) === fineMs;
    const [step, points] = isFine ? [fineMs, finePoints] : [coarseMs, coarsePoints];
    const end = Math.floor(endAt / step);
    const sinceAt = track === null ? endAt : track.since * fineMs;
    const wanted = Math.ceil((from ?? 0) / step);
    // Of the minute in which it began not all was seen.
    const first = Math.min(end, Math.max(Math.ceil(sinceAt / step), wanted, end - points));
    return {
      since: track === null ? null : sinceAt,
      from: first * step,
      stepMs: step,
      values: names.map((name) => {
        const column = track?.column(name);
        const ring = isFine ? column?.fine : column?.coarse;
        const length = ring?.length ?? 1;
        return Array.from(
          { length: end - first },
          (_, index) => ring?.[(first + index) % length] ?? 0,
        );
      }),
    };
  }
}

/** The finer one, unless that does not go back so far. */
function stepFor(from: number | undefined, endAt: number): number {
  return from === undefined || from >= endAt - finePoints * fineMs ? fineMs : coarseMs;
}
