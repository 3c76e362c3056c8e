import { expect, test } from "bun:test";
import { sampleFoundItem } from "../../openapi/schemas.ts";
import { followedBy, followedMax } from "./use-follow.ts";

const items = (...ids: readonly (string | number)[]) =>
  ids.map((id) => ({ ...sampleFoundItem, id: String(id) }));
const idsOf = (found: readonly { id: string }[]) => found.map(({ id }) => id);

test("what comes is added below, or above with the newest first; what went keeps its place", () => {
  const [before, found] = [items("a", "b"), items("b", "c")];
  const below = followedBy(before, found, false);
  expect([idsOf(below.items), [...below.goneIds]]).toEqual([["a", "b", "c"], ["a"]]);
  const above = followedBy(items("b", "a"), items("c", "b"), true);
  expect([idsOf(above.items), [...above.goneIds]]).toEqual([["c", "b", "a"], ["a"]]);
});

test("with the newest first, what newer ones have pushed out is not taken for gone", () => {
  const newest = Array.from({ length: followedMax }, (_, index) => index);
  const { items: shown, goneIds } = followedBy(items(0, "gone", 1, "old"), items(...newest), true);
  expect([...goneIds]).toEqual(["gone"]);
  expect(idsOf(shown).slice(-4)).toEqual(["0", "gone", "1", "old"]);
});
