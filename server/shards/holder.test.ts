import { expect, test } from "bun:test";
import { noSuchTask, QueueError, reopeningFailure } from "../../engine/model/errors.ts";
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

const unreached = failed(QueueError.from(reopeningFailure));

test("holderOf: a shard that could not be reached may have it", () => {
  expect(holderOf([unreached, has], "no_such_task")).toBe(1);
  expect(() => holderOf([unknown, unreached, unreached], "no_such_task")).toThrow(
    "shards 1, 2 could not be reached; the task may be there, try again",
  );
  expect(() => holderOf([unreached, down], "no_such_task")).toThrow("down");
  expect(() => holderOf([unreached, unreached], "no_such_task")).toThrow("is opened again");
});
