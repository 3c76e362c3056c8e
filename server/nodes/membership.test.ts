import { expect, test } from "bun:test";
import { after } from "../../engine/model/clock.ts";
import { Host } from "../../engine/simulation/host.ts";
import { VirtualClock } from "../../engine/simulation/virtual-clock.ts";
import type { NodesSeen, NodeTable, Owner, ShardRow } from "../../stores/nodes.ts";
import { StoreError } from "../../stores/store.ts";
import { silentLog } from "../testing/memory-engine.ts";
import { Membership } from "./membership.ts";

const nothing = (): void => undefined;
/** Options for a cluster with one shard. */
const oneShard = { shards: [0], lose: nothing, close: async () => undefined };

function rowOf(owner: Owner | null, leaseUntil: number): ShardRow {
  const { url = null, epoch = 0, isLapsed = false } = owner ?? {};
  return { ...{ shard: 0, meantFor: null, takenAt: null }, url, epoch, leaseUntil, isLapsed };
}

test("a node that stood still while it took over goes by the time that the next look tells", async () => {
  const world = new VirtualClock(0);
  const owned: number[] = [];
  let epoch = 0;
  const nodes: NodeTable = {
    look: async () => ({
      shards: [
        rowOf(epoch === 0 ? null : { url: "http://a", epoch, isLapsed: false }, world.now()),
      ],
      ...{ isContested: false, nodes: [], now: world.now() },
    }),
    takeOver: async () => {
      // Time passes without events, as with SIGSTOP.
      if (epoch === 0) world.raise(60_000);
      epoch += 1;
      return epoch;
    },
    giveUp: async () => undefined,
    requestDrain: async () => true,
    leave: async () => undefined,
    close: async () => undefined,
  };
  const membership = new Membership({
    self: { url: "http://a", key: "", version: "", isDraining: false },
    ...{ leaseMs: 5_000, clock: new Host(world, 0).clock, log: silentLog, ...oneShard },
    openNodes: async () => nodes,
    own: async (_, __, now) => void owned.push(now),
  });
  await membership.join();
  expect(owned).toEqual([]);
  await world.advance(1_000);
  expect(owned).toEqual([60_500]);
});

test("a node that was stopped before it heard what a look showed goes by the time that the next look tells", async () => {
  const world = new VirtualClock(0);
  const host = new Host(world, 0);
  let owner: Owner | null = null;
  const told = { looks: 0, asked: 0, behindMs: [] as number[] };
  const url = "http://a";
  const heard = <T>(value: T) => new Promise<T>((done) => host.deliver(() => done(value)));
  const nodes: NodeTable = {
    look: () => {
      told.looks += 1;
      const shards = [rowOf(owner, world.now())];
      return heard({ shards, isContested: false, nodes: [], now: world.now() });
    },
    takeOver: () => {
      told.asked += 1;
      owner = { url, epoch: (owner?.epoch ?? 0) + 1, isLapsed: false };
      return heard(owner.epoch);
    },
    giveUp: async () => undefined,
    requestDrain: async () => true,
    leave: async () => undefined,
    close: async () => undefined,
  };
  const membership = new Membership({
    self: { url, key: "", version: "", isDraining: false },
    ...{ leaseMs: 5_000, clock: host.clock, log: silentLog, ...oneShard },
    openNodes: async () => nodes,
    own: async (_, __, now) => void told.behindMs.push(world.now() - now),
  });
  host.stop();
  void membership.join();
  await world.advance(4_000);
  host.goOn();
  await world.settle();
  expect(told).toEqual({ looks: 1, asked: 0, behindMs: [] });
  await world.advance(1_000);
  expect(told).toMatchObject({ asked: 1, behindMs: [0] });
  expect(membership.isTrusted(0)).toBe(true);
});

