// Sessions with the database: nothing is acknowledged unless the database is known to keep it.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { nextRound, type StillTime, settled, stillTime } from "../../client/testing/still-time.ts";
import { Wire } from "../../testing/wire.ts";
import type { Backend } from "../backend.ts";
import { item, tally } from "../conformance/values.ts";
import { acknowledgedOf, fatesOf } from "./acknowledged.ts";
import { Connection, preparedMax } from "./connection.ts";
import { openPostgresStore } from "./store.ts";
import { commit, failureOf, newStore } from "./testing/opened.ts";
import { testServer } from "./testing/server.ts";

const server = testServer();
let admin: Connection;

beforeAll(async () => {
  admin = await Connection.open({ url: server.url });
});
afterAll(() => admin.close());

/** Short, so that a test can wait for it. */
const silenceMs = 500;

/** Advances fake time until the work has ended. */
async function inTime<T>(time: StillTime, work: Promise<T>): Promise<T> {
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  work.then(end, end);
  while (!isOver) {
    time.advance(100);
    await nextRound();
  }
  return work;
}

/** Waits until the condition is true in the database. */
async function until(condition: string): Promise<void> {
  while ((await admin.rows(`SELECT ${condition}`))[0]?.[0] !== true) await nextRound();
}

/** The instants at which a statement was prepared. */
const timesOf =
  "SELECT prepare_time::text FROM pg_prepared_statements WHERE statement = convert_from($1::bytea, 'UTF8')";

test("commit: an unresponsive database is abandoned, and its commits take effect before the reopening or never", async () => {
  using time = stillTime();
  const options = { ...newStore(server.url), silenceMs };
  const first = await openPostgresStore(options);
  await commit(first.store, 1);
  await admin.script(`BEGIN; LOCK TABLE ${options.schema}_0.item IN ACCESS EXCLUSIVE MODE`);
  const late = commit(first.store, 2, { insert: [item(1, 1)] });
  expect(await inTime(time, failureOf(late))).toEqual({
    fault: "failed",
    message: "the database failed",
  });
  // The second opening waits until the first session has ended.
  time[Symbol.dispose]();
  const open = () => openPostgresStore({ ...options, silenceMs: 60_000 });
  const second = open();
  await admin.script("COMMIT");
  const { store } = (await second.catch(() => null)) ?? (await open());
  const { turns } = await store.load();
  expect(await failureOf(commit(first.store, 3))).toMatchObject({ fault: "failed" });
  expect((await store.load()).turns).toEqual(turns);
  for (const opened of [first.store, store]) await opened.close();
});

test.each<[name: string, work: (backend: Backend) => Promise<unknown>]>([
  ["load", ({ store }) => store.load()],
  ["commit", ({ store }) => commit(store, 1)],
])("%s: a database that says nothing any more is given up", async (_, work) => {
  using time = stillTime();
  const { port } = new URL(server.url);
  const wire = Wire.to(Number(port));
  const url = server.url.replace(`:${port}`, `:${wire.port}`);
  const backend = await openPostgresStore({ ...newStore(url), silenceMs });
  wire.cut();
  expect(await inTime(time, failureOf(work(backend)))).toMatchObject({ fault: "failed" });
  await inTime(time, backend.store.close());
});

test("open: a database that does not store the beginning of an owner is abandoned", async () => {
  const options = newStore(server.url);
  const { store } = await openPostgresStore(options);
  await store.close();
  using time = stillTime();
  await admin.script(`BEGIN; LOCK TABLE ${options.schema}_0.turn IN ACCESS EXCLUSIVE MODE`);
  const impatient = failureOf(openPostgresStore({ ...options, silenceMs }));
  // Until it waits for the lock.
  await until("bool_or(NOT granted) FROM pg_locks");
  expect(await inTime(time, impatient)).toMatchObject({ fault: "failed" });
  await admin.script("COMMIT");
});

test("load: a large result may take as long as data arrives", async () => {
  using time = stillTime();
  const connection = await Connection.open({ url: server.url, silenceMs });
  const numbers = [1, 2, 3, 4];
  for (const number of numbers) await admin.script(`SELECT pg_advisory_lock(${number})`);
  // Each row is longer than the database's send buffer, and waits for a lock.
  const slow = "SELECT repeat('x', 10000), pg_advisory_lock(n)::text FROM generate_series(1, 4) n";
  const rows = connection.rows(slow);
  for (const number of numbers) {
    await until(`bool_or(NOT granted AND objid = ${number}) FROM pg_locks`);
    await settled();
    // Nearly the longest silence allowed.
    time.advance(6 * silenceMs - 100);
    await admin.script(`SELECT pg_advisory_unlock(${number})`);
  }
  expect(await rows).toHaveLength(4);
  const silent = failureOf(connection.rows("SELECT pg_sleep(600)::text"));
  await settled();
  expect(await inTime(time, silent)).toMatchObject({ fault: "failed" });
  await connection.close();
});

