import { expect, test } from "bun:test";
import { after } from "../../engine/model/clock.ts";
import { Host } from "../../engine/simulation/host.ts";
import { VirtualClock } from "../../engine/simulation/virtual-clock.ts";
import type { ClusterView, NodeTable, ShardRow } from "../../stores/nodes.ts";
import { StoreError } from "../../stores/store.ts";
import { silentLog } from "../testing/memory-engine.ts";
import { Membership } from "./membership.ts";

const nothing = (): void => undefined;
/** Options for a cluster with one shard. */
const oneShard = { shards: [0], abandon: nothing, close: async () => undefined };

type Owner = Pick<ShardRow, "url" | "epoch" | "isLapsed">;

function rowOf(owner: Owner | null, leaseUntil: number): ShardRow {
  const { url = null, epoch = 0, isLapsed = false } = owner ?? {};
  return { ...{ shard: 0, reservedFor: null, takenAt: null }, url, epoch, leaseUntil, isLapsed };
}

test("takeover: a process that was suspended during it opens the shard by the time of the next poll", async () => {
  const world = new VirtualClock(0);
  const owned: number[] = [];
  let epoch = 0;
  const nodes: NodeTable = {
    heartbeat: async () => ({
      shards: [
        rowOf(epoch === 0 ? null : { url: "http://a", epoch, isLapsed: false }, world.now()),
      ],
      ...{ isContested: false, nodes: [], now: world.now() },
    }),
    takeOver: async () => {
      // Time passes without events, as with SIGSTOP.
      if (epoch === 0) world.advanceTo(60_000);
      epoch += 1;
      return epoch;
    },
    release: async () => undefined,
    requestDrain: async () => true,
    leave: async () => undefined,
    close: async () => undefined,
  };
  const membership = new Membership({
    self: { url: "http://a", key: "", version: "", isDraining: false },
    ...{ leaseMs: 5_000, clock: new Host(world, 0).clock, log: silentLog, ...oneShard },
    openNodes: async () => nodes,
    open: async (_, __, now) => void owned.push(now),
  });
  await membership.join();
  expect(owned).toEqual([]);
  await world.advance(1_000);
  expect(owned).toEqual([60_500]);
});

test("takeover: a process that was suspended before it read the poll's answer waits for the next poll", async () => {
  const world = new VirtualClock(0);
  const host = new Host(world, 0);
  let owner: Owner | null = null;
  const told = { polls: 0, takeovers: 0, behindMs: [] as number[] };
  const url = "http://a";
  const answered = <T>(value: T) => new Promise<T>((done) => host.deliver(() => done(value)));
  const nodes: NodeTable = {
    heartbeat: () => {
      told.polls += 1;
      const shards = [rowOf(owner, world.now())];
      return answered({ shards, isContested: false, nodes: [], now: world.now() });
    },
    takeOver: () => {
      told.takeovers += 1;
      owner = { url, epoch: (owner?.epoch ?? 0) + 1, isLapsed: false };
      return answered(owner.epoch);
    },
    release: async () => undefined,
    requestDrain: async () => true,
    leave: async () => undefined,
    close: async () => undefined,
  };
  const membership = new Membership({
    self: { url, key: "", version: "", isDraining: false },
    ...{ leaseMs: 5_000, clock: host.clock, log: silentLog, ...oneShard },
    openNodes: async () => nodes,
    open: async (_, __, now) => void told.behindMs.push(world.now() - now),
  });
  host.stop();
  void membership.join();
  await world.advance(4_000);
  host.goOn();
  await world.settle();
  expect(told).toEqual({ polls: 1, takeovers: 0, behindMs: [] });
  await world.advance(1_000);
  expect(told).toMatchObject({ takeovers: 1, behindMs: [0] });
  expect(membership.isTrusted(0)).toBe(true);
});

