// Stores in sessions of a role with unusual settings.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { Client } from "pg";
import { entry, item, tally } from "../conformance/values.ts";
import { noReads, type Store } from "../store.ts";
import { Connection } from "./connection.ts";
import type { DatabaseOptions } from "./database.ts";
import { openPostgresStore } from "./store.ts";
import { commit, failureOf, newStore } from "./testing/opened.ts";
import { testServer } from "./testing/server.ts";

const server = testServer();
let admin: Connection;

beforeAll(async () => {
  admin = await Connection.open({ url: server.url });
});
afterAll(() => admin.close());

/** Options of a new store whose role has these settings. */
async function storeWith(settings: Readonly<Record<string, string>>): Promise<DatabaseOptions> {
  const options = newStore(server.url);
  const role = `${options.schema}_role`;
  await admin.script(
    `CREATE ROLE ${role} LOGIN; GRANT CREATE ON DATABASE postgres TO ${role}; GRANT pg_signal_backend TO ${role}`,
  );
  for (const [name, value] of Object.entries(settings)) {
    await admin.script(`ALTER ROLE ${role} SET ${name} = '${value}'`);
  }
  return { ...options, url: Object.assign(new URL(server.url), { username: role }).href };
}

const payload = Uint8Array.from({ length: 256 }, (_, index) => index);

async function headOf(store: Store) {
  const heads = [{ slot: 1, from: 1, before: 9, items: 9 }];
  const read = await store.read({ ...noReads, heads, headBytes: 10_000 });
  return read.heads.get(1)?.found;
}

test.each([
  ["bytea_output", "escape"],
  ["default_transaction_read_only", "on"],
  ["default_transaction_isolation", "serializable"],
  ["standard_conforming_strings", "off"],
  ["synchronous_commit", "off"],
  ["exit_on_error", "on"],
])(
  "open: reads and writes of a store do not depend on %s '%s' of its role",
  async (name, value) => {
    const options = await storeWith({ [name]: value });
    const { store } = await openPostgresStore(options);
    const written = item(1, 1, { payload, headers: '{"a":"\\\\x00"}' });
    const queue = [entry(1, "a\\x00'")];
    await commit(store, 1, { insert: [written], tally: [tally(1, { nextSeq: 2 })], queue });
    await store.close();
    const again = await openPostgresStore(options);
    expect(await headOf(again.store)).toMatchObject([written]);
    expect((await again.store.load()).queues).toEqual(queue);
    await again.store.close();
  },
);

test("commit: a commit waiting for a lock is not cancelled by timeouts of its role", async () => {
  const timeouts = { statement_timeout: "400ms", lock_timeout: "400ms" };
  // Not in every tested version.
  const all = { ...timeouts, transaction_timeout: "400ms" };
  const options = await storeWith(all);
  const { store } = await openPostgresStore(options);
  await admin.script(`BEGIN; LOCK TABLE ${options.schema}_0.turn IN ACCESS EXCLUSIVE MODE`);
  const committed = commit(store, 1);
  // Other sessions with the settings fail, though they began to wait later.
  for (const name of Object.keys(all)) {
    const others = Object.keys(all).filter((one) => one !== name);
    const impatient = new Client({ connectionString: options.url });
    impatient.on("error", () => undefined);
    await impatient.connect();
    await impatient.query(others.map((other) => `SET ${other} = 0`).join(";"));
    const failed = await impatient.query(`TABLE ${options.schema}_0.turn`).catch(() => "failed");
    expect([name, failed]).toEqual([name, "failed"]);
    await impatient.end().catch(() => undefined);
  }
  await admin.script("COMMIT");
  await committed;
  await store.close();
});

test("commit: a session idle for longer than idle_session_timeout of its role stays open", async () => {
  const options = await storeWith({ idle_session_timeout: "400ms" });
  const { store } = await openPostgresStore(options);
  const impatient = new Client({ connectionString: options.url });
  const ended = new Promise((resolve) => impatient.on("error", resolve));
  await impatient.connect();
  await ended;
  await commit(store, 1);
  await store.close();
});