test("an owner whose machine slept opens the shards anew, by the database's time", async () => {
  const world = new VirtualClock(0);
  const owned: number[] = [];
  let epoch = 0;
  let lost = 0;
  // How far the database is ahead of a clock that stops while its machine sleeps.
  let sleptMs = 0;
  const url = "http://a";
  const nodes: NodeTable = {
    look: async () => ({
      shards: [rowOf(epoch === 0 ? null : { url, epoch, isLapsed: false }, world.now())],
      ...{ isContested: false, nodes: [] },
      now: 1_000_000 + world.now() + sleptMs,
    }),
    takeOver: async () => {
      epoch += 1;
      return epoch;
    },
    giveUp: async () => undefined,
    requestDrain: async () => true,
    leave: async () => undefined,
    close: async () => undefined,
  };
  const membership = new Membership({
    self: { url, key: "", version: "", isDraining: false },
    ...{ leaseMs: 5_000, clock: new Host(world, 0).clock, log: silentLog, ...oneShard },
    openNodes: async () => nodes,
    own: async (_, __, now) => void owned.push(now),
    lose: () => {
      lost += 1;
    },
  });
  await membership.join();
  await world.advance(10_000);
  // Small differences and drift are tolerated.
  sleptMs = 900;
  await world.advance(10_000);
  sleptMs = 1_800;
  await world.advance(10_000);
  expect({ owned, lost }).toEqual({ owned: [1_000_000], lost: 0 });
  sleptMs += 4_000;
  await world.advance(10_000);
  expect({ owned, lost }).toEqual({ owned: [1_000_000, 1_036_300], lost: 1 });
  expect(membership.isTrusted(0)).toBe(true);
  expect(membership.takeovers.map(({ reason, count }) => [reason, count])).toEqual([
    ["free", 1],
    ["lapsed", 0],
    ["own", 1],
  ]);
});

test("a takeover took as long as the shards needed to be open", async () => {
  const { world, membership } = slowNode({ leaseMs: 5_000, lookMs: 1_500, ownMs: 4_000 });
  void membership.look();
  await world.advance(30_000);
  const [{ count, seconds } = { count: 0, seconds: null }] = membership.takeovers;
  expect({ count, seconds: seconds?.sum }).toEqual({ count: 1, seconds: 5.5 });
});

/** A node that only looks while another one owns the shard; the database is an hour behind. */
function onlooker() {
  const world = new VirtualClock(0);
  const { clock } = new Host(world, 0);
  const row = {
    url: "http://b",
    epoch: 1,
    leaseUntil: 3_600_000,
    isAway: false,
    seenAt: 3_600_000,
  };
  const asked: (number | null)[] = [];
  const nodes: NodeTable = {
    look: async () => {
      if (row.isAway) throw new StoreError("failed", "the database is gone");
      const { url, epoch, leaseUntil, seenAt } = row;
      const now = world.now();
      const node = { url: "http://b", key: "", version: "", startedAt: 0, isDraining: false };
      const isDrainRequested = false;
      return {
        shards: [rowOf({ url, epoch, isLapsed: leaseUntil < now }, leaseUntil)],
        ...{ isContested: false, now },
        nodes: [{ ...node, isDrainRequested, seenAt, isLive: seenAt > now - 5_000 }],
      };
    },
    takeOver: async ({ url }, _, unrenewed) => {
      asked.push(unrenewed);
      if (unrenewed !== row.leaseUntil) return null;
      Object.assign(row, { url, epoch: row.epoch + 1 });
      return row.epoch;
    },
    giveUp: async () => undefined,
    requestDrain: async () => true,
    leave: async () => undefined,
    close: async () => undefined,
  };
  const membership = new Membership({
    self: { url: "http://a", key: "", version: "", isDraining: false },
    ...{ leaseMs: 5_000, clock, log: silentLog, ...oneShard },
    openNodes: async () => nodes,
    own: async () => undefined,
  });
  return { world, membership, row, asked };
}

test("an owner that has renewed nothing for a lease is silent, whatever the database's clock says", async () => {
  const { world, membership, row, asked } = onlooker();
  await membership.join();
  await world.advance(4_900);
  expect(membership.unserved).toBe(null);
  expect(asked).toEqual([]);
  await world.advance(1_000);
  expect(asked).toEqual([3_600_000]);
  expect(row).toMatchObject({ url: "http://a", epoch: 2 });
  expect(membership.isTrusted(0)).toBe(true);
  expect(membership.takeovers.find(({ reason }) => reason === "lapsed")?.count).toBe(1);
});

