import { expect, test } from "bun:test";
import { noSuchTask, QueueError } from "../../engine/model/errors.ts";
import { holderOf } from "./holder.ts";

const has = { status: "fulfilled", value: "it" } as const;
const failed = (reason: unknown) => ({ status: "rejected", reason }) as const;
const unknown = failed(QueueError.from(noSuchTask("t")));
const down = failed(new Error("down"));

test.each([
  ["the second", [unknown, has], 1],
  ["the first, although another one fails", [has, down], 0],
  ["none", [unknown, unknown], null],
])("holderOf: %s", (_, outcomes, holder) => {
  expect(holderOf(outcomes, "no_such_task")).toBe(holder);
});

test("holderOf: a place that fails may have it, and two cannot", () => {
  expect(() => holderOf([unknown, down], "no_such_task")).toThrow("down");
  expect(() => holderOf([unknown, unknown], "no_such_item")).toThrow("no such task");
  expect(() => holderOf([has, has], "no_such_task")).toThrow("several places; 0, 1");
});
