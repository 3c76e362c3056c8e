import { expect, test } from "bun:test";
import { Host } from "../../engine/simulation/host.ts";
import { VirtualClock } from "../../engine/simulation/virtual-clock.ts";
import type { NodeTable } from "../../stores/nodes.ts";
import { silentLog } from "../testing/memory-engine.ts";
import { Membership } from "./membership.ts";

const nothing = (): void => undefined;

test("a node that stood still while it took over goes by the time that the next look tells", async () => {
  const world = new VirtualClock(0);
  const owned: number[] = [];
  let epoch = 0;
  const nodes: NodeTable = {
    look: async () => ({
      owner: epoch === 0 ? null : { url: "http://a", epoch, isLapsed: false },
      ...{ epoch, isContested: false, nodes: [], now: world.now() },
    }),
    takeOver: async () => {
      // As SIGSTOP does.
      if (epoch === 0) world.raise(60_000);
      epoch += 1;
      return epoch;
    },
    giveUp: async () => undefined,
    leave: async () => undefined,
    close: async () => undefined,
  };
  const membership = new Membership({
    self: { url: "http://a", key: "", version: "", isDraining: false },
    ...{ leaseMs: 5_000, clock: new Host(world, 0).clock, log: silentLog },
    openNodes: async () => nodes,
    own: async (_, now) => void owned.push(now),
    lose: nothing,
  });
  await membership.join();
  expect(owned).toEqual([]);
  await world.advance(1_000);
  expect(owned).toEqual([60_500]);
});
