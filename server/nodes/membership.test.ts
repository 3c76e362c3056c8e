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

test("an owner whose machine slept opens the shards anew, by the database's time", async () => {
  const world = new VirtualClock(0);
  const owned: number[] = [];
  let epoch = 0;
  let lost = 0;
  // By how much the database is ahead of a clock that stands still while its machine sleeps.
  let sleptMs = 0;
  const url = "http://a";
  const nodes: NodeTable = {
    look: async () => ({
      owner: epoch === 0 ? null : { url, epoch, isLapsed: false },
      ...{ epoch, isContested: false, nodes: [], now: 1_000_000 + world.now() + sleptMs },
    }),
    takeOver: async () => {
      epoch += 1;
      return epoch;
    },
    giveUp: async () => undefined,
    leave: async () => undefined,
    close: async () => undefined,
  };
  const membership = new Membership({
    self: { url, key: "", version: "", isDraining: false },
    ...{ leaseMs: 5_000, clock: new Host(world, 0).clock, log: silentLog },
    openNodes: async () => nodes,
    own: async (_, now) => void owned.push(now),
    lose: () => {
      lost += 1;
    },
  });
  await membership.join();
  await world.advance(10_000);
  // Clocks differ a little, and drift.
  sleptMs = 900;
  await world.advance(10_000);
  sleptMs = 1_800;
  await world.advance(10_000);
  expect({ owned, lost }).toEqual({ owned: [1_000_000], lost: 0 });
  sleptMs += 4_000;
  await world.advance(10_000);
  expect({ owned, lost }).toEqual({ owned: [1_000_000, 1_036_300], lost: 1 });
  expect(membership.isTrusted).toBe(true);
});
