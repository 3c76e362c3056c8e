import { expect, test } from "bun:test";
import { mergeQueues } from "./queues-list.ts";
import { sampleQueue } from "./testing/samples.ts";

const pageOf = (...names: string[]) => ({ items: names.map(sampleQueue) });
const namesOf = ({ items }: ReturnType<typeof pageOf>) => items.map(({ queue_name }) => queue_name);

test.each([
  [[], [], 3, []],
  [["b"], ["a", "c"], 3, ["a", "b", "c"]],
  [["b", "d"], ["a", "c"], 3, ["a", "b", "c"]],
  // Sorted by character codes, not by locale.
  [["a", "é"], ["B", "Z", "😀"], 9, ["B", "Z", "a", "é", "😀"]],
])("mergeQueues: %j and %j, at most %d", (one, other, limit, merged) => {
  expect(namesOf(mergeQueues([pageOf(...one), pageOf(...other)], { limit }))).toEqual(merged);
});
