import { expect, test } from "bun:test";
import { operations } from "../../../openapi/operations.ts";
import type {
  Action,
  LogicalQueueStats,
  PartitionStats,
  QueueClientsReply,
  QueueExplainReply,
  QueueInfo,
} from "../../../openapi/schemas.ts";
import { durationMs } from "../../format.ts";
import type { QueueRow } from "../../state/overview-state.ts";
import { marksOf } from "./chart-marks.tsx";
import { flagsOf } from "./dialogs/clear-dialog.tsx";
import { draftOf, editableIn, editedOf, updateOf } from "./dialogs/settings-edit.ts";
import {
  barsMax,
  fullest,
  gridOf,
  partitionsOf,
  shadeOf,
  stepOf,
} from "./partitions/partition-stats.ts";
import { factsOf } from "./settings.tsx";
import { comingOf, findingsOf, isDyingNow, sentenceOf } from "./status-sentence.ts";

test.each([
  ["60m", 3_600_000],
  ["1h30m", 5_400_000],
  ["4.2s", 4_200],
  ["10ms", 10],
  ["2m10s", 130_000],
  ["never", null],
  ["", null],
])("durationMs(%j) is %j", (text, ms) => {
  expect(durationMs(text)).toBe(ms);
});

const columns = (change: Partial<NonNullable<LogicalQueueStats["columns"]>>) =>
  ({
    columns: {
      partition: [],
      total: [],
      total_leased: [],
      scheduled: [],
      failures: [],
      average_age_seconds: [],
      average_leased_age_seconds: [],
      ...change,
    },
  }) as unknown as LogicalQueueStats;

test("partitions: an absent column is all zeros", () => {
  expect(partitionsOf({ stats: undefined, count: 4 })).toBeNull();
  expect(partitionsOf({ stats: columns({}), count: 4 })?.ready).toEqual([0, 0, 0, 0]);
  const some = partitionsOf({ stats: columns({ total: [5, 3], total_leased: [2, 0] }), count: 2 });
  expect(some).toMatchObject({ numbers: [0, 1], ready: [3, 3], leased: [2, 0], failures: [0, 0] });
  const gap = partitionsOf({
    stats: columns({ partition: [0, 1, 7], scheduled: [0, 0, 2] }),
    count: 3,
  });
  expect(gap).toMatchObject({ numbers: [0, 1, 7], ready: [0, 0, 0], scheduled: [0, 0, 2] });
});

test("partitions: those above the requested number drain; ages count from the oldest ready item", () => {
  const stats = columns({ partition: [0, 1, 7], total: [2, 0, 1] });
  const atMs = Date.parse("2026-03-01T12:00:00Z");
  const oldest = (partition: number, oldest_ready_at: string | null) =>
    ({ partition, oldest_ready_at }) as PartitionStats;
  const details = [oldest(7, "2026-03-01T11:59:00Z"), oldest(0, null)];
  const told = partitionsOf({ stats, count: 3, requested: 2, details, atMs });
  expect(told).toMatchObject({ drainsFrom: 2, oldest: [0, 0, 60] });
  expect(partitionsOf({ stats, count: 3 })).toMatchObject({ drainsFrom: 3, oldest: [] });
});

test.each([1, 2, barsMax, barsMax + 1, 256, 1_025])("gridOf: %d cells fit the element", (count) => {
  for (const [width, height] of [
    [1_232, 84],
    [358, 120],
  ] as const) {
    const grid = gridOf(count, width, height);
    expect(grid.columns * grid.rows).toBeGreaterThanOrEqual(count);
    expect(grid.columns * grid.cellWidth).toBeLessThanOrEqual(width + 0.01);
    expect(grid.rows * grid.cellHeight).toBeLessThanOrEqual(height + 0.01);
  }
});