test("commit: a commit that is no longer replicated is not acknowledged, and is counted once it is found", async () => {
  const options = { ...newStore(server.url), acknowledged: acknowledgedOf(1) };
  const { store } = await openPostgresStore(options);
  await commit(store, 1);
  await admin.script("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
  await admin.script("SELECT pg_reload_conf()");
  const failed = (async () => {
    // Until the database has read the new setting, commits do not wait.
    for (let turn = 2; ; turn += 1) await commit(store, turn);
  })();
  const message = "it is unknown whether a standby has the commit";
  const told = failureOf(failed);
  await until(
    "coalesce(bool_or(pg_cancel_backend(pid)), false) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
  );
  expect(await told).toEqual({ fault: "failed", message });
  await admin.script("ALTER SYSTEM RESET synchronous_standby_names");
  await admin.script("SELECT pg_reload_conf()");
  await store.close();
  for (const _ of [1, 2]) await (await openPostgresStore(options)).store.close();
  expect(fatesOf(options.acknowledged)).toEqual({ lost: 0, held: 1, notHeld: 0 });
});

test("commit: a commit refused because of concurrent ones is retried", async () => {
  const options = newStore(server.url);
  const { store } = await openPostgresStore(options);
  const schema = `${options.schema}_0`;
  await admin.script(`
    CREATE SEQUENCE ${schema}.times;
    CREATE FUNCTION ${schema}.fail() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF nextval('${schema}.times') < 3 THEN RAISE EXCEPTION USING ERRCODE = '40001'; END IF;
        RETURN NEW;
      END $$;
    CREATE TRIGGER fails BEFORE INSERT ON ${schema}.turn FOR EACH ROW EXECUTE FUNCTION ${schema}.fail()`);
  await commit(store, 1, { insert: [item(1, 1)] });
  expect((await store.load()).turns).toHaveLength(1);
  await store.close();
});

test.each([
  // Completion unknown; a read-only transaction, as on a standby; disk full.
  ["40003", "has an outcome that is unknown", "failed"],
  ["25006", "has an outcome that is unknown", "failed"],
  ["53100", "had no effect, as the database is full", "full"],
])("commit: a failure with %s %s", async (code, _, fault) => {
  const options = { ...newStore(server.url), acknowledged: acknowledgedOf(1) };
  const { store } = await openPostgresStore(options);
  const schema = `${options.schema}_0`;
  await admin.script(`
    CREATE FUNCTION ${schema}.fail() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION USING ERRCODE = '${code}'; END $$;
    CREATE TRIGGER fails BEFORE INSERT ON ${schema}.turn FOR EACH ROW EXECUTE FUNCTION ${schema}.fail()`);
  expect(await failureOf(commit(store, 1))).toMatchObject({ fault });
  await admin.script(`DROP TRIGGER fails ON ${schema}.turn`);
  if (fault === "full") await commit(store, 1);
  await store.close();
  for (const _ of [1, 2]) await (await openPostgresStore(options)).store.close();
  const notHeld = fault === "full" ? 0 : 1;
  expect(fatesOf(options.acknowledged)).toEqual({ lost: 0, held: 0, notHeld });
});

const prepared = "SELECT count(*) FROM pg_prepared_statements";

test("rows: a bounded number of statements stays prepared, and any can be repeated", async () => {
  const connection = await Connection.open({ url: server.url });
  const all = Array.from({ length: 300 }, (_, number) => number);
  const rows = (number: number) => connection.rows(`SELECT ${number}, $1::bigint`, [number]);
  for (const round of [1, 2, 3]) {
    // Concurrently, so that a statement is deallocated while others are in flight.
    const read = await Promise.all(all.map(rows));
    expect([round, read]).toEqual([round, all.map((number) => [[number, number]])]);
    expect((await connection.rows(prepared))[0]?.[0]).toBeLessThanOrEqual(preparedMax);
  }
  await connection.close();
});

test("rows: a frequently used statement stays prepared", async () => {
  const connection = await Connection.open({ url: server.url });
  const often = "SELECT 'often', $1::bigint";
  await connection.rows(often, [0]);
  const [before] = await connection.rows(timesOf, [Buffer.from(often)]);
  for (let number = 1; number <= 300; number += 1) {
    await connection.rows(`SELECT ${number}, $1::bigint`, [number]);
    await connection.rows(often, [number]);
  }
  expect(await connection.rows(timesOf, [Buffer.from(often)])).toEqual([before ?? []]);
  await connection.close();
});

test("rows: a failed statement is not released twice", async () => {
  const connection = await Connection.open({ url: server.url });
  for (let number = 0; number < 2 * preparedMax; number += 1) {
    const failed = connection.rows(`SELECT $1::bigint FROM missing_${number}`, [1]);
    expect(await failureOf(failed)).toMatchObject({ fault: "failed" });
  }
  expect(await connection.rows("SELECT $1::bigint", [7])).toEqual([[7]]);
  await connection.close();
});

test("open: a session without durable commits is refused", async () => {
  const url = `${server.url}?options=-c%20synchronous_commit%3Doff`;
  const options = { ...newStore(url), pooler: "transaction" as const };
  expect(await failureOf(openPostgresStore(options))).toEqual({
    fault: "unusable",
    message: "synchronous_commit of the database role is unusable; expected 'on', got 'off'",
  });
});

test("open: if a replica is required, commits have to wait for one", async () => {
  const options = { ...newStore(server.url), requireReplica: true };
  const expected = "expected synchronous_standby_names with a standby";
  expect(await failureOf(openPostgresStore(options))).toEqual({
    fault: "unusable",
    message: `commits wait for no standby; ${expected}, got ''`,
  });
});

test("open: the first reachable host is used", async () => {
  const hosts = server.url.replace("@", "@127.0.0.1:1,");
  const { store } = await openPostgresStore(newStore(hosts));
  await commit(store, 1);
  await store.close();
});

test("open: lost acknowledged commits are reported once", async () => {
  const options = { ...newStore(server.url), acknowledged: acknowledgedOf(3), shard: 1 };
  const first = await openPostgresStore(options);
  await commit(first.store, 1, { tally: [tally(1, { nextSeq: 7 }), tally(2, { nextSeq: 5 })] });
  await commit(first.store, 2, { tally: [tally(1, { nextSeq: 9 })] });
  await commit(first.store, 3);
  await first.store.close();
  const { store: kept } = await openPostgresStore(options);
  // Nothing was written in between, so nothing is lost.
  expect((await kept.load()).tallies.map(({ nextSeq }) => nextSeq)).toEqual([9, 5]);
  await kept.close();
  // The state of an asynchronous standby that was three rows of the chain behind.
  await admin.script(
    `DELETE FROM ${options.schema}_1.turn WHERE position > (SELECT max(position) - 3 FROM ${options.schema}_1.turn)`,
  );
  const why = "as a standby that was behind does when it takes over";
  expect(await failureOf(openPostgresStore(options))).toEqual({
    fault: "lost",
    message: `the database has lost 2 commits that had been acknowledged, ${why}`,
  });
  const { store } = await openPostgresStore(options);
  expect(fatesOf(options.acknowledged)).toMatchObject({ lost: 2 });
  const { turns, tallies } = await store.load();
  expect(turns.map(({ turn }) => turn)).toEqual([1]);
  expect(tallies.map(({ nextSeq }) => nextSeq)).toEqual([7, 5]);
  await commit(store, 2);
  await store.close();
});

test("open: a shard without any data is reported once too, and continues", async () => {
  const options = { ...newStore(server.url), acknowledged: acknowledgedOf(1) };
  const first = await openPostgresStore(options);
  for (const turn of [1, 2, 3]) await commit(first.store, turn);
  await first.store.close();
  await admin.script(`DELETE FROM ${options.schema}_0.turn`);
  expect(await failureOf(openPostgresStore(options))).toMatchObject({ fault: "lost" });
  const told = fatesOf(options.acknowledged);
  const { store } = await openPostgresStore(options);
  expect((await store.load()).turns).toEqual([]);
  await commit(store, 1);
  await store.close();
  expect(told.lost).toBeGreaterThan(0);
  expect(fatesOf(options.acknowledged)).toEqual(told);
});

test("commit: a commit that another owner has fenced is not counted as unknown", async () => {
  const acknowledged = acknowledgedOf(1);
  // Behind a pooler no session lock prevents the second opening.
  const options = { ...newStore(server.url), pooler: "transaction" as const, acknowledged };
  const first = await openPostgresStore(options);
  const second = await openPostgresStore(options);
  expect(await failureOf(commit(first.store, 1))).toMatchObject({ fault: "failed" });
  const third = await openPostgresStore(options);
  for (const { store } of [first, second, third]) await store.close();
  expect(fatesOf(acknowledged)).toEqual({ lost: 0, held: 0, notHeld: 0 });
});
