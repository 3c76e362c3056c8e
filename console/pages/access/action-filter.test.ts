import { expect, test } from "bun:test";
import type { Action } from "../../../openapi/schemas.ts";
import { filterFrom, isMeant, queryWith } from "./action-filter.ts";

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

test("the address says the filter, and the filter the address", () => {
  const query = new URLSearchParams({ queue: "a/b", key: "ops", did: "pause", refused: "1" });
  const filter = filterFrom(query);
  expect(filter).toEqual({ queue: "a/b", key: "ops", operation: "pause", isRefused: true });
  expect(queryWith(new URLSearchParams("x=1"), filter).toString()).toBe(
    "x=1&queue=a%2Fb&key=ops&did=pause&refused=1",
  );
  const none = { queue: "", key: "", operation: "", isRefused: false };
  expect(queryWith(query, none).toString()).toBe("");
});

test("all that is said has to hold", () => {
  const any = { queue: "", key: "", operation: "", isRefused: false };
  expect(isMeant(any, action)).toBe(true);
  expect(isMeant({ ...any, key: "ops", isRefused: true }, action)).toBe(true);
  expect(isMeant({ ...any, key: "ci" }, action)).toBe(false);
  expect(isMeant({ ...any, isRefused: true }, { ...action, code: 200 })).toBe(false);
});