test("a node that has given no sign of life for a lease is gone, whatever the database's clock says", async () => {
  const { world, membership, row } = onlooker();
  const isLive = () => membership.seen.nodes.map((node) => node.isLive);
  await membership.join();
  for (let count = 0; count < 5; count += 1) {
    await world.advance(4_000);
    expect([isLive(), membership.others(0).length]).toEqual([[true], 1]);
    row.seenAt -= 10;
  }
  await world.advance(6_100);
  expect([isLive(), membership.others(0).length]).toEqual([[false], 0]);
  row.seenAt += 1;
  await world.advance(600);
  expect(isLive()).toEqual([true]);
});

test("an owner that renews its lease keeps it, also by a clock that runs backwards", async () => {
  const { world, membership, row, asked } = onlooker();
  await membership.join();
  for (let count = 0; count < 20; count += 1) {
    row.leaseUntil -= 10;
    await world.advance(4_000);
  }
  expect(asked).toEqual([]);
});

test("an owner has a lease to renew once the database is back, whose clock may be behind", async () => {
  const { world, membership, row, asked } = onlooker();
  await membership.join();
  row.isAway = true;
  await world.advance(60_000);
  row.isAway = false;
  await world.advance(4_000);
  expect(asked).toEqual([]);
  await world.advance(2_000);
  expect(asked).toEqual([3_600_000]);
});

interface Slow {
  readonly leaseMs: number;
  readonly openMs?: number;
  readonly lookMs?: number;
  readonly ownMs?: number;
}

/** A node with a slow database, and the requests to that. */
function slowNode({ leaseMs, openMs = 0, lookMs = 0, ownMs = 0 }: Slow) {
  const world = new VirtualClock(0);
  const { clock } = new Host(world, 0);
  const later = (ms: number): Promise<void> => new Promise((done) => void after(clock, ms, done));
  const told = { openings: 0, owned: [] as number[], closed: 0 };
  let owner: Owner | null = null;
  const url = "http://a";
  const nodes: NodeTable = {
    look: async () => {
      const seen: NodesSeen = {
        ...{ shards: [rowOf(owner, world.now())], isContested: false, nodes: [] },
        now: world.now(),
      };
      await later(lookMs);
      return seen;
    },
    takeOver: async () => {
      await later(lookMs);
      owner = { url, epoch: (owner?.epoch ?? 0) + 1, isLapsed: false };
      return owner.epoch;
    },
    giveUp: async () => undefined,
    requestDrain: async () => true,
    leave: async () => undefined,
    close: async () => {
      told.closed += 1;
    },
  };
  const membership = new Membership({
    self: { url, key: "", version: "", isDraining: false },
    ...{ leaseMs, clock, log: silentLog, ...oneShard },
    openNodes: async () => {
      told.openings += 1;
      await later(openMs);
      return nodes;
    },
    own: async (_, __, now) => {
      told.owned.push(world.now() - now);
      await later(ownMs);
    },
  });
  return { world, membership, told };
}

test("an opening that takes longer than a look is waited for by the looks that follow", async () => {
  const { world, membership, told } = slowNode({ leaseMs: 5_000, openMs: 30_000 });
  const looked = membership.look();
  await world.advance(29_000);
  await looked;
  expect(membership.unserved?.why).toBe("the database does not answer");
  await world.advance(10_000);
  expect(membership.isTrusted(0)).toBe(true);
  expect(told).toEqual({ openings: 1, owned: [0], closed: 0 });
});

test("a node that leaves while its database is being opened keeps no connection", async () => {
  const { world, membership, told } = slowNode({ leaseMs: 5_000, openMs: 30_000 });
  void membership.look();
  void membership.leave();
  await world.advance(40_000);
  expect(told).toEqual({ openings: 1, owned: [], closed: 1 });
});

