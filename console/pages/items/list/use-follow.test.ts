import { expect, test } from "bun:test";
import { sampleFoundItem } from "../../../../openapi/schemas.ts";
import { followedBy, followedMax, type Look, pauseMsAfter } from "./use-follow.ts";

const items = (...ids: readonly (string | number)[]) =>
  ids.map((id) => ({ ...sampleFoundItem, id: String(id) }));
const idsOf = (found: readonly { id: string }[]) => found.map(({ id }) => id);
const shown = (...ids: readonly (string | number)[]) => ({
  items: items(...ids),
  goneIds: new Set<string>(),
});
const whole = (...ids: readonly string[]): Look => ({ found: items(...ids), isCut: false });
const part = (...ids: readonly string[]): Look => ({ found: items(...ids), isCut: true });

test("what comes is added below, or above with the newest first; what went keeps its place", () => {
  const below = followedBy(shown("a", "b"), [whole("b", "c")], false);
  expect([idsOf(below.items), [...below.goneIds]]).toEqual([["a", "b", "c"], ["a"]]);
  const above = followedBy(shown("b", "a"), [whole("c", "b")], true);
  expect([idsOf(above.items), [...above.goneIds]]).toEqual([["c", "b", "a"], ["a"]]);
});

test("with the newest first, what newer ones have pushed out is not taken for gone", () => {
  const seen = followedBy(shown(0, "gone", 1, "old"), [part("9", "0", "1")], true);
  expect([...seen.goneIds]).toEqual(["gone"]);
  expect(idsOf(seen.items)).toEqual(["9", "0", "gone", "1", "old"]);
  // Nor does one that is gone come back when it is pushed out itself.
  expect([...followedBy(seen, [part("10", "9")], true).goneIds]).toEqual(["gone"]);
});

test("of rows behind what a look has found nothing is known, however few it found", () => {
  const seen = followedBy(shown("a", "b", "c", "d", "e"), [part("a", "c")], false);
  expect([...seen.goneIds]).toEqual(["b"]);
  expect([...followedBy(seen, [part()], false).goneIds]).toEqual(["b"]);
});

test("a list longer than a look is looked at from its start and from its last page on", () => {
  const [, , after] = items("a", "b", "c");
  const end: Look = { ...whole("e", "f"), after };
  const seen = followedBy(shown("a", "b", "c", "d", "e"), [part("b"), end], false);
  expect(idsOf(seen.items)).toEqual(["a", "b", "c", "d", "e", "f"]);
  expect([...seen.goneIds]).toEqual(["a", "d"]);
});

test("in the order of the queue partitions come first, and in each what is due later comes last", () => {
  const at = (id: string, partition: number, state: string) => ({
    ...{ ...sampleFoundItem, id, partition, state },
  });
  const before = [at("9", 0, "ready"), at("1", 0, "scheduled"), at("2", 1, "ready")];
  const look = { found: [at("5", 0, "scheduled")], isCut: true };
  const seen = followedBy({ items: before, goneIds: new Set() }, [look], false);
  expect([...seen.goneIds]).toEqual(["9", "1"]);
});

test.each([true, false])("no more rows are kept than can be watched; newest first: %p", (is) => {
  const many = Array.from({ length: followedMax }, (_, at) => `b${at}`);
  const { items: kept } = followedBy(shown(...many), [whole("a", ...many)], is);
  expect(kept).toHaveLength(followedMax);
  expect(kept[0]?.id).toBe(is ? "a" : "b0");
});

test.each([
  [1, 1_000],
  [50, 1_000],
  [1_400, 28_000],
  [9_000, 60_000],
])("after a look of %i ms the next is %i ms later", (tookMs, pauseMs) => {
  expect(pauseMsAfter(tookMs)).toBe(pauseMs);
});
