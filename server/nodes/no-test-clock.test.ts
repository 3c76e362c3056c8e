// A node refuses operations that need all shards in one server.

import { expect, test } from "bun:test";
import { ShardEngine } from "../../engine/engine.ts";
import { noTestClock } from "../../engine/model/errors.ts";
import { SimulatedDatabase } from "../../engine/simulation/database.ts";
import { Host } from "../../engine/simulation/host.ts";
import { seededRandom } from "../../engine/simulation/seeded-random.ts";
import { VirtualClock } from "../../engine/simulation/virtual-clock.ts";
import { silentLog } from "../testing/memory-engine.ts";
import { Node } from "./node.ts";

test("advance: a node refuses it like a server without a test clock", async () => {
  const clock = new VirtualClock(1_000_000);
  const host = new Host(clock, 0);
  const leaseMs = 5_000;
  const database = new SimulatedDatabase({
    ...{ clock, random: seededRandom(1), shards: [0], leaseMs, committed: () => undefined },
  });
  const node = new Node({
    ...{ url: "http://a", version: "", leaseMs, shardCount: 1, log: silentLog },
    openNodes: [() => database.openNodes(host)],
    clock: host.clock,
    connect: () => {
      throw new Error("there is no other node");
    },
    statusElsewhere: { now: 0, durability: "full", waitingLeases: 0, shards: [], queues: [] },
    createEngine: ({ ownership, now, ...shardOptions }) =>
      new ShardEngine<string>({
        ...{ ...shardOptions, shardCount: 1, clock: host.clockFrom(now), durability: "full" },
        renderLeased: () => "",
        openStore: (shard) =>
          database.openStore(host, shard, { ownership, acknowledged: new Map() }),
      }),
  });
  void node.join();
  await clock.advance(2 * leaseMs);
  expect(node.isTrusted(0)).toBe(true);
  const { reason } = noTestClock;
  await expect(node.engines[0].advance(1_000)).rejects.toMatchObject({ reason });
});
