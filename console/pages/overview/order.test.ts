import { expect, test } from "bun:test";
import { operations } from "../../../openapi/operations.ts";
import type { OverviewAlarm } from "../../../openapi/schemas.ts";
import { basePathOf } from "../../api/base-path.ts";
import { paths } from "../../api/call.ts";
import { clockText, leftText, rateText, spanText } from "../../format.ts";
import type { Overview, QueueRow } from "../../state/overview-state.ts";
import { groupedAlarms } from "./alarms.tsx";
import { isShown, ordered, pressed, sortFrom, sortText } from "./order.ts";

const row = (queue_name: string, change: Partial<QueueRow> = {}) =>
  ({
    queue_name,
    health: "flows",
    ready: 0,
    dead_total: 0,
    oldest_ready_at_ms: 0,
    in: [],
    out: [],
    ...change,
  }) as QueueRow;
const overviewOf = (...rows: readonly QueueRow[]) =>
  ({
    asOfMs: 1_000,
    queues: new Map(rows.map((one) => [one.queue_name, one])),
  }) as unknown as Overview;

test("order: trouble first, then what has more traffic, then the name", () => {
  const busy = {
    in: [
      { atMs: 0, value: 0 },
      { atMs: 1_000, value: 9 },
    ],
  };
  const overview = overviewOf(
    row("b"),
    row("a"),
    row("busy", busy),
    row("late", { health: "no_consumers" }),
    row("down", { health: "shard_down" }),
    row("later", { health: "word_of_tomorrow" }),
  );
  const order = ordered(overview, sortFrom(null));
  expect(order).toEqual(["down", "late", "later", "busy", "a", "b"]);
});

test.each([
  ["name", ["a", "b", "c"]],
  ["-name", ["c", "b", "a"]],
  ["ready", ["b", "c", "a"]],
  ["-ready", ["a", "c", "b"]],
  ["oldest", ["c", "b", "a"]],
  ["dead", ["a", "b", "c"]],
])("order: the address %s means %j", (text, expected) => {
  const overview = overviewOf(
    row("a", { ready: 1, dead_total: 3 }),
    row("b", { ready: 3, oldest_ready_at_ms: 900, dead_total: 2 }),
    row("c", { ready: 2, oldest_ready_at_ms: 100, dead_total: 1 }),
  );
  expect(ordered(overview, sortFrom(text))).toEqual(expected);
  expect(sortText(sortFrom(text))).toBe(text);
});

test("order: a second press of a heading reverses the order", () => {
  const once = pressed(sortFrom(null), "ready");
  expect(sortText(once)).toBe("ready");
  expect(sortText(pressed(once, "ready"))).toBe("-ready");
  expect(sortText(pressed(once, "name"))).toBe("name");
  expect(sortText(sortFrom("no such"))).toBe("trouble");
});

test("filter: by a part of the name in any case, and by trouble", () => {
  const all = { text: "", isTroubleOnly: false };
  expect(isShown(row("Orders"), "Orders", { ...all, text: " RDER " })).toBe(true);
  expect(isShown(row("Orders"), "Orders", { ...all, text: "x" })).toBe(false);
  expect(isShown(row("a"), "a", { ...all, isTroubleOnly: true })).toBe(false);
  expect(isShown(row("a", { health: "dead_items" }), "a", { ...all, isTroubleOnly: true })).toBe(
    true,
  );
});

test("alarms: queues with the same cause share a row in the place of their first, until it is opened", () => {
  const alarm = (kind: string, queue_name: string) =>
    ({ kind, queue_name, shard: -1, since: null, text: "", count: 1 }) as OverviewAlarm;
  const first = [
    alarm("store_full", ""),
    alarm("dead_items", "a"),
    ...["b", "c", "d"].map((name) => alarm("no_consumers", name)),
    alarm("dead_items", "e"),
  ];
  const shownBy = (open: readonly string[]) =>
    groupedAlarms(first, new Set(open)).map(({ alarms }) =>
      alarms.map(({ queue_name: name }) => name).join(""),
    );
  expect(shownBy([])).toEqual(["", "a", "bcd", "e"]);
  expect(shownBy(["no_consumers"])).toEqual(["", "a", "b", "c", "d", "e"]);
});

test("figures: short texts with units", () => {
  expect([0, 400, 89_000, 90_000, 5_760_000, 200_000_000].map(spanText)).toEqual([
    ...["0 ms", "400 ms", "89 s", "2 m", "1.6 h", "2 d"],
  ]);
  expect([null, 0, 0.01, 3.14, 2_406.4].map(rateText)).toEqual(["–", "0", "< 0.1", "3.1", "2,406"]);
  expect([-1, 500, 61_000, 3_661_000].map(leftText)).toEqual(["now", "00:01", "01:01", "01:01:01"]);
  expect(clockText(Date.UTC(2026, 0, 1, 14, 32, 7), "utc", { seconds: false })).toBe("14:32");
});

test.each([
  ["/console", ""],
  ["/console/", ""],
  ["/console/queue", ""],
  ["/holdfast/console", "/holdfast"],
  ["/tools/holdfast-1/console/dead", "/tools/holdfast-1"],
  ["/console/console", "/console"],
])("base path: at %s calls go below %j", (pathname, expected) => {
  expect(basePathOf(pathname)).toBe(expected);
});

test("calls: each path is the contract's", () => {
  const ids = Object.keys(paths) as (keyof typeof paths)[];
  expect(ids).not.toEqual([]);
  expect(ids.map((id) => [id, paths[id] as string])).toEqual(
    ids.map((id) => [id, operations[id].path]),
  );
});
