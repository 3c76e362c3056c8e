import { expect, test } from "bun:test";
import { strangeErrors } from "../../client/testing/thrown.ts";
import type { LeasedItem } from "../model/api.ts";
import { QueueError } from "../model/errors.ts";
import { textOf, type WorkNotice } from "./work-notice.ts";

const item = { id: "1a", attempts: 1 } as LeasedItem;
const linesOf = (notice: WorkNotice): string[] => textOf(notice, "orders").split("\n");

test.each<[WorkNotice, string]>([
  [
    { kind: "retried", item, error: "no paper", delayMs: 750 },
    "holdfast: retried 1a of orders again in 750 ms; no paper",
  ],
  [{ kind: "dead", item, error: { code: 7 } }, 'holdfast: dead 1a of orders; {"code":7}'],
  [{ kind: "lost", item, reason: "it lapsed" }, "holdfast: lost 1a of orders; it lapsed"],
  [
    {
      kind: "trouble",
      error: new QueueError({
        ok: false,
        code: "store",
        reason: "store_failed",
        message: "the store is down",
      }),
    },
    "holdfast: trouble of orders; the store is down",
  ],
  [
    { kind: "ended", error: new RangeError("queue does not exist") },
    "holdfast: ended of orders; queue does not exist",
  ],
  [
    { kind: "fault", item, error: "x".repeat(10_000) },
    `holdfast: fault 1a of orders; ${"x".repeat(500)}…`,
  ],
])("a notice is one line if no stack belongs to it: %j", (notice, line) => {
  expect(linesOf(notice)).toEqual([line]);
});

test("work notice: the stack of a thrown error is below its line", () => {
  function failing(): never {
    throw new Error("no\npaper");
  }
  let error: unknown;
  try {
    failing();
  } catch (thrown) {
    error = thrown;
  }
  const [line, first, ...others] = linesOf({ kind: "dead", item, error });
  expect(line).toBe("holdfast: dead 1a of orders; no paper");
  expect(first).toMatch(/^\s+at failing .*work-notice\.test\.ts:\d+/);
  expect(others.length).toBeLessThan(20);
});

test.each(Object.entries(strangeErrors()))(
  "work notice: any thrown value has a line: %s",
  (_, thrown) => {
    const [line = ""] = linesOf({ kind: "dead", item, error: thrown() });
    expect(line).toMatch(/^holdfast: dead 1a of orders; ./);
    expect(line.isWellFormed()).toBe(true);
  },
);
