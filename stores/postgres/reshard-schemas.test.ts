// The schemas that a reshard creates, and when they replace the old ones.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { nextRound } from "../../client/testing/still-time.ts";
import { Connection } from "./connection.ts";
import { clusterIn, PostgresNodes } from "./nodes.ts";
import { openReshardSchemas, schemasIn } from "./reshard-schemas.ts";
import { openPostgresStore } from "./store.ts";
import { commit, failureOf, newStore, tag } from "./testing/opened.ts";
import { testServer } from "./testing/server.ts";

const server = testServer();
let admin: Connection;

beforeAll(async () => {
  admin = await Connection.open({ url: server.url });
});
afterAll(() => admin.close());

const newTag = () => tag;

/** Creates shards with one turn each. */
async function shardsOf(count: number): Promise<{ readonly url: string; readonly schema: string }> {
  const options = newStore(server.url);
  for (let shard = 0; shard < count; shard += 1) {
    const { store } = await openPostgresStore({ ...options, shard });
    await commit(store, 1);
    await store.close();
  }
  return { url: options.url, schema: options.schema };
}

async function turnsIn(place: { readonly url: string; readonly schema: string }, shard: number) {
  const { store } = await openPostgresStore({ ...place, shard, newTag, testClock: null });
  const { turns } = await store.load();
  await store.close();
  return turns.map(({ turn }) => turn);
}

async function schemasOf(prefix: string): Promise<unknown[]> {
  const rows = await admin.rows(
    `SELECT nspname::text FROM pg_namespace WHERE starts_with(nspname, '${prefix}_') ORDER BY 1`,
  );
  return rows.map(([name]) => name);
}

const takenOver = {
  fault: "locked",
  message:
    "a server took ownership of the shards meanwhile; stop all servers on the database, then reshard it again",
} as const;

test("replace: commits of a server behind a pooler since the opening are kept, and the new schemas dropped", async () => {
  const place = await shardsOf(2);
  const replacement = await openReshardSchemas(place, 3, newTag);
  for (const { store } of replacement.from) await store.load();
  const pooled = { ...place, pooler: "transaction", newTag, testClock: false } as const;
  const { store } = await openPostgresStore({ ...pooled, shard: 1 });
  await commit(store, 2);
  expect(await failureOf(replacement.replace())).toEqual(takenOver);
  await replacement.close();
  await commit(store, 3);
  await store.close();
  expect(await schemasOf(place.schema)).toEqual([`${place.schema}_0`, `${place.schema}_1`]);
  expect(await turnsIn(place, 1)).toEqual([1, 2, 3]);
});

test("replace: waits for a commit in progress", async () => {
  const place = await shardsOf(1);
  const replacement = await openReshardSchemas(place, 2, newTag);
  const chain = `${place.schema}_0.turn`;
  await admin.script(
    `BEGIN; INSERT INTO ${chain} SELECT max(position) + 1, 'another' FROM ${chain}`,
  );
  const replaced = failureOf(replacement.replace());
  const waits = `SELECT bool_or(NOT granted) FROM pg_locks WHERE relation = '${chain}'::regclass`;
  while ((await admin.rows(waits))[0]?.[0] !== true) await nextRound();
  await admin.script("COMMIT");
  expect(await replaced).toEqual(takenOver);
  await replacement.close();
  expect(await schemasIn(place)).toBe(1);
});

test("replace: the new schemas replace the old ones", async () => {
  const place = await shardsOf(2);
  const replacement = await openReshardSchemas(place, 1, newTag);
  await replacement.replace();
  await replacement.close();
  expect(await schemasOf(place.schema)).toEqual([`${place.schema}_0`]);
  expect(await turnsIn(place, 0)).toEqual([]);
});

test("open: a second reshard is refused, and leaves the new schemas of the first one alone", async () => {
  const place = await shardsOf(1);
  const replacement = await openReshardSchemas(place, 2, newTag);
  expect(await failureOf(openReshardSchemas(place, 3, newTag))).toEqual({
    fault: "locked",
    message: "the database is being resharded",
  });
  await replacement.replace();
  await replacement.close();
  expect(await schemasIn(place)).toBe(2);
});

