// A shard that one of two nodes cannot open, for instance because the database refuses that node's
// connections.

import { expect, test } from "bun:test";
import { SimulatedDatabase } from "../../engine/simulation/database.ts";
import { Host } from "../../engine/simulation/host.ts";
import { seededRandom } from "../../engine/simulation/seeded-random.ts";
import { VirtualClock } from "../../engine/simulation/virtual-clock.ts";
import { silentLog } from "../testing/memory-engine.ts";
import { Membership } from "./membership.ts";

test.each([5_000, 20_000, 40_000, 60_000])(
  "a shard that one node cannot open is eventually owned by the other, with an ownership lease of %i ms",
  async (leaseMs) => {
    const clock = new VirtualClock(1_000_000);
    const shards = [0, 1, 2];
    const database = new SimulatedDatabase({
      ...{ clock, random: seededRandom(1), shards, leaseMs },
      committed: () => undefined,
    });
    const start = (name: string, open: (shard: number) => Promise<void>): Membership => {
      const host = new Host(clock, 0);
      const membership = new Membership({
        self: { url: `http://${name}`, key: name, version: "", isDraining: false },
        ...{ shards, leaseMs, clock: host.clock, log: silentLog, open },
        openNodes: () => database.openNodes(host),
        abandon: () => undefined,
        close: async () => undefined,
      });
      void membership.join();
      return membership;
    };
    const a = start("a", async () => undefined);
    await clock.advance(700);
    const b = start("b", async (shard) => {
      if (shard === 2) throw new Error("too many connections");
    });
    await clock.advance(10 * leaseMs);
    let served = 0;
    for (let step = 0; step < 1_000; step += 1) {
      await clock.advance(600);
      if ([...a.openShards, ...b.openShards].includes(2)) served += 1;
    }
    // The shard may be without an owner for a few seconds of each minute.
    expect(served).toBeGreaterThan(500);
  },
  60_000,
);
