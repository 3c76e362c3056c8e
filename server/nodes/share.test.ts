import { expect, test } from "bun:test";
import type { ShardRow } from "../../stores/nodes.ts";
import {
  acceptingNodes,
  type FreeShard,
  leastLoaded,
  shardsToTakeOver,
  shardToHandOver,
} from "./share.ts";

const free = (...shards: number[]): FreeShard[] =>
  shards.map((shard) => ({ shard, reservedFor: null, freeMs: 0 }));

const nodes = (...urls: string[]) => urls.map((url) => ({ url }));

/** Rows with these owners; `>b`: free, and reserved for `b`. */
function rows(...owners: readonly string[]): ShardRow[] {
  return owners.map((owner, shard) => {
    const isFree = owner.startsWith(">");
    const row = { shard, epoch: 1, leaseUntil: 0, isLapsed: false, takenAt: null };
    return isFree
      ? { ...row, url: null, reservedFor: owner.slice(1) }
      : { ...row, url: owner, reservedFor: null };
  });
}

test("shardsToTakeOver: a single node takes over all shards", () => {
  const alone = { self: "a", accepting: ["a"], shardCount: 4 };
  expect(shardsToTakeOver({ ...alone, ownedCount: 0, free: free(0, 1, 2, 3) })).toEqual([
    0, 1, 2, 3,
  ]);
  expect(shardsToTakeOver({ ...alone, ownedCount: 3, free: free(2) })).toEqual([2]);
});

test("shardsToTakeOver: up to a share that is rounded up; each node starts at a different shard", () => {
  const accepting = ["b", "a", "c"];
  const all = { accepting, shardCount: 7, ownedCount: 0, free: free(0, 1, 2, 3, 4, 5, 6) };
  expect(shardsToTakeOver({ ...all, self: "a" })).toEqual([0, 1, 2]);
  expect(shardsToTakeOver({ ...all, self: "b" })).toEqual([2, 3, 4]);
  expect(shardsToTakeOver({ ...all, self: "c" })).toEqual([4, 5, 6]);
  expect(shardsToTakeOver({ ...all, self: "a", ownedCount: 2 })).toEqual([0]);
  expect(shardsToTakeOver({ ...all, self: "a", ownedCount: 5 })).toEqual([]);
});

test("shardsToTakeOver: after two seconds any node takes over a free shard, whatever its share", () => {
  const full = { self: "a", accepting: ["a", "b"], shardCount: 4, ownedCount: 2 };
  const since = (freeMs: number) => [{ shard: 3, reservedFor: "b", freeMs }];
  expect(shardsToTakeOver({ ...full, free: since(1_999) })).toEqual([]);
  expect(shardsToTakeOver({ ...full, free: since(2_000) })).toEqual([3]);
});

test("shardsToTakeOver: a shard that is reserved for a node is left to it, and taken over by it beyond its share", () => {
  const reserved = (reservedFor: string) => [{ shard: 0, reservedFor, freeMs: 0 }, ...free(1)];
  const two = { accepting: ["a", "b"], shardCount: 4, ownedCount: 0 };
  expect(shardsToTakeOver({ ...two, self: "a", free: reserved("b") })).toEqual([1]);
  expect(shardsToTakeOver({ ...two, self: "a", free: reserved("gone") })).toEqual([0, 1]);
  expect(shardsToTakeOver({ ...two, self: "a", ownedCount: 2, free: reserved("a") })).toEqual([0]);
  expect(shardsToTakeOver({ ...two, self: "a", ownedCount: 1, free: reserved("a") })).toEqual([0]);
});

test("shardToHandOver: to the node with the fewest shards, if it has at least two fewer", () => {
  const offer = (open: readonly number[], ...owners: readonly string[]) =>
    shardToHandOver({
      ...{ self: "a", accepting: ["a", "b", "c"], receivers: nodes("b", "c") },
      ...{ open, free: [], shards: rows(...owners) },
    });
  expect(offer([0, 1, 2], "a", "a", "a", "b", "c")).toEqual({ shard: 2, to: { url: "b" } });
  expect(offer([0, 1, 2], "a", "a", "a", "b")).toEqual({ shard: 2, to: { url: "c" } });
  expect(offer([0, 1], "a", "a", "b", "c")).toBe(null);
  expect(offer([], "b", "b", "b")).toBe(null);
});

test("shardToHandOver: only to a receiver", () => {
  const two = { self: "a", accepting: ["a", "b"] };
  const all = { ...two, open: [0, 1], free: [], shards: rows("a", "a") };
  expect(shardToHandOver({ ...all, receivers: nodes("b") })).toEqual({
    shard: 1,
    to: { url: "b" },
  });
  expect(shardToHandOver({ ...all, receivers: [] })).toBe(null);
});

test("shardToHandOver: of several nodes with the most shards, one hands over", () => {
  const shards = rows("a", "a", "b", "b");
  const offer = (self: string, open: readonly number[], accepting: readonly string[]) =>
    shardToHandOver({ ...{ self, accepting, receivers: nodes("c"), open, free: [], shards } });
  expect(offer("a", [0, 1], ["a", "b", "c"])).toEqual({ shard: 1, to: { url: "c" } });
  expect(offer("b", [2, 3], ["a", "b", "c"])).toBe(null);
  // The other node has left, or is draining.
  expect(offer("b", [2, 3], ["b", "c"])).toEqual({ shard: 3, to: { url: "c" } });
});

test("shardToHandOver: not while another node may take over a free shard, for two seconds at most", () => {
  const two = { self: "a", accepting: ["a", "b"], receivers: nodes("b") };
  const all = { ...two, open: [0, 1, 2] };
  const offer = (freeMs: number) =>
    shardToHandOver({
      ...{ ...all, shards: rows("a", "a", "a", ">c") },
      free: [{ shard: 3, reservedFor: "c", freeMs }],
    });
  expect(offer(1_999)).toBe(null);
  expect(offer(2_000)).toEqual({ shard: 2, to: { url: "b" } });
});

test("leastLoaded: counts the shards that a node owns and those that are reserved for it", () => {
  expect(leastLoaded(nodes("b", "c"), rows("b", ">c", ">c"))).toEqual({ url: "b" });
  expect(leastLoaded(nodes("b", "c"), rows("b"))).toEqual({ url: "c" });
  expect(leastLoaded([], rows("b"))).toBe(null);
});

test("acceptingNodes: a request to drain has no effect while no other node accepts shards", () => {
  const node = { isLive: true, isDraining: false, isDrainRequested: false };
  const a = { ...node, url: "a" };
  const b = { ...node, url: "b", isDrainRequested: true };
  const c = { ...node, url: "c", isDraining: true };
  expect(acceptingNodes([a, b, c])).toEqual(["a"]);
  expect(acceptingNodes([{ ...a, isLive: false }, b, c])).toEqual(["b"]);
  expect(acceptingNodes([{ ...a, isDrainRequested: true }, b, c])).toEqual(["a", "b"]);
  expect(acceptingNodes([c])).toEqual([]);
});
