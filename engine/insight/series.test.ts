import { expect, test } from "bun:test";
import { ServerSeriesRequest } from "../../openapi/schemas.ts";
import type { Series, SeriesName, ShardSeriesName } from "../model/api.ts";
import { Observations } from "../model/histogram.ts";
import { type CounterName, noCounters } from "../model/queue-counters.ts";
import { seededRandom } from "../simulation/seeded-random.ts";
import type { LogicalQueue } from "../state/queue.ts";
import { coarseMs, fineMs, SeriesRecorder, seriesNames, shardSeriesNames } from "./series.ts";

const mb = 1024 * 1024;
const start = 1_700_000_040_000;
/** Bytes per name of a queue. */
const columnBytes = 4 * (360 + 1_441);
/** All queues together, and the shard. */
const firstBytes = (seriesNames.length + shardSeriesNames.length) * columnBytes;

function count(queue: FakeQueue, name: CounterName, items: number): void {
  queue.counters[name] += items;
}

/** The part of a queue that is sampled. */
class FakeQueue {
  readonly owner: number;
  readonly counters: Record<CounterName, number> = { ...noCounters };
  readonly counts = { ready: 0, leased: 0, scheduled: 0, retried: 0 };
  readonly line = { size: 0 };
  oldestReadyAt: number | null = null;

  constructor(owner: number) {
    this.owner = owner;
  }

  get itemCounts(): FakeQueue["counts"] {
    return this.counts;
  }

  get queue(): LogicalQueue {
    return this as unknown as LogicalQueue;
  }
}

/** The part of a shard that is sampled. */
class FakeShard {
  readonly counters = {
    ...{ commits: 0, itemsCommitted: 0, fileBytes: 0, walBytes: 0 },
    commitSeconds: new Observations([0.001, 0.01, 0.1]),
  };

  commit(items: number, seconds: number): void {
    this.counters.commits += 1;
    this.counters.itemsCommitted += items;
    this.counters.commitSeconds.add(seconds);
  }
}

class Bench {
  now = start;
  readonly recorder: SeriesRecorder;
  readonly queues: FakeQueue[] = [];
  shard = new FakeShard();

  constructor(bytes = mb, queues = 1) {
    this.recorder = new SeriesRecorder(bytes, start);
    for (let index = 0; index < queues; index += 1) this.queues.push(new FakeQueue(index));
  }

  /** Advances by this many points; `each` runs before each sample. */
  pass(points: number, each: (index: number) => void = () => undefined): void {
    for (let index = 0; index < points; index += 1) {
      each(index);
      this.now += fineMs;
      const { now, shard } = this;
      this.recorder.sample({ queues: this.queues.map(({ queue }) => queue), shard, now });
    }
  }

  read(
    name: SeriesName | ShardSeriesName,
    { queue, ...how }: { queue?: FakeQueue; shard?: number; from?: number; stepMs?: number } = {},
  ): Series & { readonly points: readonly number[] } {
    const series = this.recorder.read({ names: [name], ...how }, queue?.queue);
    return { ...series, points: series.values[0] ?? [] };
  }
}

test("series: the contract has the names that are kept", () => {
  const { items } = ServerSeriesRequest.properties.names;
  expect(items["x-published"].enum).toEqual([...seriesNames, ...shardSeriesNames]);
});

test("series: each point has the events in it, and their sum is the counter", () => {
  const bench = new Bench();
  const [queue] = bench.queues as [FakeQueue];
  bench.pass(4, (index) => {
    queue.counters.produced += index * 3;
  });
  const { points, from, stepMs, since } = bench.read("produced", { queue });
  expect(points).toEqual([3, 6, 9]);
  expect([from, stepMs]).toEqual([start + fineMs, fineMs]);
  expect(since).toBe(start + fineMs);
  expect(bench.read("completed", { queue }).points).toEqual([0, 0, 0]);
});

