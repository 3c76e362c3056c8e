import { expect, test } from "bun:test";
import type { NodesListReply } from "../../../openapi/schemas.ts";
import { hostText, unownedText } from "./shards.ts";

const [first, second] = ["http://queue-1:9090", "http://queue-2:9090"] as const;

/** `owners`: of shard 0, 1 and so on; the second node is gone. */
function cluster(...owners: readonly string[]): NodesListReply {
  const at = "2026-03-01T12:00:00.000Z";
  const node = { version: "1.0.0", started_at: at, seen_at: at, draining: false, shards: [] };
  return {
    items: [
      { ...node, url: first, live: true },
      { ...node, url: second, live: false },
    ],
    shards: owners.map((owner, shard) => ({ shard, node: owner, epoch: 1, taken_at: at })),
  };
}

test("unownedText: free shards and shards without a live owner are named in one line", () => {
  expect(unownedText(cluster(first, first))).toBe(null);
  expect(unownedText(cluster(first, ""))).toBe(
    "Shard 1 has no live owner: its calls wait for one.",
  );
  expect(unownedText(cluster("", first, second))).toBe(
    "Shards 0, 2 have no live owner: their calls wait for one.",
  );
  expect(unownedText({ items: [], shards: [] })).toBe(null);
});

test("hostText: a node is named by host and port", () => {
  expect(["http://queue-1:9090", "https://10.0.0.7"].map(hostText)).toEqual([
    ...["queue-1:9090", "10.0.0.7"],
  ]);
});
