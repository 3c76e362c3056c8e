import { expect, test } from "bun:test";
import { QueueError, reopeningFailure } from "../../engine/model/errors.ts";
import type { ItemExplained } from "../../openapi/schemas.ts";
import { bestExplained } from "./item-explained.ts";
import { sampleExplained } from "./testing/samples.ts";

const has = <T>(value: T) => ({ status: "fulfilled", value }) as const;
const down = { status: "rejected", reason: new Error("down") } as const;
const nowhere = sampleExplained({});
const ended = sampleExplained({ events: 2 });
const found = sampleExplained({ events: 1, isFound: true });

test.each<[string, ItemExplained[], ItemExplained]>([
  ["the place that has it", [ended, found, nowhere], found],
  ["else the one that issued the id", [nowhere, ended], ended],
  ["else nowhere", [nowhere, sampleExplained({})], nowhere],
])("bestExplained: %s", (_, replies, best) => {
  expect(bestExplained(replies.map(has))).toBe(best);
});

test("bestExplained: a place that fails may have it", () => {
  expect(bestExplained([down, has(found)])).toBe(found);
  expect(() => bestExplained([has(ended), down])).toThrow("down");
});

test("bestExplained: a shard that could not be reached may have it", () => {
  const unreached = { status: "rejected", reason: QueueError.from(reopeningFailure) } as const;
  expect(bestExplained([unreached, has(found)])).toBe(found);
  expect(() => bestExplained([has(ended), unreached])).toThrow(
    "shard 1 could not be reached; the item may be there, try again",
  );
});