test("stepOf: arrow keys lead to neighbours, within the grid", () => {
  const grid = { columns: 10, rows: 3, cellWidth: 1, cellHeight: 1 };
  expect(stepOf("ArrowRight", 3, grid, 25)).toBe(4);
  expect(stepOf("ArrowDown", 3, grid, 25)).toBe(13);
  expect(stepOf("ArrowDown", 17, grid, 25)).toBe(17);
  expect(stepOf("ArrowLeft", 0, grid, 25)).toBe(0);
  expect(stepOf("End", 0, grid, 25)).toBe(24);
  expect(stepOf("Tab", 0, grid, 25)).toBeNull();
});

test("shadeOf: 0 has no shade, the smallest value has one, the largest has all", () => {
  expect([shadeOf(0, 9), shadeOf(1, 1_000), shadeOf(9, 9)]).toEqual([0, 1, 8]);
  expect(fullest([0, 3, 9, 1], 2)).toEqual([2, 1]);
});

const explained = (change: Partial<QueueExplainReply>): QueueExplainReply => ({
  queue_name: "orders",
  as_of: "2026-03-01T12:00:00.000Z",
  health: "flows",
  findings: [],
  ...change,
});
const now = Date.parse("2026-03-01T12:00:00.000Z");
const later = (ms: number) => new Date(now + ms).toISOString();

test("status: the worst finding in the server's words, otherwise the flow", () => {
  const rates = { in: 2_412, out: 2_406 };
  const row = { ready: 1_284, waiting_leases: 9 } as QueueRow;
  const of = { clients: undefined, row, rates };
  expect(sentenceOf({ ...of, explain: explained({}) })).toEqual({
    lead: "It flows.",
    text: "2,406 items per second are completed, 1,284 are ready, and 9 clients wait.",
  });
  const unknown = { ...of, rates: { in: null, out: null } };
  expect(sentenceOf({ ...unknown, explain: explained({}) }).text).toBe(
    "1,284 are ready, and 9 clients wait.",
  );
  expect(sentenceOf({ ...of, explain: explained({ health: "empty" }) }).lead).toBe("Empty.");
  const finding = {
    kind: "at_leased_max",
    since: later(-9),
    count: 2,
    next_at: null,
    text: "Text.",
  };
  const limited = explained({ health: "at_limit", findings: [finding] });
  expect(sentenceOf({ ...of, explain: limited })).toEqual({ lead: "At its limit.", text: "Text." });
});

test("status: a pause is separate, and hides nothing else", () => {
  const finding = (kind: string) => ({
    kind,
    since: later(-9),
    count: 2,
    next_at: null,
    text: kind,
  });
  const of = { clients: undefined, row: undefined, rates: { in: null, out: null } };
  const [dead, paused, full] = ["dead_items", "paused", "store_full"].map(finding);
  if (!dead || !paused || !full) throw new Error("three findings are expected");
  for (const findings of [
    [dead, paused],
    [paused, dead],
  ]) {
    const explain = explained({ health: findings[0]?.kind ?? "", findings });
    expect(findingsOf(explain)).toEqual({ paused, others: [dead] });
    expect(sentenceOf({ ...of, explain })).toEqual({ lead: "Dead items.", text: "dead_items" });
  }
  const alone = explained({ health: "paused", findings: [paused] });
  expect(sentenceOf({ ...of, explain: alone }).lead).toBe("");
  expect(findingsOf(explained({ findings: [full] }))).toEqual({
    paused: undefined,
    others: [full],
  });
});

test("isDyingNow: true while items died recently and are still dead", () => {
  const finding = { kind: "dead_items", since: later(-9), count: 2, next_at: null, text: "Text." };
  const dying = explained({ findings: [finding] });
  expect(isDyingNow(dying, 2)).toBe(true);
  expect(isDyingNow(dying, 0)).toBe(false);
  expect(isDyingNow(explained({}), 2)).toBe(false);
});