test("series: each point has the gauges at its end", () => {
  const bench = new Bench();
  const [queue] = bench.queues as [FakeQueue];
  bench.pass(3, (index) => {
    queue.counts.ready = 5 - index;
    queue.counts.scheduled = 1;
    queue.counts.retried = index;
    queue.line.size = index;
    queue.oldestReadyAt = start;
  });
  const of = (name: SeriesName) => bench.read(name, { queue }).points;
  expect(of("ready")).toEqual([5, 4, 3]);
  expect(of("scheduled")).toEqual([1, 2, 3]);
  expect(of("waiting")).toEqual([0, 1, 2]);
  expect(of("oldest_ready_seconds")).toEqual([10, 20, 30]);
});

test("series: a late sample counts the events since the last one, and repeats the gauges", () => {
  const bench = new Bench();
  const [queue] = bench.queues as [FakeQueue];
  const ready = (count: number) => () => {
    queue.counters.produced += count;
    queue.counts.ready = count;
  };
  bench.pass(1, ready(4));
  bench.now += 2 * fineMs;
  bench.pass(1, ready(7));
  expect(bench.read("produced", { queue }).points).toEqual([4, 0, 0, 7]);
  expect(bench.read("ready", { queue }).points).toEqual([4, 4, 4, 7]);
});

test("series: a second sample of a point changes nothing", () => {
  const bench = new Bench();
  const [queue] = bench.queues as [FakeQueue];
  const produce = () => count(queue, "produced", 2);
  bench.pass(2, produce);
  produce();
  const now = bench.now + fineMs - 1;
  bench.recorder.sample({ queues: [queue.queue], shard: bench.shard, now });
  expect(bench.read("produced", { queue }).points).toEqual([2, 2]);
  expect(bench.recorder.nextAt).toBe(bench.now + fineMs);
});

test.each([1, 2, 3])(
  "series: a day of points equals that of a model, in both steps; seed %d",
  (seed) => {
    const random = seededRandom(seed);
    const bench = new Bench();
    const [queue] = bench.queues as [FakeQueue];
    const produced: number[] = [];
    const ready: number[] = [];
    for (let point = 0; point < 9_000; ) {
      const skipped = random.below(200) === 0 ? random.below(500) : 0;
      for (let skip = 0; skip < skipped; skip += 1) {
        produced.push(0);
        ready.push(ready.at(-1) ?? 0);
      }
      bench.now += skipped * fineMs;
      const count = random.below(4) === 0 ? random.below(1_000) : 0;
      bench.pass(1, () => {
        queue.counters.produced += count;
        queue.counts.ready = random.below(50);
      });
      produced.push(count);
      ready.push(queue.counts.ready);
      point += 1 + skipped;
    }
    const end = (bench.now - start) / fineMs;
    expect(produced).toHaveLength(end);
    const fine = bench.read("produced", { queue, stepMs: fineMs });
    expect(fine.from).toBe(bench.now - 360 * fineMs);
    expect(fine.points).toEqual(produced.slice(-360));
    expect(bench.read("ready", { queue }).points).toEqual(ready.slice(-360));
    const ratio = coarseMs / fineMs;
    const minutes = Array.from({ length: Math.floor(end / ratio) }, (_, minute) => minute * ratio);
    const coarse = bench.read("produced", { queue, stepMs: coarseMs });
    expect(coarse.points).toEqual(
      minutes.slice(-1_440).map((at) => produced.slice(at, at + ratio).reduce((a, b) => a + b)),
    );
    expect(coarse.from).toBe(start + (minutes.at(-1_440) ?? 0) * fineMs);
    expect(bench.read("ready", { queue, stepMs: coarseMs }).points).toEqual(
      minutes.slice(-1_440).map((at) => ready[at + ratio - 1] as number),
    );
  },
);

