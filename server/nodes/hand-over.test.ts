// Several nodes on one simulated database: how they share its shards, and that no shard ever has
// two owners.

import { expect, test } from "bun:test";
import { after } from "../../engine/model/clock.ts";
import { SimulatedDatabase } from "../../engine/simulation/database.ts";
import { Host } from "../../engine/simulation/host.ts";
import { seededRandom } from "../../engine/simulation/seeded-random.ts";
import { VirtualClock } from "../../engine/simulation/virtual-clock.ts";
import type { Self } from "../../stores/nodes.ts";
import { silentLog } from "../testing/memory-engine.ts";
import { type DrainRequest, requestDrain } from "./drain-requests.ts";
import { Membership } from "./membership.ts";

const leaseMs = 5_000;

interface Member {
  readonly url: string;
  readonly key: string;
  readonly host: Host;
  readonly membership: Membership;
  /** The shards that the node has opened, and neither closed nor lost. */
  readonly open: Set<number>;
  /** The ownerships that the node was given. */
  readonly owned: { readonly shard: number; readonly epoch: number }[];
  readonly handedOver: { readonly shard: number; readonly to: string; readonly at: number }[];
  /** The shards that the node was asked to close, and those that it lost. */
  readonly closed: number[];
  readonly lost: number[];
  readonly logged: string[];
}

interface Start {
  readonly closeMs?: number;
  /** Runs while a shard is opened; it may also throw, or never resolve. */
  readonly opening?: (shard: number) => Promise<void>;
  readonly handedOver?: (shard: number, url: string) => void;
}

class World {
  readonly clock = new VirtualClock(1_000_000);
  readonly database: SimulatedDatabase;
  readonly members: Member[] = [];
  readonly shards: readonly number[];
  #processes = 0;

  constructor(shardCount: number) {
    this.shards = Array.from({ length: shardCount }, (_, shard) => shard);
    this.database = new SimulatedDatabase({
      ...{ clock: this.clock, random: seededRandom(1), shards: this.shards, leaseMs },
      committed: () => undefined,
    });
  }

  start(name: string, { closeMs = 100, opening, handedOver }: Start = {}): Member {
    const host = new Host(this.clock, 0);
    const url = `http://${name}`;
    const open = new Set<number>();
    const epochs = new Map<number, number>();
    const events: Pick<Member, "owned" | "handedOver" | "closed" | "lost" | "logged"> = {
      ...{ owned: [], handedOver: [], closed: [], lost: [], logged: [] },
    };
    this.#processes += 1;
    const key = `key ${this.#processes}`;
    const membership = new Membership({
      self: { url, key, version: "", isDraining: false },
      ...{ shards: this.shards, leaseMs, clock: host.clock },
      openNodes: () => this.database.openNodes(host),
      open: async (shard, epoch) => {
        events.owned.push({ shard, epoch });
        epochs.set(shard, epoch);
        await opening?.(shard);
        if (epochs.get(shard) === epoch) open.add(shard);
      },
      abandon: (shard) => {
        events.lost.push(shard);
        epochs.delete(shard);
        open.delete(shard);
      },
      close: async (shard) => {
        events.closed.push(shard);
        epochs.delete(shard);
        await new Promise<void>((done) => void after(host.clock, closeMs, done));
        open.delete(shard);
      },
      handedOver: (shard, node) => {
        events.handedOver.push({ shard, to: node.url, at: this.clock.now() });
        handedOver?.(shard, node.url);
      },
      log: { ...silentLog, warn: (event) => void events.logged.push(event) },
    });
    const member = { ...{ url, key, host, membership, open }, ...events };
    this.members.push(member);
    void membership.join();
    return member;
  }

  /** Ends the process at once. */
  kill(member: Member): void {
    if (!this.members.includes(member)) return;
    member.host.kill();
    this.database.killed(member.host);
    this.members.splice(this.members.indexOf(member), 1);
  }

  /** Advances the clock in steps, and checks after each that no shard is open at two nodes. */
  async advance(ms: number): Promise<void> {
    const stepMs = 20;
    for (const end = this.clock.now() + ms; this.clock.now() < end; ) {
      await this.clock.advance(Math.min(stepMs, end - this.clock.now()));
      for (const shard of this.shards) {
        const owners = this.members.filter(({ membership }) => membership.isTrusted(shard));
        if (owners.length > 1) throw new Error(`shard ${shard} has several owners`);
      }
    }
  }

