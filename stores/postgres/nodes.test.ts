// The node table: takeovers of shards, and the recorded shape of the cluster.

import { expect, test } from "bun:test";
import type { ClusterShape, Self } from "../nodes.ts";
import { type Acknowledged, acknowledgedOf, fatesOf } from "./acknowledged.ts";
import { Connection } from "./connection.ts";
import { clusterIn, PostgresNodes } from "./nodes.ts";
import { openPostgresStore } from "./store.ts";
import { commit, failureOf, tag } from "./testing/opened.ts";
import { testServer } from "./testing/server.ts";

const server = testServer();

const self = (name: string): Self => ({
  ...{ url: `http://${name}`, key: name, version: "1", isDraining: false },
});
const [a, b] = [self("a"), self("b")];

const oneDatabase = (shards: number): ClusterShape => ({ shards, database: 0, databases: 1 });

function open(schema: string, cluster: ClusterShape): Promise<PostgresNodes> {
  return PostgresNodes.open({ url: server.url, schema, leaseMs: 60_000, cluster });
}

async function script(text: string): Promise<void> {
  const admin = await Connection.open({ url: server.url });
  await admin.script(text);
  await admin.close();
}

test("takeOver: after the database's clock was set back, an owner that does not renew can be replaced", async () => {
  const nodes = await open("owners", oneDatabase(1));
  const heartbeatOf = async (node: Self, epoch: number | null) => {
    const { shards, now } = await nodes.heartbeat(
      node,
      epoch === null ? [] : [{ shard: 0, epoch }],
    );
    return { ...shards[0], leaseUntil: shards[0]?.leaseUntil ?? 0, now };
  };
  expect(await nodes.takeOver(a, 0, null)).toBe(1);
  // As written by a clock that was an hour ahead.
  await script("UPDATE owners_nodes.shard SET lease_until = lease_until + 3600000");
  const { leaseUntil, now, takenAt, ...row } = await heartbeatOf(b, null);
  expect(takenAt).toBeWithin(now - 60_000, now + 1);
  expect(row).toEqual({ shard: 0, url: a.url, epoch: 1, isLapsed: false, reservedFor: null });
  expect(leaseUntil).toBeGreaterThan(now + 3_000_000);
  expect(await nodes.takeOver(b, 0, null)).toBe(null);
  expect(await nodes.takeOver(b, 0, leaseUntil - 1)).toBe(null);
  // The owner had only been suspended.
  await heartbeatOf(a, 1);
  expect(await nodes.takeOver(b, 0, leaseUntil)).toBe(null);
  const renewed = await heartbeatOf(b, null);
  expect(renewed.leaseUntil).toBeLessThan(leaseUntil);
  expect(await nodes.takeOver(b, 0, renewed.leaseUntil)).toBe(2);
  await nodes.close();
});

test("heartbeat: renews exactly the shards that are owned at their epochs, and takeOver moves one alone", async () => {
  const nodes = await open("several", oneDatabase(4));
  const lapsed = async (node: Self, held: Parameters<PostgresNodes["heartbeat"]>[1]) =>
    (await nodes.heartbeat(node, held)).shards.map(({ isLapsed }) => isLapsed);
  for (const shard of [0, 1, 2, 3]) expect(await nodes.takeOver(a, shard, null)).toBe(1);
  await script("UPDATE several_nodes.shard SET lease_until = 1");
  // Shard 1 with an old epoch, shards 2 and 3 not at all.
  const held = [
    { shard: 0, epoch: 1 },
    { shard: 1, epoch: 7 },
  ];
  expect(await lapsed(b, held)).toEqual([true, true, true, true]);
  expect(await lapsed(a, held)).toEqual([false, true, true, true]);
  expect(await nodes.takeOver(b, 0, null)).toBe(null);
  expect(await nodes.takeOver(b, 3, null)).toBe(2);
  const { shards } = await nodes.heartbeat(b, []);
  expect(shards.map(({ shard, url, epoch }) => [shard, url, epoch])).toEqual([
    [0, a.url, 1],
    [1, a.url, 1],
    [2, a.url, 1],
    [3, b.url, 2],
  ]);
  await nodes.close();
});