test("comingOf: the nearest first, no past event, no duplicates", () => {
  const holder = { client_id: "worker-1", items: 1, partitions: [0], next_lapse_at: later(14_000) };
  const clients = { holding: [holder] } as unknown as QueueClientsReply;
  const row = { next_due_at_ms: now + 5_000 } as QueueRow;
  const sources = { explain: explained({}), clients, row, rates: { in: 0, out: 0 } };
  expect(comingOf(sources, now).map(({ what }) => what)).toEqual([
    "a scheduled item falls due",
    "a lease of worker-1 lapses",
  ]);
  expect(comingOf(sources, now + 6_000)).toHaveLength(1);
  const next = { kind: "all_leased", since: later(0), count: 1, next_at: later(14_000), text: "" };
  const leased = explained({ health: "all_leased", findings: [next] });
  expect(comingOf({ ...sources, row: undefined, explain: leased }, now)).toHaveLength(1);
});

test("edit: only changed settings are sent, counts as numbers", () => {
  const { example } = operations.queueInfo.replies[200] as unknown as { example: QueueInfo };
  const draft = draftOf(example);
  expect(editedOf(example, draft)).toEqual([]);
  const edited = editedOf(example, { ...draft, lease_timeout: "90s ", max_attempts: "3" });
  expect(updateOf("orders", edited)).toEqual({
    queue_name: "orders",
    lease_timeout: "90s",
    max_attempts: 3,
  });
});

test("edit: settings of groups only in a queue with groups, which has one partition", () => {
  const { example } = operations.queueInfo.replies[200] as unknown as { example: QueueInfo };
  const ids = (grouped: boolean) => editableIn({ grouped }).map(({ id }) => id);
  const ofGroups = ids(true).filter((id) => !ids(false).includes(id));
  expect(ofGroups).toEqual([
    "group_leased_max",
    "group_rate",
    "group_waiting_max",
    "group_order",
    "group_on_dead",
  ]);
  expect(ids(false).filter((id) => !ids(true).includes(id))).toEqual(["requested_partitions"]);
  const draft = { ...draftOf(example), group_leased_max: "1", group_order: "strict" };
  expect(updateOf("orders", editedOf(example, draft))).toEqual({
    queue_name: "orders",
    group_leased_max: 1,
    group_order: "strict",
  });
});

test("clear: leased items only together with the ready ones", () => {
  const chosen = { ready: false, scheduled: true, retried: false, leased: true };
  expect(flagsOf(chosen)).toEqual({
    queue: false,
    scheduled: true,
    retry: false,
    destructive: false,
  });
});

test("chart marks: actions within the range", () => {
  const action = (change: Partial<Action>): Action => ({
    id: 1,
    at: later(0),
    key_name: "ops",
    operation: "pause",
    queue_name: "orders",
    to_queues: [],
    items: 0,
    code: 200,
    ...change,
  });
  const actions = [
    action({}),
    action({ id: 2, code: 453 }),
    action({ id: 3, operation: "updateQueue" }),
    action({ id: 4, operation: "resume", at: later(5_000) }),
    action({ id: 5, at: later(-60_000) }),
    action({ id: 6, operation: "redrive", queue_name: "dead", to_queues: ["orders"] }),
    action({ id: 7, operation: "repair" }),
  ];
  const marks = marksOf(actions, now / 1_000 - 10, now / 1_000 + 10);
  expect(marks.map(({ part, text }) => [part, text])).toEqual([
    [0.5, "paused by ops"],
    [0.75, "resumed"],
    [0.5, "redrove"],
    [0.5, "repaired"],
  ]);
});

test("settings: partitions, draining ones, and the shard if there are several", () => {
  const { example } = operations.queueInfo.replies[200] as unknown as { example: QueueInfo };
  const info = { ...example, requested_partitions: 4 };
  const partitions = (count: number | undefined, shard: number | null) =>
    factsOf(info, count, shard).requested_partitions;
  expect(partitions(undefined, null)).toBe("4");
  expect(partitions(6, null)).toBe("4 + 2 drain");
  expect(partitions(4, 2)).toBe("4, in shard 2");
  expect(partitions(6, 0)).toBe("4 + 2 drain, in shard 0");
});
