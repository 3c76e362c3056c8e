import { expect, test } from "bun:test";
import type { OverviewAlarm, ServerOverviewReply } from "../../openapi/schemas.ts";
import { mergeOverviews, splitSince } from "./overview.ts";
import { sampleOverview } from "./testing/samples.ts";

const instant = (ms: number) => new Date(ms).toISOString();

test.each([
  ["a.1,b.2", 2, ["a.1", "b.2"]],
  ["a.1", 1, ["a.1"]],
  ["", 2, ["", ""]],
  ["a.1", 2, ["", ""]],
  ["a.1,b.2,c.3", 2, ["", ""]],
  ["a.1,b.2", 3, ["", "", ""]],
])("splitSince: '%s' of %d shards", (since, count, parts) => {
  expect(splitSince(since, count)).toEqual(parts);
});

test("mergeOverviews: what each shard says, once", () => {
  const one = sampleOverview({ at: 1_000, since: "a.1", queues: ["x", "y"], removed: ["gone"] });
  const about = { shard: 1, queues: ["z"], poll_after_ms: 3_000 };
  const other = sampleOverview({ ...about, at: 2_000, since: "b.2" });
  const merged = mergeOverviews([one, other], ["", ""]);
  expect(merged).toMatchObject({
    ...{ now: instant(2_000), machine_now: instant(2_000), as_of: instant(1_000) },
    ...{ since: "a.1,b.2", whole: false, poll_after_ms: 3_000, removed: ["gone"] },
    totals: { queues: 3, ready: 2 * (one.totals.ready ?? 0), redriven_total: 0 },
    machine: one.machine,
  });
  expect(merged.queues).toMatchObject({ queue_name: ["x", "y", "z"], shard: [0, 0, 1] });
  for (const column of Object.values(merged.queues)) expect(column).toHaveLength(3);
  expect(Object.keys(merged).sort()).toEqual(Object.keys(one).sort());
  expect(merged.shards.map(({ shard }) => shard)).toEqual([0, 1]);
  expect(splitSince(merged.since, 2)).toEqual(["a.1", "b.2"]);
});

test("mergeOverviews: an unreached shard keeps its part of the since, unless the reply is whole", () => {
  const parts = ["a.0", "b.0", "c.0"];
  const one = sampleOverview({ since: "a.1", queues: ["x"] });
  const other = sampleOverview({ shard: 2, since: "c.1", queues: ["z"] });
  const merged = mergeOverviews([one, null, other], parts);
  expect(merged).toMatchObject({ since: "a.1,b.0,c.1", whole: false, unreached: [1] });
  expect(merged.queues).toMatchObject({ queue_name: ["x", "z"], shard: [0, 2] });
  expect(merged.totals.queues).toBe(2);
  const whole = [{ ...one, whole: true }, null, { ...other, whole: true }];
  expect(mergeOverviews(whole, parts)).toMatchObject({ since: "a.1,,c.1", whole: true });
});

test("mergeOverviews: tasks newest first", () => {
  const one = sampleOverview({ tasks: [30, 10] });
  const merged = mergeOverviews([one, sampleOverview({ tasks: [20] })], ["", ""]);
  expect(merged.tasks.map(({ created_at }) => created_at)).toEqual([30, 20, 10].map(instant));
});

const alarm = (change: Partial<OverviewAlarm>): OverviewAlarm => ({
  ...{ kind: "no_consumers", since: null, count: 1, queue_name: "", shard: -1, text: "" },
  ...change,
});
const ofQueue = (queue_name: string, count: number, since: number) =>
  alarm({ queue_name, count, since: instant(since) });

test("mergeOverviews: alarms of the server once, of shards by number, of queues worst first", () => {
  const disk = (text: string) => alarm({ kind: "disk_low", text });
  const down = alarm({ kind: "shard_down", shard: 1, text: "down" });
  const damaged = (shard: number) => alarm({ kind: "items_damaged", shard, text: `${shard}` });
  const merged = mergeOverviews(
    [
      sampleOverview({ at: 1_000, alarms: [disk("7"), damaged(0), ofQueue("a", 10, 900)] }),
      sampleOverview({
        at: 1_000,
        alarms: [disk("8"), down, damaged(1), ofQueue("b", 4, 0), ofQueue("c", 9, 900)],
      }),
    ],
    ["", ""],
  );
  expect(
    merged.alarms.map(({ kind, shard, queue_name, text }) => [kind, shard, queue_name, text]),
  ).toEqual([
    ["disk_low", -1, "", "7"],
    ["items_damaged", 0, "", "0"],
    ["shard_down", 1, "", "down"],
    ["items_damaged", 1, "", "1"],
    ["no_consumers", -1, "b", ""],
    ["no_consumers", -1, "a", ""],
    ["no_consumers", -1, "c", ""],
  ]);
});

test("mergeOverviews: at most 50 alarms", () => {
  const many = (from: number): ServerOverviewReply =>
    sampleOverview({
      at: 1_000,
      alarms: Array.from({ length: 40 }, (_, at) => ofQueue(`${from + at}`, from + at, 0)),
    });
  const { alarms } = mergeOverviews([many(100), many(200)], ["", ""]);
  expect(alarms).toHaveLength(50);
  expect([alarms[0]?.count, alarms[49]?.count]).toEqual([239, 130]);
});