test("series: `from` selects the first point at or after it, in minutes if it is more than an hour ago", () => {
  const bench = new Bench();
  const [queue] = bench.queues as [FakeQueue];
  bench.pass(1_000, () => count(queue, "leased", 1));
  const lately = bench.read("leased", { queue, from: bench.now - 2 * fineMs - 1 });
  expect([lately.from, lately.points]).toEqual([bench.now - 2 * fineMs, [1, 1]]);
  const before = bench.read("leased", { queue, from: bench.now - 400 * fineMs });
  expect([before.stepMs, before.points[0]]).toEqual([coarseMs, 6]);
  expect(bench.read("leased", { queue, from: bench.now + 1 }).points).toEqual([]);
  const asked = bench.read("leased", { queue, from: bench.now - coarseMs * 2, stepMs: coarseMs });
  expect(asked.stepMs).toBe(coarseMs);
});

test("series: all queues together have sums and the oldest age, including queues without room", () => {
  const bench = new Bench(1, 3);
  bench.pass(2, (index) => {
    for (const [place, queue] of bench.queues.entries()) {
      queue.counters.completed += place;
      queue.counts.ready = index + place;
      queue.oldestReadyAt = start + place * 5_000;
    }
  });
  expect(bench.read("completed").points).toEqual([3, 3]);
  expect(bench.read("ready").points).toEqual([3, 6]);
  expect(bench.read("oldest_ready_seconds").points).toEqual([10, 20]);
  for (const queue of bench.queues) {
    expect(bench.read("completed", { queue })).toMatchObject({ since: null, points: [] });
  }
});

test("series: a shard has the counts of each point, and the gauges at its end", () => {
  const bench = new Bench();
  const { shard } = bench;
  bench.pass(3, (index) => {
    shard.commit(10, 0.001);
    for (let more = 0; more < index; more += 1) shard.commit(1, 0.09);
    shard.counters.fileBytes = (5_000_000 + index) * 1024;
    shard.counters.walBytes = 4096;
  });
  const of = (name: ShardSeriesName) => bench.read(name, { shard: 0 }).points;
  expect(of("commits")).toEqual([1, 2, 3]);
  expect(of("items_committed")).toEqual([10, 11, 12]);
  expect(of("file_bytes")).toEqual([5_120_000_000, 5_120_001_024, 5_120_002_048]);
  expect(of("commit_p50_us")).toEqual([1_000, 1_000, 100_000]);
  expect(of("commit_p99_us")).toEqual([1_000, 100_000, 100_000]);
  expect(of("log_bytes")).toEqual([4096, 4096, 4096]);
  expect(bench.read("commits", { shard: 0 }).since).toBe(start);
});

test("series: a minute of a shard has the sum of commits and the longest commit time", () => {
  const bench = new Bench();
  bench.pass(12, (index) => bench.shard.commit(2, index === 3 ? 0.09 : 0.001));
  const of = (name: ShardSeriesName) => bench.read(name, { shard: 0, stepMs: coarseMs }).points;
  expect(of("commits")).toEqual([6, 6]);
  expect(of("commit_p99_us")).toEqual([100_000, 1_000]);
});

test("series: counters that restart make no point negative or counted twice", () => {
  const bench = new Bench();
  bench.pass(2, () => bench.shard.commit(5, 0.001));
  bench.shard = new FakeShard();
  bench.pass(1, () => bench.shard.commit(7, 0.001));
  const { points } = bench.read("items_committed", { shard: 0 });
  expect(points).toEqual([5, 5, 7]);
});

test("series: the shard takes its bytes before the queues", () => {
  const bytes = firstBytes + columnBytes;
  const bench = new Bench(bytes, 2);
  bench.pass(1, () => {
    for (const queue of bench.queues) count(queue, "produced", 1);
    bench.shard.commit(2, 0.001);
  });
  const kept = bench.queues.map((queue) => bench.read("produced", { queue }).since !== null);
  expect(kept).toEqual([true, false]);
  expect(bench.recorder.bytes).toBeLessThanOrEqual(bytes);
});