test("release: frees a shard for a node, unless it has another owner or epoch by now", async () => {
  const nodes = await open("given", oneDatabase(2));
  const row = async () => (await nodes.heartbeat(b, [])).shards[1];
  expect(await nodes.takeOver(a, 1, null)).toBe(1);
  await nodes.release(b, { shard: 1, epoch: 1 }, b.url);
  await nodes.release(a, { shard: 1, epoch: 2 }, b.url);
  expect(await row()).toMatchObject({ url: a.url, epoch: 1, reservedFor: null });
  await nodes.release(a, { shard: 1, epoch: 1 }, b.url);
  expect(await row()).toMatchObject({ url: null, epoch: 1, reservedFor: b.url });
  expect(await nodes.takeOver(b, 1, null)).toBe(2);
  expect(await row()).toMatchObject({ url: b.url, epoch: 2, reservedFor: null });
  await nodes.close();
});

test("takeOver: records when, by the database's clock, until the next one", async () => {
  const nodes = await open("taken", oneDatabase(2));
  const takenAt = async () => (await nodes.heartbeat(b, [])).shards.map((row) => row.takenAt);
  expect(await takenAt()).toEqual([null, null]);
  await nodes.takeOver(a, 1, null);
  const [, first = null] = await takenAt();
  expect(first).toBeGreaterThan(1_700_000_000_000);
  await nodes.heartbeat(a, [{ shard: 1, epoch: 1 }]);
  await nodes.release(a, { shard: 1, epoch: 1 }, null);
  expect(await takenAt()).toEqual([null, first]);
  await script("UPDATE taken_nodes.shard SET taken_at = 1");
  await nodes.takeOver(b, 1, null);
  expect((await takenAt())[1]).toBeGreaterThanOrEqual(first ?? 0);
  await nodes.close();
});

test("requestDrain: outlasts heartbeats, until it is undone or another process has the URL", async () => {
  const nodes = await open("drained", oneDatabase(1));
  const requested = async (node: Self) =>
    (await nodes.heartbeat(node, [])).nodes.map((row) => [
      row.url,
      row.isDraining,
      row.isDrainRequested,
    ]);
  expect(await nodes.requestDrain(a, true)).toBe(false);
  await nodes.heartbeat(b, []);
  await nodes.heartbeat(a, []);
  expect(await nodes.requestDrain(a, true)).toBe(true);
  const drained = [
    [a.url, false, true],
    [b.url, false, false],
  ];
  for (const node of [a, b, a]) expect(await requested(node)).toEqual(drained);
  expect(await nodes.requestDrain({ ...a, key: "former" }, false)).toBe(false);
  expect(await requested(a)).toEqual(drained);
  expect(await nodes.requestDrain(a, false)).toBe(true);
  expect(await requested(b)).toEqual([
    [a.url, false, false],
    [b.url, false, false],
  ]);
  await nodes.requestDrain(a, true);
  expect((await requested({ ...a, key: "next" }))[0]).toEqual([a.url, false, false]);
  await nodes.close();
});

test("open: each database has the rows of its own shards, and the recorded cluster", async () => {
  const shape = (database: number): ClusterShape => ({ shards: 5, database, databases: 2 });
  const config = { url: server.url, schema: "second" };
  expect(await clusterIn(config)).toBe(null);
  const first = await open("first", shape(0));
  const second = await open("second", shape(1));
  const numbers = async (nodes: PostgresNodes) =>
    (await nodes.heartbeat(a, [])).shards.map(({ shard }) => shard);
  expect(await numbers(first)).toEqual([0, 2, 4]);
  expect(await numbers(second)).toEqual([1, 3]);
  expect(await clusterIn(config)).toEqual(shape(1));
  await first.close();
  await second.close();
});