test("commit: the warning of a cancelled wait for a standby is received, whatever client_min_messages of its role", async () => {
  const options = await storeWith({ client_min_messages: "error" });
  const { store } = await openPostgresStore(options);
  await commit(store, 1);
  await admin.script("ALTER SYSTEM SET synchronous_standby_names = 'absent'");
  await admin.script("SELECT pg_reload_conf()");
  const failure = failureOf(
    (async () => {
      for (let turn = 2; ; turn += 1) await commit(store, turn);
    })(),
  );
  const cancel =
    "SELECT coalesce(bool_or(pg_cancel_backend(pid)), false) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  try {
    for (let cancelled: unknown = false; cancelled !== true; ) {
      cancelled = (await admin.rows(cancel))[0]?.[0];
    }
    // Another commit would wait as well.
    await admin.script("ALTER SYSTEM RESET synchronous_standby_names");
    expect(await failure).toMatchObject({
      message: "it is unknown whether a standby has the commit",
    });
  } finally {
    await admin.script("ALTER SYSTEM RESET synchronous_standby_names");
    await admin.script("SELECT pg_reload_conf()");
    await store.close();
  }
});

test("open: options in the URL override none of the session's settings", async () => {
  const options = newStore(server.url);
  const url = `${server.url}?options=-c%20bytea_output%3Descape`;
  const { store } = await openPostgresStore({ ...options, url });
  const written = item(1, 1, { payload });
  await commit(store, 1, { insert: [written], tally: [tally(1, { nextSeq: 2 })] });
  await store.close();
  const again = await openPostgresStore({ ...options, url });
  expect(await headOf(again.store)).toMatchObject([written]);
  await again.store.close();
});

test.each([
  ["bytea_output", "escape", "hex"],
  ["synchronous_commit", "off", "on"],
  ["synchronous_commit", "local", "on"],
  ["client_min_messages", "error", "warning"],
  ["default_transaction_read_only", "on", "off"],
  ["statement_timeout", "1min", "0"],
  ["lock_timeout", "1min", "0"],
  ["transaction_timeout", "1min", "0"],
])("open: behind a pooler, %s '%s' of the role is refused", async (name, value, expected) => {
  const options = await storeWith({ [name]: value });
  expect(await failureOf(openPostgresStore({ ...options, pooler: "transaction" }))).toEqual({
    fault: "unusable",
    message: `${name} of the database role is unusable; expected '${expected}', got '${value}'`,
  });
});

test.each([
  ["synchronous_commit", "remote_apply"],
  ["client_min_messages", "notice"],
  ["idle_session_timeout", "1min"],
  ["jit", "on"],
])("open: behind a pooler, %s '%s' of the role is accepted", async (name, value) => {
  const options = await storeWith({ [name]: value });
  const { store } = await openPostgresStore({ ...options, pooler: "transaction" });
  await commit(store, 1);
  await store.close();
});

test("read: a setting that changes behind a pooler causes no wrong payload", async () => {
  const options = { ...newStore(server.url), pooler: "transaction" as const };
  const { store } = await openPostgresStore(options);
  const receipts = new TextEncoder().encode("abcdefgh");
  await commit(store, 1, { receipts });
  const entries = async () => (await store.load()).receipts.map((one) => one.entries);
  await admin.script("ALTER SYSTEM SET bytea_output = 'escape'");
  await admin.script("SELECT pg_reload_conf()");
  // From now on one of the session's next statements reads the setting.
  const changed = failureOf(
    (async () => {
      for (;;) expect(await entries()).toEqual([receipts]);
    })(),
  );
  try {
    expect(await changed).toEqual({ fault: "failed", message: "the database failed" });
    expect(await failureOf(openPostgresStore(options))).toMatchObject({ fault: "unusable" });
  } finally {
    await admin.script("ALTER SYSTEM RESET bytea_output");
    await admin.script("SELECT pg_reload_conf()");
    await store.close();
  }
});

test("open: a database in another encoding is refused", async () => {
  await admin.script("CREATE DATABASE latin ENCODING LATIN1 TEMPLATE template0");
  const url = Object.assign(new URL(server.url), { pathname: "/latin" }).href;
  expect(await failureOf(openPostgresStore(newStore(url)))).toEqual({
    fault: "unusable",
    message: "server_encoding of the database is unusable; expected 'UTF8', got 'LATIN1'",
  });
});