test("series: a queue without activity takes no bytes", () => {
  const bench = new Bench(mb, 50);
  const [busy, ...idle] = bench.queues as [FakeQueue, ...FakeQueue[]];
  bench.pass(3, () => count(busy, "produced", 1));
  expect(bench.recorder.bytes).toBe(2 * columnBytes);
  expect(bench.read("produced", { queue: idle[0] as FakeQueue }).since).toBeNull();
});

test("series: memory is bounded, and a much busier queue replaces the least busy one", () => {
  const bytes = firstBytes + 4 * columnBytes;
  const bench = new Bench(bytes, 10);
  const kept = () => bench.queues.map((queue) => bench.read("produced", { queue }).since !== null);
  bench.pass(20, () => {
    for (const [place, queue] of bench.queues.entries()) queue.counters.produced += 10 + place;
    expect(bench.recorder.bytes).toBeLessThanOrEqual(bytes);
  });
  // They are about as busy as the others, so the earlier ones stay.
  expect(kept()).toEqual([true, true, true, true, ...Array(6).fill(false)]);
  bench.pass(1, () => {
    const [first, , , , , last] = bench.queues as FakeQueue[];
    (first as FakeQueue).counters.produced += 100;
    (last as FakeQueue).counters.produced += 1_000;
  });
  expect(kept()).toEqual([true, false, true, true, false, true, ...Array(4).fill(false)]);
  expect(bench.read("produced", { queue: bench.queues[0] as FakeQueue }).points).toHaveLength(21);
  expect(bench.read("produced", { queue: bench.queues[5] as FakeQueue }).points).toEqual([1_000]);
});

test("series: hundreds of queues get their bytes over several samples", () => {
  const bench = new Bench(10 * mb, 100);
  const kept = () => bench.queues.filter((queue) => bench.read("ready", { queue }).since !== null);
  const flow = () => {
    for (const queue of bench.queues) count(queue, "produced", 1);
  };
  bench.pass(1, flow);
  expect(kept()).toHaveLength(64);
  bench.pass(1, flow);
  expect(kept()).toHaveLength(100);
  const [first, last] = [bench.queues[0] as FakeQueue, bench.queues[99] as FakeQueue];
  expect(bench.read("produced", { queue: first }).points).toEqual([1, 1]);
  expect(bench.read("produced", { queue: last }).points).toEqual([1]);
});

test("series: a queue is kept completely or not at all", () => {
  const bench = new Bench(firstBytes + 3 * columnBytes, 2);
  const [small, large] = bench.queues as [FakeQueue, FakeQueue];
  bench.pass(1, () => {
    small.counters.produced += 5;
    large.counters.produced += 10;
    large.counters.leased += 10;
  });
  expect(bench.read("produced", { queue: small }).points).toEqual([5]);
  bench.pass(1, () => {
    small.counters.leased += 1;
    large.counters.leased += 1;
  });
  expect(bench.read("produced", { queue: small }).since).toBeNull();
  expect(bench.read("produced", { queue: large }).points).toEqual([10, 0]);
});

test("series: a deleted queue frees its bytes", () => {
  const bench = new Bench(mb, 2);
  const [first, second] = bench.queues as [FakeQueue, FakeQueue];
  bench.pass(1, () => {
    first.counters.produced += 1;
    second.counters.produced += 1;
  });
  expect(bench.recorder.bytes).toBe(3 * columnBytes);
  bench.queues.shift();
  bench.pass(1);
  expect(bench.recorder.bytes).toBe(2 * columnBytes);
});

test("series: a queue that is reloaded from its store continues its series", () => {
  const bench = new Bench();
  bench.pass(2, () => count(bench.queues[0] as FakeQueue, "produced", 5));
  const again = new FakeQueue(0);
  bench.queues[0] = again;
  bench.pass(1, () => count(again, "produced", 2));
  expect(bench.read("produced", { queue: again }).points).toEqual([5, 5, 2]);
  expect(bench.recorder.bytes).toBe(2 * columnBytes);
});