test("open: another number of shards or databases, or another order of databases, is refused", async () => {
  const shape = { shards: 4, database: 1, databases: 2 };
  await (await open("shaped", shape)).close();
  const refusal = async (change: Partial<ClusterShape>) =>
    failureOf(open("shaped", { ...shape, ...change }));
  const unusable = (message: string) => ({ fault: "unusable" as const, message });
  expect(await refusal({ shards: 8 })).toEqual(
    unusable("the cluster was made with 4 shards; got --shards 8"),
  );
  expect(await refusal({ databases: 3 })).toEqual(
    unusable("the cluster was made with 2 databases; got 3 of --database-url"),
  );
  expect(await refusal({ database: 0 })).toEqual(
    unusable("the database is number 2 of the cluster; got it as number 1"),
  );
  await (await open("shaped", shape)).close();
});

test("open: fewer shards than databases are refused, and nothing is created", async () => {
  expect(await failureOf(open("empty", { shards: 1, database: 0, databases: 2 }))).toEqual({
    fault: "unusable",
    message: "the cluster has too few shards; got 1 for 2 databases",
  });
  expect(await clusterIn({ url: server.url, schema: "empty" })).toBe(null);
});

test("heartbeat: rows of another number of shards are refused", async () => {
  const nodes = await open("resharded", oneDatabase(2));
  await nodes.heartbeat(a, []);
  await script("INSERT INTO resharded_nodes.shard VALUES (2, NULL, 1, 0, NULL)");
  expect(await failureOf(nodes.heartbeat(a, []))).toEqual({
    fault: "unusable",
    message: "the database was resharded; expected 2 rows of shards, got 3",
  });
  await nodes.close();
});

test("openPostgresStore: a node opens the shards that it owns, and no others", async () => {
  const nodes = await open("opened", oneDatabase(2));
  const store = (shard: number, epoch: number) =>
    openPostgresStore({
      ...{ url: server.url, schema: "opened", shard, newTag: () => tag, testClock: false },
      ownership: { url: a.url, epoch },
    });
  expect(await nodes.takeOver(a, 1, null)).toBe(1);
  const other = { fault: "locked" as const, message: "the shard belongs to another node" };
  expect(await failureOf(store(0, 1))).toEqual(other);
  expect(await failureOf(store(1, 2))).toEqual(other);
  await (await store(1, 1)).store.close();
  await nodes.close();
});

test("openPostgresStore: a node whose takeover is lost reports the commits lost with it, once", async () => {
  const nodes = await open("lost", oneDatabase(1));
  const opening = (self: Self, epoch: number, acknowledged: Acknowledged) =>
    openPostgresStore({
      ...{ url: server.url, schema: "lost", shard: 0, newTag: () => tag, testClock: false },
      ...{ ownership: { url: self.url, epoch }, acknowledged },
    });
  const ofA = acknowledgedOf(1);
  const ofB = acknowledgedOf(1);
  expect(await nodes.takeOver(a, 0, null)).toBe(1);
  const first = await opening(a, 1, ofA);
  await commit(first.store, 1);
  await first.store.close();
  await nodes.release(a, { shard: 0, epoch: 1 }, b.url);
  expect(await nodes.takeOver(b, 0, null)).toBe(2);
  const second = await opening(b, 2, ofB);
  for (const turn of [2, 3]) await commit(second.store, turn);
  await second.store.close();
  const other = { fault: "locked" as const, message: "the shard belongs to another node" };
  expect(await failureOf(opening(a, 1, ofA))).toEqual(other);
  // The state of an asynchronous standby that lacks all commits of the second owner.
  await script(`
    DELETE FROM lost_0.turn WHERE position > (SELECT max(position) - 3 FROM lost_0.turn);
    UPDATE lost_nodes.shard SET url = '${a.url}', epoch = 1`);
  expect(await failureOf(opening(b, 2, ofB))).toMatchObject({ fault: "lost" });
  expect(await failureOf(opening(b, 2, ofB))).toEqual(other);
  await (await opening(a, 1, ofA)).store.close();
  // The takeover counts as a row too.
  expect([fatesOf(ofA).lost, fatesOf(ofB).lost]).toEqual([0, 3]);
  await nodes.close();
});
