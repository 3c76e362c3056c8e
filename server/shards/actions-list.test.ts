import { expect, test } from "bun:test";
import { mergeActions } from "./actions-list.ts";

const instant = (ms: number) => new Date(ms).toISOString();

/** The newest first, as `[id, at]`. */
function listOf(since: number, ...actions: readonly (readonly [number, number])[]) {
  const items = actions.map(([id, at]) => {
    const about = { key_name: "", operation: "pause", queue_name: "q", to_queues: [] };
    return { id, at: instant(at), ...about, items: 0, code: 200 };
  });
  return { items, since: instant(since) };
}

const one = listOf(0, [3, 50], [2, 20], [1, 10]);
const other = listOf(5, [12, 40], [11, 20]);
/** The ids of both lists: twice the own id, plus the place of the list. */
const all = [6, 25, 23, 4, 2];

function idsFrom(pivot: number, limit = 10, replies = [one, other]): number[] {
  return mergeActions(replies, { limit, pivot }).items.map(({ id }) => id);
}

test("mergeActions: the newest first, of one moment in a fixed order", () => {
  expect(idsFrom(0)).toEqual(all);
  expect(idsFrom(0, 2)).toEqual(all.slice(0, 2));
  expect(mergeActions([other, one], { limit: 10, pivot: 0 }).since).toBe(instant(5));
});

test("mergeActions: a page begins with its pivot", () => {
  for (const [at, id] of all.entries()) {
    expect(idsFrom(id)).toEqual(all.slice(at));
    expect(idsFrom(id, 2)).toEqual(all.slice(at, at + 2));
  }
});

test("mergeActions: a pivot that was evicted skips no present action", () => {
  const dropped = listOf(15, [3, 50], [2, 20]);
  expect(idsFrom(2, 10, [dropped, other])).toEqual([]);
  expect(idsFrom(4, 10, [listOf(45, [3, 50]), other])).toEqual([25, 23]);
  expect(idsFrom(27, 10)).toEqual(all);
});

test("mergeActions: ids do not depend on unreachable shards", () => {
  const { items, ...rest } = mergeActions([null, other], { limit: 10, pivot: 0 });
  expect(items.map(({ id }) => id)).toEqual([25, 23]);
  expect(rest).toEqual({ since: instant(5), unreached: [0] });
  expect(mergeActions([null, other], { limit: 10, pivot: 23 }).items).toHaveLength(1);
});

test("mergeActions: a pivot in an unreachable shard is refused", () => {
  expect(() => mergeActions([null, other], { limit: 10, pivot: 4 })).toThrow(
    "shard 0 could not be reached; the action of the pivot is there, try again",
  );
});