test("open: refused while a server has a shard", async () => {
  const place = await shardsOf(2);
  const { store } = await openPostgresStore({ ...place, shard: 1, newTag, testClock: false });
  expect(await failureOf(openReshardSchemas(place, 3, newTag))).toEqual({
    fault: "locked",
    message: "the database is in use by another server",
  });
  await store.close();
  expect(await schemasIn(place)).toBe(2);
});

test("open: schemas left by a killed reshard are dropped, even behind a gap", async () => {
  const place = await shardsOf(1);
  const fresh = { ...place, schema: `${place.schema}_resharding` };
  for (const shard of [1, 7]) {
    const { store } = await openPostgresStore({ ...fresh, shard, newTag, testClock: false });
    await commit(store, 1);
    await store.close();
  }
  await admin.script(`CREATE SCHEMA ${fresh.schema}_notes`);
  const replacement = await openReshardSchemas(place, 2, newTag);
  for (const { store } of replacement.to) expect((await store.load()).turns).toEqual([]);
  await replacement.close();
  expect(await schemasOf(place.schema)).toEqual([`${place.schema}_0`, `${fresh.schema}_notes`]);
});

test("open: schemas and tables of another role are refused, and left alone", async () => {
  const place = await shardsOf(2);
  const name = `${place.schema}_1`;
  const other = { ...place, url: place.url.replace("holdfast@", "other@") };
  const refusal = (schema: string, owner: string, role: string) => ({
    fault: "unusable" as const,
    message: `schema "${schema}" belongs to another role; expected to connect as '${owner}', got '${role}'`,
  });
  await admin.script("CREATE ROLE other LOGIN SUPERUSER");
  expect(await failureOf(openReshardSchemas(other, 3, newTag))).toEqual(
    refusal(`${place.schema}_0`, "holdfast", "other"),
  );
  await admin.script(`ALTER TABLE ${name}.item OWNER TO other`);
  expect(await failureOf(openReshardSchemas(place, 3, newTag))).toEqual(
    refusal(name, "other", "holdfast"),
  );
  expect(await schemasOf(place.schema)).toEqual([`${place.schema}_0`, name]);
});

const self = { url: "http://a", key: "", version: "", isDraining: false };

test("replace: in a cluster, all shards of the new number are free, and their epochs continue", async () => {
  const place = newStore(server.url);
  const open = (shards: number) =>
    PostgresNodes.open({
      ...place,
      leaseMs: 60_000,
      cluster: { shards, database: 0, databases: 1 },
    });
  const nodes = await open(3);
  for (const shard of [0, 1, 1]) await nodes.takeOver(self, shard, null);
  // Only shard 1 has ever been opened.
  const ownership = { url: self.url, epoch: 2 };
  await (await openPostgresStore({ ...place, shard: 1, ownership })).store.close();
  expect(await schemasIn(place)).toBe(3);
  const rows = async (shards: number) => {
    const resharded = await open(shards);
    const seen = await resharded.heartbeat(self, []);
    await resharded.close();
    return seen.shards.map(({ url, epoch, leaseUntil }) => ({ url, epoch, leaseUntil }));
  };
  for (const [shards, epoch] of [
    [4, 3],
    [2, 4],
  ] as const) {
    const replacement = await openReshardSchemas(place, shards, newTag);
    await replacement.replace();
    await replacement.close();
    expect(await clusterIn(place)).toEqual({ shards, database: 0, databases: 1 });
    expect(await rows(shards)).toEqual(Array(shards).fill({ url: null, epoch, leaseUntil: 0 }));
  }
  expect((await failureOf(nodes.heartbeat(self, []))).fault).toBe("unusable");
  await nodes.close();
});

test("open: a cluster of several databases is refused", async () => {
  const place = newStore(server.url);
  const cluster = { shards: 2, database: 0, databases: 2 };
  await (await PostgresNodes.open({ ...place, leaseMs: 60_000, cluster })).close();
  expect(await failureOf(openReshardSchemas(place, 3, newTag))).toEqual({
    fault: "unusable",
    message: "only a cluster with 1 database can be resharded; got 2",
  });
});