  /** Sends the request to one member, for the node in the request. */
  async request({ membership }: Member, request: DrainRequest): Promise<string> {
    const asked = requestDrain([membership], request).then(
      ({ isDrainRequested }) => `draining: ${isDrainRequested}`,
      (error: Error) => error.message,
    );
    // The database answers only as the clock advances.
    await this.advance(100);
    return await asked;
  }

  /** Writes the request to the database, without its checks. */
  write({ url, key }: Member, isRequested: boolean): void {
    this.database.requestDrain({ url, key }, isRequested);
  }

  get counts(): number[] {
    return this.members.map(({ membership }) => membership.openShards.length);
  }

  /** The number of processes started. */
  get started(): number {
    return this.#processes;
  }

  /** The number of takeovers by all nodes, for any reason. */
  get takeovers(): number {
    return this.members
      .flatMap(({ membership }) => Object.values(membership.takeovers))
      .reduce((sum, { count }) => sum + count, 0);
  }

  /** A node that only sends heartbeats. */
  heartbeat(name: string): Self {
    const self = { url: `http://${name}`, key: name, version: "", isDraining: false };
    this.database.heartbeat(self, []);
    return self;
  }
}

const ratesOf = (moments: readonly number[]): number[] =>
  moments.slice(1).map((at, index) => at - (moments[index] ?? 0));

test("two nodes share out four shards, one hand-over after the other", async () => {
  const world = new World(4);
  const a = world.start("a");
  await world.advance(600);
  expect(world.counts).toEqual([4]);
  const b = world.start("b");
  await world.advance(10_000);
  expect(world.counts).toEqual([2, 2]);
  expect(a.handedOver.map(({ shard, to }) => [shard, to])).toEqual([
    [3, b.url],
    [2, b.url],
  ]);
  expect([...a.open, ...b.open].sort()).toEqual([0, 1, 2, 3]);
  expect([a.membership.handOvers.count, b.membership.handOvers.count]).toEqual([2, 0]);
  // After that, no shard moves.
  const { takeovers } = world;
  await world.advance(60_000);
  expect(world.takeovers).toBe(takeovers);
  expect([a.membership.unserved, b.membership.unserved]).toEqual([null, null]);
});

test("a third node gets its share by hand-over, at most one shard per second, and no shard has two owners", async () => {
  const world = new World(9);
  world.start("a");
  world.start("b");
  await world.advance(20_000);
  expect(world.counts.toSorted()).toEqual([4, 5]);
  const before = world.members.map(({ handedOver }) => handedOver.length);
  world.start("c");
  await world.advance(20_000);
  expect(world.counts).toEqual([3, 3, 3]);
  const moments = world.members
    .flatMap(({ handedOver }, index) => handedOver.slice(before[index]))
    .map(({ at }) => at)
    .toSorted();
  expect(moments.length).toBe(3);
  expect(Math.min(...ratesOf(moments))).toBeGreaterThanOrEqual(500);
  for (const { handedOver } of world.members) {
    for (const ms of ratesOf(handedOver.map(({ at }) => at))) expect(ms).toBeGreaterThan(900);
  }
});

test("a node that is notified of a hand-over takes the shard over at once", async () => {
  const world = new World(2);
  const told: Membership[] = [];
  const a = world.start("a", { handedOver: () => void told[0]?.poll() });
  await world.advance(600);
  const b = world.start("b");
  told.push(b.membership);
  while (a.handedOver.length === 0) await world.advance(20);
  await world.advance(20);
  expect([a.membership.openShards, b.membership.openShards]).toEqual([[0], [1]]);
});

test("a node hands over at most one shard per second, however soon the other takes them over", async () => {
  const world = new World(8);
  const told: Membership[] = [];
  const a = world.start("a", { handedOver: () => void told[0]?.poll() });
  await world.advance(600);
  told.push(world.start("b").membership);
  await world.advance(10_000);
  const moments = a.handedOver.map(({ at }) => at);
  expect(moments.length).toBe(4);
  expect(Math.min(...ratesOf(moments))).toBeGreaterThanOrEqual(1_000);
});

