import { expect, test } from "bun:test";
import { Unavailable } from "./errors.ts";
import { leasedItem } from "./items.ts";
import { textOf, type WorkerNotice } from "./notice.ts";

const item = leasedItem({
  id: "1a",
  encoding: "",
  kind: "",
  reference: "",
  priority: 0,
  attempts: 1,
  lease_deadline: "2026-01-01T00:00:00.000Z",
  bytes: "",
});

/** Removes the stack of the error. */
const lineOf = (notice: WorkerNotice): string => textOf(notice, "orders").split("\n")[0] ?? "";

const looped: Record<string, unknown> = { code: 7 };
looped["self"] = looped;

test.each([
  ["an error", new Error("no paper"), "no paper"],
  ["an error without words", new RangeError(), "RangeError"],
  ["a text", "no paper", "no paper"],
  ["an object", { code: 7, detail: "no paper" }, '{"code":7,"detail":"no paper"}'],
  ["an object without a prototype", Object.assign(Object.create(null), { code: 7 }), '{"code":7}'],
  ["an object that holds itself", looped, "Object with code, self"],
  ["what JSON cannot show", new Response(), "Response"],
  ["what JSON leaves out", { toJSON: () => undefined }, "Object"],
  ["a list", [1, "a"], '[1,"a"]'],
  ["a number", 42, "number 42"],
  ["nothing", undefined, "undefined"],
  ["a symbol", Symbol("x"), "symbol"],
  ["a text without end", "x".repeat(10_000), `${"x".repeat(500)}…`],
  ["an error without end", new Error("x".repeat(10_000)), `${"x".repeat(500)}…`],
])("notice: the line on the console contains the thrown value: %s", (_, error, shown) => {
  expect(lineOf({ kind: "retried", item, error, delayMs: 750 })).toBe(
    `holdfast: retried 1a of orders again in 750 ms; ${shown}`,
  );
});

test("notice: the line contains the reason of a lost item, and omits an absent item", () => {
  expect(lineOf({ kind: "lost", item, reason: "it lapsed" })).toBe(
    "holdfast: lost 1a of orders; it lapsed",
  );
  const error = new Error("no paper");
  expect(lineOf({ kind: "lost", item, reason: "it lapsed", error })).toBe(
    "holdfast: lost 1a of orders; it lapsed; no paper",
  );
  expect(lineOf({ kind: "removed", item, error })).toBe("holdfast: removed 1a of orders; no paper");
});

test("notice: the stack of a thrown error follows its line, except for trouble", () => {
  function failing(): never {
    throw new Error("no paper");
  }
  let error: unknown;
  try {
    failing();
  } catch (thrown) {
    error = thrown;
  }
  const [line, first, ...others] = textOf(
    { kind: "retried", item, error, delayMs: 750 },
    "orders",
  ).split("\n");
  expect(line).toBe("holdfast: retried 1a of orders again in 750 ms; no paper");
  expect(first).toMatch(/^\s+at failing .*notice\.test\.ts:\d+/);
  expect(others.length).toBeLessThan(20);
  const trouble = new Unavailable({ operation: "lease", status: null, message: "it is away" });
  expect(textOf({ kind: "trouble", error: trouble }, "orders")).toBe(
    "holdfast: trouble of orders; it is away",
  );
});
