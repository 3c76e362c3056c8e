import { expect, test } from "bun:test";
import { type GroupInfo, sampleGroup } from "../../../openapi/schemas.ts";
import { changesOf, changesText, draftOf } from "./group-edit.ts";
import { mainState, ownText, rowsOf, stateOf } from "./group-state.ts";

const limits = { group_leased_max: 1, group_rate: "10/1s" };
const free: GroupInfo = { ...sampleGroup, blocked_by: "", blocked_id: "", leased: 0 };
const id = sampleGroup.blocked_id;
const next_at = "2026-03-01T12:00:03.000Z";

test.each<[Partial<GroupInfo>, string, string]>([
  [{}, "open", ""],
  [{ waiting: 0 }, "nothing is ready", ""],
  [{ waiting: 0, paused: true }, "paused", ""],
  [{ blocked_by: "paused", paused: true }, "paused", ""],
  [{ blocked_by: "dead", blocked_id: id }, "closed by the dead letter", id],
  [{ blocked_by: "retry", blocked_id: id }, "waits for an item that came back:", id],
  [{ blocked_by: "retry" }, "waits for an item that came back", ""],
  [{ blocked_by: "leased_max", blocked_id: id }, "its limit of 1 is reached by item", id],
  [{ blocked_by: "leased_max", leased_max: 5 }, "its limit of 5 is reached", ""],
  [{ blocked_by: "rate", next_at }, "its rate of 10/1s is reached; opens in", ""],
  [{ blocked_by: "rate", rate: "1/1m" }, "its rate of 1/1m is reached", ""],
  [{ blocked_by: "a_new_word" }, "a new word", ""],
])("state: %j is %j", (change, text, item) => {
  const state = stateOf({ ...free, ...change }, limits);
  expect(state).toMatchObject({ text, item });
  expect(state.opensAt).toBe(change.next_at ? Date.parse(next_at) : null);
});

test("a name leads to the items that the group has", () => {
  const none = { ...free, waiting: 0 };
  expect(mainState({ ...none, waiting: 1, leased: 1 })).toBe("ready");
  expect(mainState({ ...none, leased: 1, retried: 1 })).toBe("leased");
  expect(mainState({ ...none, retried: 1 })).toBe("scheduled");
  expect(mainState(none)).toBe("ready");
});

test("settings of its own: only those that it has", () => {
  expect(ownText(free)).toBe("");
  expect(ownText({ ...free, leased_max: 2, rate: "5/1s", weight: 3 })).toBe(
    "at most 2, 5/1s, weight 3",
  );
});

test("rows: while the table is in use, none comes, goes or moves, and their figures are new", () => {
  const group = (name: string, waiting = 1): GroupInfo => ({ ...free, group: name, waiting });
  const groups = [group("a", 7), group("b"), group("d")];
  expect(rowsOf(groups, null)).toBe(groups);
  expect(rowsOf(groups, ["a", "c", "d"])).toEqual([group("a", 7), "c", group("d")]);
});

test("set: only edited settings are sent, and an empty one is as the queue has it", () => {
  const info = { ...free, leased_max: 2, rate: "5/1s" };
  const draft = draftOf(info);
  expect(draft).toEqual({ leasedMax: "2", rate: "5/1s", weight: "1", isPaused: false });
  expect(draftOf(free).leasedMax).toBe("");
  expect(changesOf(info, draft)).toEqual({});
  const all = { leasedMax: "", rate: " ", weight: "3", isPaused: true };
  const changes = changesOf(info, all);
  expect(changes).toEqual({ leased_max: 0, rate: "", weight: 3, paused: true });
  expect(changesText(changes)).toBe(
    "leased_max as the queue has it, rate as the queue has it, weight 3, paused",
  );
  expect(changesText(changesOf({ ...info, paused: true }, draft))).toBe("resumed");
});