test("a shard that is lost while it is being closed is not handed over, and not taken over again before it is closed", async () => {
  const world = new World(2);
  const a = world.start("a", { closeMs: 20_000 });
  const b = world.heartbeat("b");
  await world.advance(1_100);
  world.heartbeat("b");
  await world.advance(1_000);
  expect([a.membership.openShards, a.closed, a.membership.isChanging(1)]).toEqual([[0], [1], true]);
  // As if `a` had not renewed its leases in time.
  const leaseUntil = world.database.heartbeat(b, []).shards[1]?.leaseUntil ?? null;
  const epoch = world.database.takeOver(b, 1, leaseUntil) ?? 0;
  expect(epoch).toBeGreaterThan(1);
  await world.advance(600);
  expect([a.lost, a.membership.isChanging(1)]).toEqual([[1], false]);
  world.database.release(b, { shard: 1, epoch }, null);
  const before = a.owned.length;
  await world.advance(15_000);
  expect(a.owned.length).toBe(before);
  await world.advance(5_000);
  expect(a.owned.at(-1)).toEqual({ shard: 1, epoch: epoch + 1 });
  expect([a.handedOver, a.membership.handOvers.count]).toEqual([[], 0]);
});

test("two processes with one URL do not take the shards from each other repeatedly", async () => {
  const world = new World(4);
  const a = world.start("a");
  await world.advance(2_000);
  const other = world.start("a");
  // The former process detects the other one only at its next poll.
  await world.clock.advance(20_000);
  expect([a.owned.length, other.owned.length]).toEqual([4, 4]);
  expect(a.logged).toContain("node URL used by another process");
});

test("the shards of a node that was killed are taken over within its lease, evenly", async () => {
  const world = new World(9);
  const [a, b, c] = [world.start("a"), world.start("b"), world.start("c")];
  await world.advance(30_000);
  expect(world.counts).toEqual([3, 3, 3]);
  const handOvers = a.membership.handOvers.count + b.membership.handOvers.count;
  world.kill(c);
  await world.advance(leaseMs - 1_000);
  expect(world.counts).toEqual([3, 3]);
  expect(a.membership.unserved).toBe(null);
  await world.advance(2_000);
  expect(world.counts.toSorted()).toEqual([4, 5]);
  await world.advance(10_000);
  // Nothing had to be moved again.
  expect(a.membership.handOvers.count + b.membership.handOvers.count).toBe(handOvers);
});

test("a free shard is left for two seconds to the node that it is reserved for", async () => {
  const world = new World(2);
  const b = world.heartbeat("b");
  world.database.takeOver(b, 0, null);
  world.database.release(b, { shard: 0, epoch: 1 }, b.url);
  const a = world.start("a");
  await world.advance(1_900);
  expect(a.owned).toEqual([{ shard: 1, epoch: 1 }]);
  expect(a.membership.unserved).toEqual({ why: "no node owns shard 0", shards: [0] });
  await world.advance(700);
  expect(a.owned.slice(1)).toEqual([{ shard: 0, epoch: 2 }]);
});

test("a free shard that is reserved for a node that left is taken over at once", async () => {
  const world = new World(2);
  const b = { url: "http://b", key: "b", version: "", isDraining: false };
  world.database.takeOver(b, 0, null);
  world.database.release(b, { shard: 0, epoch: 1 }, b.url);
  const a = world.start("a");
  await world.advance(100);
  expect(a.membership.openShards).toEqual([0, 1]);
});

test("a node that did not keep a shard receives none for a while", async () => {
  const world = new World(2);
  const a = world.start("a");
  await world.advance(600);
  // `b` is live, and takes no shards.
  for (let count = 0; count < 30; count += 1) {
    world.heartbeat("b");
    await world.advance(1_000);
  }
  expect(a.handedOver.length).toBe(1);
  expect(a.membership.openShards).toEqual([0, 1]);
});

