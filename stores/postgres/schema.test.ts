// Migration of invented schemas, and of the two real ones.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { Connection, type SqlRow } from "./connection.ts";
import { PostgresNodes } from "./nodes.ts";
import { migrate, type Schema } from "./schema.ts";
import { openPostgresStore } from "./store.ts";
import { failureOf, newStore } from "./testing/opened.ts";
import { testServer } from "./testing/server.ts";

const server = testServer();
let connection: Connection;
let count = 0;
/** The schema of the current test. */
let name: string;

beforeAll(async () => {
  connection = await Connection.open({ url: server.url });
});
beforeEach(() => {
  count += 1;
  name = `"made_${count}"`;
});
afterAll(() => connection.close());

const placeholder = "place";
const oldest: Schema = { placeholder, text: "CREATE TABLE place.thing (a bigint)", upgrades: [] };
const newest: Schema = {
  placeholder,
  text: "CREATE TABLE place.thing (a bigint, b bigint DEFAULT 2); CREATE INDEX thing_b ON place.thing (b)",
  upgrades: [
    "ALTER TABLE place.thing ADD COLUMN b bigint DEFAULT 2; UPDATE place.thing SET a = a + 1",
    "CREATE INDEX thing_b ON place.thing (b); UPDATE place.thing SET a = a * 10",
  ],
};
const [step = "", last = ""] = newest.upgrades;
const content = () => "INSERT INTO place.thing VALUES (1), (2)";

async function format(): Promise<unknown> {
  return (await connection.rows(`SELECT number FROM ${name}.format`))[0]?.[0];
}

function things(): Promise<SqlRow[]> {
  return connection.rows(`SELECT * FROM ${name}.thing ORDER BY a`);
}

async function shape(): Promise<SqlRow[]> {
  const bare = name.slice(1, -1);
  return connection.rows(`
    SELECT table_name || '.' || column_name || ' ' || data_type || coalesce(' = ' || column_default, '')
    FROM information_schema.columns WHERE table_schema = '${bare}'
    UNION ALL SELECT indexname::text FROM pg_indexes WHERE schemaname = '${bare}' ORDER BY 1`);
}

test("migrate: a new schema has the newest format and its content at once", async () => {
  await migrate(connection, name, newest, content);
  expect(await format()).toBe(3);
  expect(await things()).toEqual([
    [1, 2],
    [2, 2],
  ]);
});

test("migrate: an older schema takes every step once, and nothing else", async () => {
  await migrate(connection, name, oldest, content);
  expect(await format()).toBe(1);
  for (let start = 0; start < 2; start += 1) {
    await migrate(connection, name, newest, content);
    expect(await format()).toBe(3);
    expect(await things()).toEqual([
      [20, 2],
      [30, 2],
    ]);
  }
  const upgraded = await shape();
  name = `"fresh_${count}"`;
  await migrate(connection, name, newest);
  expect(await shape()).toEqual(upgraded);
});

test("migrate: a concurrent migration finds it done, and takes no step again", async () => {
  const others = await Promise.all(
    Array.from({ length: 4 }, () => Connection.open({ url: server.url })),
  );
  const all = (schema: Schema) =>
    Promise.all(others.map((other) => migrate(other, name, schema, content)));
  await all(oldest);
  // Only the format prevents a second upgrade.
  await all({ ...oldest, upgrades: ["UPDATE place.thing SET a = a + 1"] });
  expect(await format()).toBe(2);
  expect(await things()).toEqual([[2], [3]]);
  for (const other of others) await other.close();
});

test("migrate: a step that fails leaves no change, and earlier steps stay", async () => {
  await migrate(connection, name, oldest, content);
  const broken = { ...newest, upgrades: [step, `${last}; INSERT INTO nowhere VALUES (1)`] };
  expect((await failureOf(migrate(connection, name, broken))).fault).toBe("failed");
  expect(await format()).toBe(2);
  expect(await things()).toEqual([
    [2, 2],
    [3, 2],
  ]);
  await migrate(connection, name, newest);
  expect(await format()).toBe(3);
});

test("migrate: a new schema whose creation fails does not exist", async () => {
  const broken = { ...newest, text: `${newest.text}; INSERT INTO nowhere VALUES (1)` };
  expect((await failureOf(migrate(connection, name, broken))).fault).toBe("failed");
  expect(await shape()).toEqual([]);
  await migrate(connection, name, newest);
});

const later = {
  fault: "unusable",
  message: "the store was written by a later version; expected format 1 or less, got 2",
} as const;

test("open: a shard of a later version and one without a format are refused and left alone", async () => {
  const options = newStore(server.url);
  const schema = `${options.schema}_0`;
  await (await openPostgresStore(options)).store.close();
  const chain = () => connection.rows(`SELECT position FROM ${schema}.turn`);
  const before = await chain();
  await connection.script(`UPDATE ${schema}.format SET number = 2`);
  expect(await failureOf(openPostgresStore(options))).toEqual(later);
  await connection.script(`DROP TABLE ${schema}.format`);
  expect(await failureOf(openPostgresStore(options))).toEqual({
    fault: "unusable",
    message: `schema "${schema}" has no format: another program made it, or a version before the first release; name another one with --database-schema, and bring items over by that version's export`,
  });
  expect(await chain()).toEqual(before);
});

test("open: nodes of a later version are refused", async () => {
  const cluster = { shards: 1, database: 0, databases: 1 };
  const options = { url: server.url, schema: "later", leaseMs: 5_000, cluster };
  await (await PostgresNodes.open(options)).close();
  await connection.script("UPDATE later_nodes.format SET number = 2");
  expect(await failureOf(PostgresNodes.open(options))).toEqual(later);
});
