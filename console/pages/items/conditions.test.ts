import { expect, test } from "bun:test";
import type { ItemFilter } from "../../../openapi/schemas.ts";
import { conditionsIn, filterText, readTyped, requestedBy } from "./conditions.ts";

const now = Date.parse("2026-03-01T12:00:00.000Z");
const condition = (id: string, value: string) => ({ what: "condition", condition: { id, value } });

test.each([
  ["kind=order-placed", condition("kind", "order-placed")],
  ["kind = a=b", condition("kind", "a=b")],
  ["attempts>=2", condition("attempts", "2")],
  ["attempts ≥ 3", condition("attempts", "3")],
  ["before=2h", condition("before", "2026-03-01T10:00:00.000Z")],
  ["before=2026-02-01T00:00Z", condition("before", "2026-02-01T00:00:00.000Z")],
  ["redriven<=2", condition("redriven", "2")],
  ["redriven ≤ 0", condition("redriven", "0")],
  ["reason=", condition("reason", "")],
  ["group=customer-17", condition("group", "customer-17")],
  ["group=", condition("group", "")],
  ["http://a", condition("contains", "http://a")],
  ["4711", condition("contains", "4711")],
  [" 1h0LdFaStQ2vX000000000000Kd ", { what: "item", id: "1h0LdFaStQ2vX000000000000Kd" }],
  ["attempts=many", { what: "fault", text: "attempts takes a number" }],
])("readTyped: %s", (text, meaning) => {
  expect<unknown>(readTyped(text, now)).toEqual(meaning);
});

test("conditions: the address determines the request, also an empty value", () => {
  const query = new URLSearchParams(
    "name=x&reason=&attempts=2&holder=w&partition=3&from=..&death=failed&redriven=0&odd=1",
  );
  expect(requestedBy(conditionsIn(query))).toEqual({
    filter: { reason: "", attempts_min: 2, origin_queue: "..", death: "failed", redriven_max: 0 },
    holder: "w",
    partition: 3,
  });
});

test.each([
  [{}, ""],
  [{ reason: "card_declined" }, "reason = card_declined"],
  [{ reason: "", attempts_min: 0 }, "reason = none, attempts ≥ 0"],
  [{ any_of: { by: "group", values: ["a", ""] } }, "group = a or none"],
  [{ payload_contains: "4711", origin_queue: "orders" }, "contains 4711, came from = orders"],
  [
    { any_of: { by: "reason", values: ["card_declined", ""] }, death: "failed" },
    "death = failed, reason = card_declined or none",
  ],
  [{ any_of: { by: "origin_queue", values: ["a", "b"] } }, "came from = a or b"],
] as const)("a filter in words: %j", (filter, text) => {
  expect(filterText(filter as ItemFilter)).toBe(text);
});

test("conditions: several values of one field match any of them; of a second such field the first value counts", () => {
  const query = new URLSearchParams("reason=a&reason=&from=x&from=y&attempts=2&attempts=3");
  const conditions = conditionsIn(query);
  expect(conditions).toEqual([
    { id: "attempts", value: "2" },
    { id: "reason", value: "a", others: [""] },
    { id: "from", value: "x" },
  ]);
  expect(requestedBy(conditions)).toEqual({
    filter: { attempts_min: 2, any_of: { by: "reason", values: ["a", ""] }, origin_queue: "x" },
  });
});