test("drain: hands over one shard after the other, each to the node with the fewest", async () => {
  const world = new World(9);
  const [a, b, c] = [world.start("a"), world.start("b"), world.start("c")];
  await world.advance(30_000);
  const drained = a.membership.drain();
  const held = new Set<number>();
  let isOver = false;
  void drained.then(() => {
    isOver = true;
  });
  while (!isOver) {
    await world.advance(20);
    held.add(a.membership.openShards.length);
  }
  expect([...held]).toEqual([2, 1, 0]);
  await world.advance(1_000);
  expect(world.counts.toSorted()).toEqual([0, 4, 5]);
  expect(a.open.size).toBe(0);
  expect([b, c].map(({ membership }) => membership.unserved)).toEqual([null, null]);
  // A draining node takes no shards, even if no other node is left.
  world.kill(b);
  world.kill(c);
  expect(a.membership.isLast).toBe(false);
  await world.advance(20_000);
  expect(world.counts).toEqual([0]);
  expect(a.membership.isLast).toBe(true);
});

test("drain: does not wait for a shard that is being opened", async () => {
  const world = new World(2);
  const a = world.start("a", {
    opening: (shard) => (shard === 0 ? new Promise(() => 0) : Promise.resolve()),
  });
  await world.advance(600);
  expect([a.membership.openShards, a.membership.isChanging(0)]).toEqual([[1], true]);
  const drained = a.membership.drain();
  await world.advance(1_000);
  await drained;
  expect([a.closed, a.lost]).toEqual([[1], [0]]);
  expect(a.membership.view.shards.map(({ url, reservedFor }) => [url, reservedFor])).toEqual([
    [null, null],
    [null, null],
  ]);
});

test("drain: a shard whose opening ends during its release is not kept", async () => {
  const world = new World(1);
  const opened = Promise.withResolvers<void>();
  const a = world.start("a", { opening: () => opened.promise });
  await world.advance(600);
  const drained = a.membership.drain();
  while (a.lost.length === 0) await world.clock.rounds(1);
  // The row is not free yet.
  opened.resolve();
  await world.advance(1_000);
  await drained;
  expect([a.open.size, a.membership.openShards]).toEqual([0, []]);
});

test("drain: may be called twice", async () => {
  const world = new World(3);
  const a = world.start("a");
  await world.advance(600);
  const drained = Promise.all([a.membership.drain(), a.membership.drain()]);
  await world.advance(5_000);
  await drained;
  expect([a.membership.openShards, a.closed, a.lost]).toEqual([[], [0, 1, 2], []]);
});

/** Three nodes with three shards each. */
async function threeNodes() {
  const world = new World(9);
  const [a, b, c] = [world.start("a"), world.start("b"), world.start("c")];
  await world.advance(30_000);
  expect(world.counts).toEqual([3, 3, 3]);
  return { world, a, b, c };
}

test("requestDrain: any node can request it of any; that node hands over its shards one after the other, and accepts none until it is undone", async () => {
  const { world, a, b, c } = await threeNodes();
  expect(await world.request(b, { url: a.url, isRequested: true })).toBe("draining: true");
  const held = new Set<number>();
  for (let ms = 0; ms < 3_000; ms += 20) {
    await world.advance(20);
    held.add(a.membership.openShards.length);
    const changing = world.shards.filter((shard) => a.membership.isChanging(shard));
    expect(changing.length).toBeLessThan(2);
  }
  expect([...held]).toEqual([3, 2, 1, 0]);
  expect(world.counts.toSorted()).toEqual([0, 4, 5]);
  expect([a.membership.isLast, a.membership.unserved]).toEqual([false, null]);
  // It does not take shards that become free, either.
  world.kill(c);
  await world.advance(leaseMs + 1_000);
  expect([a, b].map(({ membership }) => membership.openShards.length)).toEqual([0, 9]);
  expect(await world.request(b, { url: a.url, isRequested: false })).toBe("draining: false");
  await world.advance(10_000);
  expect(world.counts.toSorted()).toEqual([4, 5]);
});

test("requestDrain: a node that drained gets its share back at once, however recently it received its shards", async () => {
  const world = new World(4);
  const a = world.start("a");
  await world.advance(600);
  const b = world.start("b");
  await world.advance(5_000);
  expect(world.counts).toEqual([2, 2]);
  for (let count = 0; count < 2; count += 1) {
    await world.request(a, { url: b.url, isRequested: true });
    await world.advance(2_000);
    expect(world.counts).toEqual([4, 0]);
    await world.request(a, { url: b.url, isRequested: false });
    await world.advance(4_000);
    expect(world.counts).toEqual([2, 2]);
  }
});

