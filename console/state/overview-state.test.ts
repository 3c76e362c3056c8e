import { expect, test } from "bun:test";
import {
  type ServerOverviewReply,
  sampleOverviewQueues,
  sampleTask,
  sampleTotals,
} from "../../openapi/schemas.ts";
import { rateOf, ratesOf, type Sample, windowMs, withReply, withSample } from "./overview-state.ts";

const start = Date.UTC(2026, 2, 1);

const instant = (atMs: number) => new Date(start + atMs).toISOString();

function reply(atMs: number, change: Partial<ServerOverviewReply> = {}): ServerOverviewReply {
  return {
    ...{ now: instant(atMs), machine_now: instant(atMs), as_of: instant(atMs) },
    ...{
      since: `s.${atMs}`,
      whole: false,
      poll_after_ms: 1_000,
      removed: [],
      shards: [],
      alarms: [],
      tasks: [],
      unreached: [],
    },
    totals: sampleTotals,
    queues: sampleOverviewQueues,
    machine: {
      ...{
        name: "",
        version: "1",
        store: "sqlite",
        memory_bytes: 1,
        started_at: new Date(start).toISOString(),
      },
      ...{ disk_bytes: 0, disk_free_bytes: 0, last_backup_at: null },
    },
    ...change,
  };
}

const noQueues = Object.fromEntries(
  Object.keys(sampleOverviewQueues).map((name) => [name, []]),
) as unknown as ServerOverviewReply["queues"];

const produced = (count: number) => ({
  ...sampleOverviewQueues,
  ...{ produced_total: [Math.floor(count / 2)], arrived_total: [Math.ceil(count / 2)] },
});

const samplesOf = (...pairs: [atMs: number, value: number][]) =>
  pairs.reduce<readonly Sample[]>(
    (before, [atMs, value]) => withSample(before, { atMs, value }),
    [],
  );

test("overview: names are in order, and the same list until a queue is created or deleted", () => {
  const of = (...names: string[]) => ({
    ...sampleOverviewQueues,
    queue_name: names,
  });
  const first = withReply(null, reply(0, { whole: true, queues: of("b", "a") }));
  expect(first.names).toEqual(["a", "b"]);
  const same = withReply(first, reply(1_000, { queues: of("a") }));
  expect(same.names).toBe(first.names);
  const more = withReply(same, reply(2_000, { queues: of("0") }));
  expect(more.names).toEqual(["0", "a", "b"]);
  const other = withReply(more, reply(3_000, { queues: of("c"), removed: ["a"] }));
  expect(other.names).toEqual(["0", "b", "c"]);
});

test("overview: tasks are those of the latest reply, also if it contains no queue", () => {
  const first = withReply(null, reply(0, { whole: true, tasks: [sampleTask] }));
  expect(first.tasks).toEqual([sampleTask]);
  expect(withReply(first, reply(1_000, { queues: noQueues })).tasks).toEqual([]);
});

test("rate: none from one sample; from two the difference", () => {
  expect(rateOf([], 0)).toBeNull();
  expect(rateOf(samplesOf([0, 5]), 0)).toBeNull();
  expect(rateOf(samplesOf([0, 5], [1_000, 25]), 1_000)).toBe(20);
});

test("rate: a lower counter was reset; a rate is never negative", () => {
  const samples = samplesOf([0, 500], [1_000, 900], [2_000, 7]);
  expect(samples).toEqual([{ atMs: 2_000, value: 7 }]);
  expect(rateOf(samples, 2_000)).toBeNull();
  expect(rateOf(withSample(samples, { atMs: 3_000, value: 10 }), 3_000)).toBe(3);
});

test("rate: an unchanged counter falls to 0 within the window", () => {
  const samples = samplesOf([0, 0], [1_000, 100]);
  expect(rateOf(samples, 5_000)).toBe(20);
  expect(rateOf(samples, 1_000 + windowMs)).toBe(0);
  expect(rateOf(samples, 1_000 + 9 * windowMs)).toBe(0);
});

test("rate: only samples that the window needs are kept", () => {
  const samples = samplesOf(
    ...Array.from({ length: 100 }, (_, i): [number, number] => [i * 1_000, i * 3]),
  );
  expect(samples.length).toBe(windowMs / 1_000 + 1);
  expect(rateOf(samples, 99_000)).toBe(3);
});

test("overview: with `since` absent rows stay unchanged, removed ones go", () => {
  const two = {
    ...Object.fromEntries(
      Object.entries(sampleOverviewQueues).map(([name, [value]]) => [name, [value, value]]),
    ),
    queue_name: ["a", "b"],
  } as unknown as ServerOverviewReply["queues"];
  const first = withReply(null, reply(0, { whole: true, queues: two }));
  const second = withReply(first, reply(1_000, { queues: noQueues, removed: ["b"] }));
  expect([...second.queues.keys()]).toEqual(["a"]);
  expect(second.queues.get("a")).toBe(first.queues.get("a"));
  expect(second.since).toBe("s.1000");
});

test("overview: a whole reply drops absent queues, and keeps the counters of the others", () => {
  const first = withReply(null, reply(0, { whole: true, queues: produced(100) }));
  const second = withReply(first, reply(2_000, { whole: true, queues: produced(300) }));
  expect(ratesOf(second.queues.get("orders") ?? { in: [], out: [] }, second.asOfMs).in).toBe(100);
  const third = withReply(second, reply(3_000, { whole: true, queues: noQueues }));
  expect(third.queues.size).toBe(0);
});

test("overview: the same second twice is one sample", () => {
  const first = withReply(null, reply(0, { whole: true }));
  const again = withReply(first, reply(0, { whole: true }));
  expect(again.totals.in).toEqual(first.totals.in);
  expect(ratesOf(again.totals, again.asOfMs).in).toBeNull();
});

test("overview: no rate of sums over different shards", () => {
  const totals = (produced_total: number) => ({ ...sampleTotals, produced_total });
  const all = withReply(null, reply(0, { totals: totals(1_000) }));
  const without = withReply(all, reply(1_000, { totals: totals(400), unreached: [1] }));
  expect(without.unreached).toEqual([1]);
  const again = withReply(without, reply(2_000, { totals: totals(1_010) }));
  expect(again.totals.in).toEqual([{ atMs: start + 2_000, value: 1_010 }]);
  expect(again.unreached).toEqual([]);
});
