import { expect, test } from "bun:test";
import type { Action } from "../../../openapi/schemas.ts";
import { filterFrom, matchesFilter, noFilter, queryOf } from "./action-filter.ts";

const action: Action = {
  id: 1,
  at: "2026-03-01T12:00:00.000Z",
  key_name: "ops",
  operation: "pause",
  queue_name: "orders",
  to_queues: [],
  items: 0,
  code: 453,
};

test("action filter: read from the address, and written to it", () => {
  const query = new URLSearchParams({ queue: "a/b", key: "ops", did: "pause", refused: "1" });
  const filter = filterFrom(query);
  expect(filter).toEqual({ queue: "a/b", key: "ops", operation: "pause", isRefused: true });
  expect(queryOf(filter)).toEqual({ queue: "a/b", key: "ops", did: "pause", refused: "1" });
  expect(queryOf(noFilter)).toEqual({ queue: "", key: "", did: "", refused: "" });
});

test("action filter: an action must match all of its parts", () => {
  expect(matchesFilter(noFilter, action)).toBe(true);
  expect(matchesFilter({ ...noFilter, key: "ops", isRefused: true }, action)).toBe(true);
  expect(matchesFilter({ ...noFilter, key: "ci" }, action)).toBe(false);
  expect(matchesFilter({ ...noFilter, isRefused: true }, { ...action, code: 200 })).toBe(false);
});