test("requestDrain: refused if no other node could take the shards", async () => {
  const { world, a, b, c } = await threeNodes();
  for (const { url } of [a, b]) {
    expect(await world.request(b, { url, isRequested: true })).toBe("draining: true");
  }
  const refusal = "node cannot be drained; no node except 'http://c' takes shards";
  for (const member of [a, b, c]) {
    expect(await world.request(member, { url: c.url, isRequested: true })).toBe(refusal);
  }
  // A request may be repeated.
  expect(await world.request(c, { url: a.url, isRequested: true })).toBe("draining: true");
  await world.advance(3_000);
  expect(world.counts).toEqual([0, 0, 9]);
});

test("requestDrain: a draining node takes the shards over while no other node could", async () => {
  const { world, a, b, c } = await threeNodes();
  for (const { url } of [a, b]) await world.request(c, { url, isRequested: true });
  await world.advance(3_000);
  world.kill(c);
  await world.advance(leaseMs + 2_000);
  expect(world.counts.toSorted()).toEqual([4, 5]);
  world.start("c");
  await world.advance(5_000);
  expect(world.counts).toEqual([0, 0, 9]);
  expect(a.membership.unserved).toBe(null);
});

test("requestDrain: if it is requested of all nodes before any has read the rows, the shards stay shared out", async () => {
  const { world } = await threeNodes();
  for (const member of world.members) world.write(member, true);
  await world.advance(5_000);
  expect(world.counts).toEqual([3, 3, 3]);
});

test("requestDrain: ends with a restart of the process", async () => {
  const { world, a, b } = await threeNodes();
  await world.request(b, { url: a.url, isRequested: true });
  await world.advance(3_000);
  world.kill(a);
  world.start("a");
  await world.advance(20_000);
  expect(world.counts).toEqual([3, 3, 3]);
});

test("requestDrain: refused for an invalid URL, an unknown node and one that was killed", async () => {
  const { world, a, b, c } = await threeNodes();
  const asked = (url: string) => world.request(a, { url, isRequested: true });
  expect(await asked("queue-1")).toBe(
    "url is invalid; expected one such as 'http://10.0.0.7:9090', got 'queue-1'",
  );
  const others = "expected http://a, http://b, http://c";
  expect(await asked("http://d")).toBe(
    `node does not exist; no live node has 'http://d', ${others}`,
  );
  world.kill(c);
  await world.advance(leaseMs + 1_000);
  expect(await asked(c.url)).toBe(
    "node does not exist; no live node has 'http://c', expected http://a, http://b",
  );
  expect(b.membership.view.nodes.filter((node) => node.isDrainRequested)).toEqual([]);
});

test("requestDrain: without the database nothing is changed", async () => {
  const { world, a, b } = await threeNodes();
  world.database.cutOff(a.host);
  await world.advance(leaseMs);
  expect(a.membership.isStale).toBe(true);
  const asked = requestDrain([a.membership], { url: b.url, isRequested: true });
  const refused = asked.catch((error: Error) => error.message);
  await world.advance(10_000);
  expect(await refused).toBe("the database does not answer; nothing was changed");
});

test("a node that is cut off loses its shards, and the other owns them before the first one detects it", async () => {
  const world = new World(4);
  const [a, b] = [world.start("a"), world.start("b")];
  await world.advance(10_000);
  expect(world.counts).toEqual([2, 2]);
  const shards = a.membership.openShards;
  world.database.cutOff(a.host);
  await world.advance(leaseMs + 1_000);
  expect(b.membership.openShards).toEqual([0, 1, 2, 3]);
  // `a` has not detected the takeover, and no longer trusts its ownership.
  expect(a.membership.openShards).toEqual(shards);
  expect(shards.map((shard) => a.membership.isTrusted(shard))).toEqual([false, false]);
  const [first = 0, second = 0] = shards;
  a.membership.stepDown(first);
  expect(a.membership.openShards).toEqual([second]);
  world.database.heal();
  await world.advance(700);
  expect(a.membership.openShards).toEqual([]);
  expect(a.open.size).toBe(0);
  expect(a.logged.filter((event) => event === "shard ownership lost").length).toBe(2);
  await world.advance(10_000);
  expect(world.counts).toEqual([2, 2]);
});

