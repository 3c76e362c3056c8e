import { describe, expect, test } from "bun:test";
import type { ClusterView, NodeRow, ShardRow } from "../../stores/nodes.ts";
import {
  acceptingUrls,
  afterPoll,
  type ClusterState,
  freeRows,
  initialState,
  type Poll,
  withNode,
} from "./cluster-state.ts";

const self = { url: "a", key: "key", version: "", isDraining: false };

function row(shard: number, url: string | null, change: Partial<ShardRow> = {}): ShardRow {
  const none = { leaseUntil: 0, isLapsed: false, reservedFor: null, takenAt: null };
  return { ...none, shard, url, epoch: 1, ...change };
}

function node(url: string, change: Partial<NodeRow> = {}): NodeRow {
  const started = { key: "key", version: "", startedAt: 0, seenAt: 0 };
  const states = { isDraining: false, isDrainRequested: false, isLive: true };
  return { url, ...started, ...states, ...change };
}

function view(shards: readonly ShardRow[], change: Partial<ClusterView> = {}): ClusterView {
  return { shards, nodes: [node("a"), node("b")], isContested: false, now: 1_000, ...change };
}

/** A node `a` that polled at 0, when the database's clock was at 1,000, and owns shards 0 and 1. */
const owner: ClusterState = {
  ...initialState(self),
  view: view([row(0, "a"), row(1, "a"), row(2, "b")]),
  polledAt: 0,
};
const owned = [
  { shard: 0, epoch: 1 },
  { shard: 1, epoch: 1 },
];
const poll: Poll = {
  ...{ sentAt: 500, receivedAt: 510, owned, released: new Set<number>() },
  view: view(owner.view.shards, { now: 1_505 }),
};

describe("afterPoll", () => {
  const none = { lost: [], outdated: [] };
  test.each<[string, Partial<Poll>, { lost: number[]; outdated: number[] }]>([
    ["the rows still name this node", {}, none],
    [
      "another node owns a shard",
      { view: view([row(0, "b"), row(1, "a")]) },
      { ...none, lost: [0] },
    ],
    ["a shard is free", { view: view([row(0, null), row(1, "a")]) }, { ...none, lost: [0] }],
    [
      "another epoch",
      { view: view([row(0, "a", { epoch: 2 }), row(1, "a")]) },
      { ...none, lost: [0] },
    ],
    ["a row is missing", { view: view([row(1, "a")]) }, { ...none, lost: [0] }],
    ["a second more at the database", { view: { ...poll.view, now: 2_510 } }, none],
    ["more than that", { view: { ...poll.view, now: 2_511 } }, { ...none, outdated: [0, 1] }],
    [
      "more than that, and a shard is lost",
      { view: view([row(0, "b"), row(1, "a")], { now: 9_000 }) },
      { lost: [0], outdated: [1] },
    ],
    ["the database's clock was set back", { view: { ...poll.view, now: 10 } }, none],
  ])("ownership: %s", (_, change, expected) => {
    const { lost, outdated } = afterPoll(owner, { ...poll, ...change });
    expect({ lost, outdated }).toEqual(expected);
  });

  test("an owner has changed if a shard has another one, or another epoch", () => {
    const isChanged = (...shards: readonly ShardRow[]): boolean =>
      afterPoll(owner, { ...poll, view: view([row(0, "a"), row(1, "a"), ...shards]) })
        .isOwnerChanged;
    expect(isChanged(row(2, "b", { isLapsed: true, leaseUntil: 9 }))).toBe(false);
    expect(isChanged(row(2, null))).toBe(true);
    expect(isChanged(row(2, "b", { epoch: 2 }))).toBe(true);
  });

  test("the state is as old as the request, not as the answer", () => {
    expect(afterPoll(owner, { ...poll, receivedAt: 60_000 }).state.polledAt).toBe(500);
  });

  test("the row of a shard that was released meanwhile is kept", () => {
    const before = { ...owner, view: view([row(0, null, { reservedFor: "b" }), row(1, "a")]) };
    const { state } = afterPoll(before, { ...poll, owned: [], released: new Set([0]) });
    expect(state.view.shards.map(({ url }) => url)).toEqual([null, "a", "b"]);
  });

  test("a first poll is not compared with anything", () => {
    const contested = { ...poll.view, isContested: true, now: 1_000_000 };
    const { state, outdated } = afterPoll(initialState(self), { ...poll, view: contested });
    expect({ isContested: state.view.isContested, outdated }).toEqual({
      ...{ isContested: false, outdated: [] },
    });
    expect(afterPoll(state, { ...poll, view: contested }).state.view.isContested).toBe(true);
  });
});

test.each<[string, Partial<ClusterState>, ShardRow, string | null | false]>([
  ["free", {}, row(2, null), null],
  ["free, reserved", {}, row(2, null, { reservedFor: "b" }), "b"],
  ["another node's", {}, row(2, "b"), false],
  ["another node's, lapsed", {}, row(2, "b", { isLapsed: true, reservedFor: "c" }), null],
  ["lapsed, in the grace period", { graceUntil: 510 }, row(2, "b", { isLapsed: true }), false],
  ["a former process's", { graceUntil: 510 }, row(2, "a"), "a"],
  ["owned", {}, row(1, "a"), false],
  ["owned, lapsed", {}, row(1, "a", { isLapsed: true }), null],
])("freeRows: %s", (_, change, shard, reservedFor) => {
  const state = { ...owner, ...change, view: view([shard]) };
  const reserved = freeRows(state, owned, 510).map((free) => free.reservedFor);
  expect(reserved).toEqual(reservedFor === false ? [] : [reservedFor]);
});

test("freeRows: a row with the URL of two processes belongs to neither until it lapses", () => {
  const contested = view([row(2, "a"), row(3, "a", { isLapsed: true })], { isContested: true });
  const free = freeRows({ ...owner, view: contested }, owned, 510);
  expect(free.map(({ shard, reservedFor }) => [shard, reservedFor])).toEqual([[3, null]]);
});

test.each<[string, readonly NodeRow[], Partial<typeof self>, readonly string[]]>([
  ["every live node", [node("a"), node("b"), node("c", { isLive: false })], {}, ["a", "b"]],
  [
    "not a node that is asked to drain",
    [node("a", { isDrainRequested: true }), node("b")],
    {},
    ["b"],
  ],
  [
    "unless it was its former process",
    [node("a", { key: "old", isDrainRequested: true })],
    {},
    ["a"],
  ],
  ["not a node that stops", [node("a"), node("b")], { isDraining: true }, ["b"]],
])("acceptingUrls: %s", (_, nodes, change, expected) => {
  const state = { ...owner, self: { ...self, ...change }, view: view([], { nodes }) };
  expect(acceptingUrls(state)).toEqual(expected);
});

test("withNode: a process replaces the former one with its URL, unless it is known to be live", () => {
  const known = { ...owner, view: view([], { nodes: [node("b")] }) };
  expect(withNode(known, node("b", { version: "2" }))).toBe(known);
  const restarted = node("b", { key: "new" });
  expect(withNode(known, restarted).view.nodes).toEqual([restarted]);
});
