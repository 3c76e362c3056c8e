import { expect, test } from "bun:test";
import type { ShardRow } from "../../stores/nodes.ts";
import {
  type FreeShard,
  leastLoaded,
  shardsToTake,
  shardToHandOver,
  takersAmong,
} from "./share.ts";

const free = (...shards: number[]): FreeShard[] =>
  shards.map((shard) => ({ shard, meantFor: null, freeMs: 0 }));

/** Rows with these owners; `>b`: free, and meant for `b`. */
function rows(...owners: readonly string[]): ShardRow[] {
  return owners.map((owner, shard) => {
    const isFree = owner.startsWith(">");
    const row = { shard, epoch: 1, leaseUntil: 0, isLapsed: false, takenAt: null };
    return isFree
      ? { ...row, url: null, meantFor: owner.slice(1) }
      : { ...row, url: owner, meantFor: null };
  });
}

test("shardsToTake: a node that is alone takes all", () => {
  const alone = { self: "a", others: [], shardCount: 4 };
  expect(shardsToTake({ ...alone, heldCount: 0, free: free(0, 1, 2, 3) })).toEqual([0, 1, 2, 3]);
  expect(shardsToTake({ ...alone, heldCount: 3, free: free(2) })).toEqual([2]);
});

test("shardsToTake: up to a share that is rounded up, and each node begins elsewhere", () => {
  const all = { shardCount: 7, heldCount: 0, free: free(0, 1, 2, 3, 4, 5, 6) };
  expect(shardsToTake({ ...all, self: "a", others: ["b", "c"] })).toEqual([0, 1, 2]);
  expect(shardsToTake({ ...all, self: "b", others: ["a", "c"] })).toEqual([2, 3, 4]);
  expect(shardsToTake({ ...all, self: "c", others: ["b", "a"] })).toEqual([4, 5, 6]);
  expect(shardsToTake({ ...all, self: "a", others: ["b", "c"], heldCount: 2 })).toEqual([0]);
  expect(shardsToTake({ ...all, self: "a", others: ["b", "c"], heldCount: 5 })).toEqual([]);
});

test("shardsToTake: after two seconds any node takes a free shard, whatever its share", () => {
  const full = { self: "a", others: ["b"], shardCount: 4, heldCount: 2 };
  const since = (freeMs: number) => [{ shard: 3, meantFor: "b", freeMs }];
  expect(shardsToTake({ ...full, free: since(1_999) })).toEqual([]);
  expect(shardsToTake({ ...full, free: since(2_000) })).toEqual([3]);
});

test("shardsToTake: a shard that is meant for a node is left to it, and taken by it beyond its share", () => {
  const meant = (meantFor: string) => [{ shard: 0, meantFor, freeMs: 0 }, ...free(1)];
  const two = { others: ["b"], shardCount: 4, heldCount: 0 };
  expect(shardsToTake({ ...two, self: "a", free: meant("b") })).toEqual([1]);
  expect(shardsToTake({ ...two, self: "a", free: meant("gone") })).toEqual([0, 1]);
  expect(shardsToTake({ ...two, self: "a", heldCount: 2, free: meant("a") })).toEqual([0]);
  expect(shardsToTake({ ...two, self: "a", heldCount: 1, free: meant("a") })).toEqual([0]);
});

test("shardToHandOver: to the node with the fewest, if it has at least two fewer", () => {
  const offer = (held: readonly number[], ...owners: readonly string[]) =>
    shardToHandOver({
      ...{ self: "a", others: ["b", "c"], known: ["b", "c"] },
      ...{ held, free: [], shards: rows(...owners) },
    });
  expect(offer([0, 1, 2], "a", "a", "a", "b", "c")).toEqual({ shard: 2, to: "b" });
  expect(offer([0, 1, 2], "a", "a", "a", "b")).toEqual({ shard: 2, to: "c" });
  expect(offer([0, 1], "a", "a", "b", "c")).toBe(null);
  expect(offer([], "b", "b", "b")).toBe(null);
});

test("shardToHandOver: not to a node that was hardly seen", () => {
  const all = { self: "a", others: ["b"], held: [0, 1], free: [], shards: rows("a", "a") };
  expect(shardToHandOver({ ...all, known: ["b"] })).toEqual({ shard: 1, to: "b" });
  expect(shardToHandOver({ ...all, known: [] })).toBe(null);
});

test("shardToHandOver: of several nodes with the most shards, one hands over", () => {
  const shards = rows("a", "a", "b", "b");
  const offer = (self: string, held: readonly number[], others: readonly string[]) =>
    shardToHandOver({ ...{ self, others, known: ["c"], held, free: [], shards } });
  expect(offer("a", [0, 1], ["b", "c"])).toEqual({ shard: 1, to: "c" });
  expect(offer("b", [2, 3], ["a", "c"])).toBe(null);
  // The other node has left, or drains.
  expect(offer("b", [2, 3], ["c"])).toEqual({ shard: 3, to: "c" });
});

test("shardToHandOver: not while the other may take a free shard, yet not for ever", () => {
  const all = { self: "a", others: ["b"], known: ["b"], held: [0, 1, 2] };
  const offer = (freeMs: number) =>
    shardToHandOver({
      ...{ ...all, shards: rows("a", "a", "a", ">c") },
      free: [{ shard: 3, meantFor: "c", freeMs }],
    });
  expect(offer(1_999)).toBe(null);
  expect(offer(2_000)).toEqual({ shard: 2, to: "b" });
});

test("leastLoaded: counts what a node has and what it is to take", () => {
  expect(leastLoaded(["b", "c"], rows("b", ">c", ">c"))).toBe("b");
  expect(leastLoaded(["b", "c"], rows("b"))).toBe("c");
  expect(leastLoaded([], rows("b"))).toBe(null);
});

test("takersAmong: a request to drain has no effect while no other node could take shards", () => {
  const node = { isLive: true, isDraining: false, isDrainRequested: false };
  const a = { ...node, url: "a" };
  const b = { ...node, url: "b", isDrainRequested: true };
  const c = { ...node, url: "c", isDraining: true };
  expect(takersAmong([a, b, c])).toEqual(["a"]);
  expect(takersAmong([{ ...a, isLive: false }, b, c])).toEqual(["b"]);
  expect(takersAmong([{ ...a, isDrainRequested: true }, b, c])).toEqual(["a", "b"]);
  expect(takersAmong([c])).toEqual([]);
});