test("a node that was restarted takes over its former shards at once, whatever its share", async () => {
  const world = new World(4);
  const a = world.start("a");
  await world.advance(600);
  world.heartbeat("b");
  world.kill(a);
  const again = world.start("a");
  await world.advance(100);
  expect(again.membership.openShards).toEqual([0, 1, 2, 3]);
  expect(again.membership.takeovers.own.count).toBe(4);
});

test("a shard that is slow to open delays neither the polls nor the other shards", async () => {
  const world = new World(4);
  const a = world.start("a", {
    opening: (shard) => (shard === 1 ? new Promise(() => 0) : Promise.resolve()),
  });
  await world.advance(100);
  expect(a.membership.openShards).toEqual([0, 2, 3]);
  await world.advance(3 * leaseMs);
  expect(a.membership.isTrusted(2)).toBe(true);
  expect(a.membership.isChanging(1)).toBe(true);
  // No shard is handed over while that one is opening.
  const b = world.start("b");
  await world.advance(leaseMs);
  expect(b.membership.openShards).toEqual([]);
});

test("a shard that cannot be opened is released, and another node takes it over", async () => {
  const world = new World(2);
  const failed = async (): Promise<void> => {
    throw new Error("cannot be opened");
  };
  const a = world.start("a", { opening: failed });
  await world.advance(10_000);
  // With no other node, it retries, but not at each poll.
  const tries = a.owned.filter(({ shard }) => shard === 0).length;
  expect(tries).toBeGreaterThan(2);
  expect(tries).toBeLessThan(7);
  expect(a.membership.unserved?.why).toBe("no node owns shards 0, 1");
  const b = world.start("b");
  await world.advance(8_000);
  expect(b.membership.openShards).toEqual([0, 1]);
  expect(b.membership.unserved).toBe(null);
});

test("after a failover to a database whose clock was ahead, owners keep their shards", async () => {
  const world = new World(4);
  world.start("a");
  world.start("b");
  await world.advance(10_000);
  const { takeovers } = world;
  world.database.replicate();
  world.database.failOver(3_600_000);
  await world.advance(20_000);
  expect(world.counts).toEqual([2, 2]);
  expect(world.takeovers).toBe(takeovers);
});

test("under random faults no shard has two owners, and in the end all are shared out", async () => {
  for (let seed = 1; seed <= 6; seed += 1) {
    const world = new World(7);
    const random = seededRandom(seed);
    const troubles = [
      () => void (world.members.length < 4 && world.start(`node-${world.started}`)),
      (one: Member) => world.kill(one),
      (one: Member) => world.database.cutOff(one.host),
      () => world.database.stall(),
      () => world.database.heal(),
      () => world.database.restart(),
      (one: Member) => one.host.stop(),
      (one: Member) => one.host.goOn(),
      (one: Member) => void one.membership.drain().then(() => world.kill(one)),
      (one: Member) => world.write(one, true),
      (one: Member) => world.write(one, false),
    ];
    for (let count = 0; count < 40; count += 1) {
      if (world.members.length === 0) world.start(`node-${world.started}`);
      const one = world.members[random.below(world.members.length)];
      if (one !== undefined) troubles[random.below(troubles.length)]?.(one);
      await world.advance(random.below(4_000));
    }
    world.database.heal();
    for (const { host } of world.members) host.goOn();
    for (const member of world.members) world.write(member, false);
    // Draining nodes end first.
    await world.advance(30_000);
    while (world.members.length < 2) world.start(`node-${world.started}`);
    await world.advance(120_000);
    const taking = world.members.filter(({ membership }) => !membership.isLast);
    const counts = taking.map(({ membership }) => membership.openShards.length);
    const spread = Math.max(...counts) - Math.min(...counts);
    const served = world.members.flatMap(({ open }) => [...open]).sort();
    expect({ seed, served, isEven: spread < 2 }).toEqual({
      ...{ seed, isEven: true },
      served: [0, 1, 2, 3, 4, 5, 6],
    });
  }
});