test("the longer the lease, the longer the database may take to answer a look", async () => {
  const slow = slowNode({ leaseMs: 60_000, lookMs: 3_000 });
  void slow.membership.look();
  await slow.world.advance(200_000);
  expect(slow.membership.isTrusted(0)).toBe(true);
  // The time lags the database's by the duration of the answer.
  expect(slow.told).toEqual({ openings: 1, owned: [3_000], closed: 0 });

  const silent = slowNode({ leaseMs: 5_000, lookMs: 3_000 });
  void silent.membership.look();
  await silent.world.advance(200_000);
  expect(silent.membership.isTrusted(0)).toBe(false);
  expect(silent.told.owned).toEqual([]);
});

test("hear: of a node that has started anew, the process that is there now takes the former one's place", async () => {
  const { world, membership, row } = onlooker();
  const node = {
    ...{ url: "http://b", version: "", startedAt: 0, seenAt: 0 },
    ...{ isDraining: false, isDrainRequested: false },
  };
  const keys = () => membership.others(0).map(({ key }) => key);
  await membership.join();
  membership.hear({ ...node, key: "another", isLive: true });
  // While the last look is recent, reports of other nodes are ignored.
  expect(keys()).toEqual([""]);
  row.isAway = true;
  await world.advance(5_000);
  membership.hear({ ...node, key: "present", isLive: true });
  expect(keys()).toEqual(["present"]);
});

/** A node `a` with two shards and slow looks, and a live node `b` without shards. */
function slowLooks(closeMs: number) {
  const world = new VirtualClock(1_000);
  const { clock } = new Host(world, 0);
  const later = (ms: number): Promise<void> => new Promise((done) => void after(clock, ms, done));
  const rows = [rowOf(null, 0), { ...rowOf(null, 0), shard: 1 }];
  const asked: string[] = [];
  const node = {
    ...{ version: "", startedAt: 0, seenAt: 0, isLive: true },
    ...{ isDraining: false, isDrainRequested: false },
  };
  const set = (shard: number, change: Partial<ShardRow>): void => {
    const row = rows[shard];
    if (row !== undefined) rows[shard] = { ...row, ...change };
  };
  const nodes: NodeTable = {
    look: async ({ isDraining }) => {
      asked.push(isDraining ? "look, draining" : "look");
      const seenAt = world.now();
      const live = { ...node, url: "http://b", key: "b", seenAt };
      const seen = { shards: [...rows], isContested: false, nodes: [live], now: world.now() };
      await later(300);
      return seen;
    },
    takeOver: async ({ url }, shard) => {
      asked.push(`take over ${shard}`);
      const epoch = (rows[shard]?.epoch ?? 0) + 1;
      set(shard, { url, epoch });
      return epoch;
    },
    giveUp: async (_, { shard }, meantFor) => {
      asked.push(`give up ${shard}`);
      set(shard, { url: null, meantFor });
    },
    requestDrain: async () => true,
    leave: async () => undefined,
    close: async () => undefined,
  };
  const membership = new Membership({
    self: { url: "http://a", key: "a", version: "", isDraining: false },
    ...{ leaseMs: 5_000, clock, log: silentLog, shards: [0, 1] },
    ...{ openNodes: async () => nodes, own: async () => undefined, lose: nothing },
    close: () => later(closeMs),
  });
  set(0, { url: "http://a" });
  set(1, { url: "http://a" });
  return { world, membership, asked };
}

test("a shard that was just handed over is not taken back by a look that was sent before", async () => {
  const { world, membership, asked } = slowLooks(600);
  void membership.look();
  while (!asked.includes("give up 1")) await world.advance(10);
  // A look in flight returns the row from before.
  expect(asked.at(-2)).toBe("look");
  await world.advance(1_500);
  expect(asked.filter((text) => text === "take over 1").length).toBe(1);
});

test("drain: a look has said so before the first shard is given up", async () => {
  const { world, membership, asked } = slowLooks(100);
  const joined = membership.look();
  await world.advance(1_000);
  await joined;
  void membership.look();
  void membership.drain();
  await world.advance(10_000);
  const first = asked.findIndex((text) => text.startsWith("give up"));
  expect(asked.slice(0, first)).toContain("look, draining");
  expect(asked.slice(first).filter((text) => text.startsWith("give up"))).toEqual([
    "give up 0",
    "give up 1",
  ]);
});
