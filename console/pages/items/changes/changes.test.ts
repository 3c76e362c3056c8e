import { expect, test } from "bun:test";
import type { FoundItem } from "../../../../openapi/schemas.ts";
import { callOf, callsOf, defaultOptions, targetByIds } from "./changes.ts";

const item = (id: string, partition: number, state: string) =>
  ({ id, partition, state }) as FoundItem;

test("callsOf: leased items take a call per partition, by ids, and no dry run of a retry", () => {
  const target = targetByIds("orders", [
    item("a", 0, "leased"),
    item("b", 3, "leased"),
    item("c", 0, "leased"),
  ]);
  const change = {
    verb: "retry",
    target,
    options: { ...defaultOptions, reason: "stuck" },
  } as const;
  expect(callsOf(change, undefined).map(({ body }) => body)).toEqual([
    {
      queue_name: "orders",
      partition: 0,
      items: [
        { id: "a", reason: "stuck" },
        { id: "c", reason: "stuck" },
      ],
    },
    { queue_name: "orders", partition: 3, items: [{ id: "b", reason: "stuck" }] },
  ]);
  expect(callOf(change, { ids: ["a"], partition: 0 }, { isDry: true })).toBeNull();
  expect(callsOf({ verb: "deleteHeld", target, options: defaultOptions }, [2, 1])[1]).toEqual({
    id: "deleteItems",
    body: { queue_name: "orders", partition: 3, ids: ["b"], expect: 1 },
  });
});

test("callsOf: other items take one task, by ids or filter, bounded by the count", () => {
  const target = targetByIds("orders", [item("a", 0, "scheduled"), item("b", 3, "scheduled")]);
  const options = { ...defaultOptions, reason: "by mistake", perSecond: 50 };
  expect(callsOf({ verb: "reject", target, options }, [2])).toEqual([
    {
      id: "repair",
      body: {
        action: "reject",
        state: "scheduled",
        reason: "by mistake",
        queue_name: "orders",
        ids: ["a", "b"],
        per_second: 50,
        expect: 2,
      },
    },
  ]);
  expect(callsOf({ verb: "prioritize", target, options: defaultOptions }, [2])).toEqual([
    {
      id: "repair",
      body: {
        action: "prioritize",
        state: "scheduled",
        priority: 9,
        queue_name: "orders",
        ids: ["a", "b"],
        expect: 2,
      },
    },
  ]);
  const all = { queueName: "dead", state: null, parts: [{ filter: { reason: "" } }] };
  expect(
    callOf(
      { verb: "redrive", target: all, options: { ...defaultOptions, to: "a", limit: 9 } },
      all.parts[0] ?? {},
      {
        isDry: true,
      },
    ),
  ).toEqual({
    id: "redrive",
    body: { queue_name: "dead", filter: { reason: "" }, limit: 9, dry_run: true, to_queue: "a" },
  });
});