test("an owner whose machine slept reopens its shards, by the database's time", async () => {
  const world = new VirtualClock(0);
  const owned: number[] = [];
  let epoch = 0;
  let lost = 0;
  // How far the database is ahead of a clock that stops while its machine sleeps.
  let sleptMs = 0;
  const url = "http://a";
  const nodes: NodeTable = {
    heartbeat: async () => ({
      shards: [rowOf(epoch === 0 ? null : { url, epoch, isLapsed: false }, world.now())],
      ...{ isContested: false, nodes: [] },
      now: 1_000_000 + world.now() + sleptMs,
    }),
    takeOver: async () => {
      epoch += 1;
      return epoch;
    },
    release: async () => undefined,
    requestDrain: async () => true,
    leave: async () => undefined,
    close: async () => undefined,
  };
  const membership = new Membership({
    self: { url, key: "", version: "", isDraining: false },
    ...{ leaseMs: 5_000, clock: new Host(world, 0).clock, log: silentLog, ...oneShard },
    openNodes: async () => nodes,
    open: async (_, __, now) => void owned.push(now),
    abandon: () => {
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
  const { free, lapsed, own } = membership.takeovers;
  expect([free.count, lapsed.count, own.count]).toEqual([1, 0, 1]);
});

test("takeover: its duration includes the opening", async () => {
  const { world, membership } = slowNode({ leaseMs: 5_000, pollMs: 1_500, openShardMs: 4_000 });
  void membership.poll();
  await world.advance(30_000);
  const { count, seconds } = membership.takeovers.free;
  expect({ count, seconds: seconds.sum }).toEqual({ count: 1, seconds: 5.5 });
});

/** A node that polls while another one owns the shard; the database's clock is an hour behind. */
function nonOwner() {
  const world = new VirtualClock(0);
  const { clock } = new Host(world, 0);
  const row = {
    url: "http://b",
    epoch: 1,
    leaseUntil: 3_600_000,
    isUnreachable: false,
    seenAt: 3_600_000,
  };
  const asked: (number | null)[] = [];
  const nodes: NodeTable = {
    heartbeat: async () => {
      if (row.isUnreachable) throw new StoreError("failed", "the database is gone");
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
    takeOver: async ({ url }, _, lapsed) => {
      asked.push(lapsed);
      if (lapsed !== row.leaseUntil) return null;
      Object.assign(row, { url, epoch: row.epoch + 1 });
      return row.epoch;
    },
    release: async () => undefined,
    requestDrain: async () => true,
    leave: async () => undefined,
    close: async () => undefined,
  };
  const membership = new Membership({
    self: { url: "http://a", key: "", version: "", isDraining: false },
    ...{ leaseMs: 5_000, clock, log: silentLog, ...oneShard },
    openNodes: async () => nodes,
    open: async () => undefined,
  });
  return { world, membership, row, asked };
}

test("an owner that has not renewed for a lease has lapsed, whatever the database's clock says", async () => {
  const { world, membership, row, asked } = nonOwner();
  await membership.join();
  await world.advance(4_900);
  expect(membership.unserved).toBe(null);
  expect(asked).toEqual([]);
  await world.advance(1_000);
  expect(asked).toEqual([3_600_000]);
  expect(row).toMatchObject({ url: "http://a", epoch: 2 });
  expect(membership.isTrusted(0)).toBe(true);
  expect(membership.takeovers.lapsed.count).toBe(1);
});

test("a node without a heartbeat for a lease is not live, whatever the database's clock says", async () => {
  const { world, membership, row } = nonOwner();
  const isLive = () => membership.view.nodes.map((node) => node.isLive);
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

test("an owner that renews its lease keeps it, even if the database's clock runs backwards", async () => {
  const { world, membership, row, asked } = nonOwner();
  await membership.join();
  for (let count = 0; count < 20; count += 1) {
    row.leaseUntil -= 10;
    await world.advance(4_000);
  }
  expect(asked).toEqual([]);
});

test("an owner has a whole lease to renew once the database is reachable, even if its clock is behind", async () => {
  const { world, membership, row, asked } = nonOwner();
  await membership.join();
  row.isUnreachable = true;
  await world.advance(60_000);
  row.isUnreachable = false;
  await world.advance(4_000);
  expect(asked).toEqual([]);
  await world.advance(2_000);
  expect(asked).toEqual([3_600_000]);
});

interface Slow {
  readonly leaseMs: number;
  readonly openMs?: number;
  readonly pollMs?: number;
  readonly openShardMs?: number;
}

/** A node with a slow database. */
function slowNode({ leaseMs, openMs = 0, pollMs = 0, openShardMs = 0 }: Slow) {
  const world = new VirtualClock(0);
  const { clock } = new Host(world, 0);
  const later = (ms: number): Promise<void> => new Promise((done) => void after(clock, ms, done));
  const told = { openings: 0, owned: [] as number[], closed: 0 };
  let owner: Owner | null = null;
  const url = "http://a";
  const nodes: NodeTable = {
    heartbeat: async () => {
      const seen: ClusterView = {
        ...{ shards: [rowOf(owner, world.now())], isContested: false, nodes: [] },
        now: world.now(),
      };
      await later(pollMs);
      return seen;
    },
    takeOver: async () => {
      await later(pollMs);
      owner = { url, epoch: (owner?.epoch ?? 0) + 1, isLapsed: false };
      return owner.epoch;
    },
    release: async () => undefined,
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
    open: async (_, __, now) => {
      told.owned.push(world.now() - now);
      await later(openShardMs);
    },
  });
  return { world, membership, told };
}

test("a connection that takes longer than a poll is awaited by the next polls", async () => {
  const { world, membership, told } = slowNode({ leaseMs: 5_000, openMs: 30_000 });
  const polled = membership.poll();
  await world.advance(29_000);
  await polled;
  expect(membership.unserved?.why).toBe("the database does not answer");
  await world.advance(10_000);
  expect(membership.isTrusted(0)).toBe(true);
  expect(told).toEqual({ openings: 1, owned: [0], closed: 0 });
});

test("leave: a connection that is still being opened is closed", async () => {
  const { world, membership, told } = slowNode({ leaseMs: 5_000, openMs: 30_000 });
  void membership.poll();
  void membership.leave();
  await world.advance(40_000);
  expect(told).toEqual({ openings: 1, owned: [], closed: 1 });
});

test("the longer the lease, the longer the database may take to answer a poll", async () => {
  const slow = slowNode({ leaseMs: 60_000, pollMs: 3_000 });
  void slow.membership.poll();
  await slow.world.advance(200_000);
  expect(slow.membership.isTrusted(0)).toBe(true);
  // The time lags the database's by the duration of the answer.
  expect(slow.told).toEqual({ openings: 1, owned: [3_000], closed: 0 });

  const tooSlow = slowNode({ leaseMs: 5_000, pollMs: 3_000 });
  void tooSlow.membership.poll();
  await tooSlow.world.advance(200_000);
  expect(tooSlow.membership.isTrusted(0)).toBe(false);
  expect(tooSlow.told.owned).toEqual([]);
});

test("discover: a process that was restarted replaces the former one", async () => {
  const { world, membership, row } = nonOwner();
  const node = {
    ...{ url: "http://b", version: "", startedAt: 0, seenAt: 0 },
    ...{ isDraining: false, isDrainRequested: false },
  };
  const keys = () => membership.others(0).map(({ key }) => key);
  await membership.join();
  membership.discover({ ...node, key: "another", isLive: true });
  // While the last poll is recent, reports of other nodes are ignored.
  expect(keys()).toEqual([""]);
  row.isUnreachable = true;
  await world.advance(5_000);
  membership.discover({ ...node, key: "present", isLive: true });
  expect(keys()).toEqual(["present"]);
});

/** A node `a` with two shards and slow polls, and a live node `b` without shards. */
function slowPolls(closeMs: number) {
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
    heartbeat: async ({ isDraining }) => {
      asked.push(isDraining ? "heartbeat, draining" : "heartbeat");
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
    release: async (_, { shard }, reservedFor) => {
      asked.push(`release ${shard}`);
      set(shard, { url: null, reservedFor });
    },
    requestDrain: async () => true,
    leave: async () => undefined,
    close: async () => undefined,
  };
  const membership = new Membership({
    self: { url: "http://a", key: "a", version: "", isDraining: false },
    ...{ leaseMs: 5_000, clock, log: silentLog, shards: [0, 1] },
    ...{ openNodes: async () => nodes, open: async () => undefined, abandon: nothing },
    close: () => later(closeMs),
  });
  set(0, { url: "http://a" });
  set(1, { url: "http://a" });
  return { world, membership, asked };
}

test("a shard that was just handed over is not taken back after a poll that was sent before", async () => {
  const { world, membership, asked } = slowPolls(600);
  void membership.poll();
  while (!asked.includes("release 1")) await world.advance(10);
  // A poll in flight returns the row from before.
  expect(asked.at(-2)).toBe("heartbeat");
  await world.advance(1_500);
  expect(asked.filter((text) => text === "take over 1").length).toBe(1);
});

test("drain: a poll announces it before the first shard is released", async () => {
  const { world, membership, asked } = slowPolls(100);
  const joined = membership.poll();
  await world.advance(1_000);
  await joined;
  void membership.poll();
  void membership.drain();
  await world.advance(10_000);
  const first = asked.findIndex((text) => text.startsWith("release"));
  expect(asked.slice(0, first)).toContain("heartbeat, draining");
  expect(asked.slice(first).filter((text) => text.startsWith("release"))).toEqual([
    "release 0",
    "release 1",
  ]);
});
