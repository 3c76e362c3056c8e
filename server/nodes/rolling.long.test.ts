// Nodes are restarted one after the other while clients use all of them.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { Cluster, queueOf, settings } from "../../testing/cluster.ts";
import { underLoad, unexpected } from "./testing/load.ts";

const cluster = new Cluster();

beforeAll(() => cluster.startDatabase());
// Replaces the nodes that an earlier test ended.
beforeEach(async () => {
  while (cluster.nodes.length < 3) await cluster.start();
});
afterAll(() => cluster.end());

test("rolling restart: nothing is lost, and every error says whether the call took effect", async () => {
  const { faults, answers } = await underLoad(cluster, async (progress) => {
    for (const node of cluster.nodes) {
      expect(await node.stop()).toBe(0);
      await progress(50);
      await cluster.start({ port: node.port });
      await progress(50);
    }
  });
  expect(faults).toEqual([]);
  // 0: the connection was closed before the call; 503: try another node; 504: the node ended before
  // it received the outcome, which the call's key reveals at the next try.
  const expected = [0, 200, 453, 454, 503, 504];
  expect(unexpected(answers, expected)).toEqual([]);
});

test("two nodes are shut down at once, and then the last", async () => {
  const [last, ...others] = cluster.nodes;
  if (last === undefined) throw new Error("no node is left");
  // A queue of its own, with no items of other tests.
  await queueOf(last, "last").ensure(settings);
  expect(await Promise.all(others.map((node) => node.stop()))).toEqual([0, 0]);
  await queueOf(last, "last").produce("alone");
  expect(await last.stop()).toBe(0);
});
