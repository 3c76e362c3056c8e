// A store that requires a replica, on a primary with a synchronous standby: every acknowledged
// commit is on the standby's disk.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { acknowledgedOf, fatesOf } from "./acknowledged.ts";
import { Connection } from "./connection.ts";
import { openPostgresStore } from "./store.ts";
import { commit, failureOf, newStore } from "./testing/opened.ts";
import { isReplicatedThere, Replicated } from "./testing/replicated.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-replicated-"));
let database: Replicated;
let admin: Connection;

beforeAll(async () => {
  if (!isReplicatedThere) return;
  database = await Replicated.start(folder);
  admin = await Connection.open({ url: database.primary.url });
});
afterAll(async () => {
  if (isReplicatedThere) {
    await admin.close();
    await database.stop();
  }
  rmSync(folder, { recursive: true, force: true });
});

/** Waits until the condition is true in the database. */
async function until(condition: string): Promise<void> {
  while ((await admin.rows(`SELECT ${condition}`))[0]?.[0] !== true) await Bun.sleep(5);
}

async function wait(names: string): Promise<void> {
  await admin.script(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
  await admin.script("SELECT pg_reload_conf()");
  await until(`current_setting('synchronous_standby_names') = '${names}'`);
  // Wait until commits no longer wait, which is later than the change of the setting.
  if (names === "") await admin.script("CREATE TABLE written (); DROP TABLE written");
}

const waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'";

const newStrict = () => ({
  ...newStore(database.primary.url),
  ...{ requireReplica: true, acknowledged: acknowledgedOf(1), silenceMs: 1_000 },
});

describe.if(isReplicatedThere)("with a synchronous standby", () => {
  beforeEach(() => database.waitForStandby());

  test.each([
    "*",
    "walreceiver",
    "1 (walreceiver)",
    "FIRST 1 (walreceiver, other)",
    "any 1 (walreceiver, other)",
  ])("commit: acknowledged once the standby has it, with %j", async (names) => {
    await wait(names);
    const { store } = await openPostgresStore(newStrict());
    for (const turn of [1, 2, 3]) await commit(store, turn);
    await store.close();
  });

  test.each([
    ["is emptied", false, "commits wait for no standby any more"],
    ["is emptied and set again", true, "it is unknown whether a standby has the commit"],
  ])(
    "commit: not acknowledged if its wait ends because synchronous_standby_names %s",
    async (_, isSetAgain, message) => {
      const options = newStrict();
      const { store } = await openPostgresStore(options);
      await commit(store, 1);
      database.pauseStandby();
      try {
        const told = failureOf(commit(store, 2));
        await until(`count(*) = 1 ${waiting}`);
        // A session rereads the setting between statements. Stopped here, this one never reads the
        // empty value.
        const before = isSetAgain ? await admin.rows(`SELECT pid ${waiting}`) : [];
        for (const [pid] of before) process.kill(pid as number, "SIGSTOP");
        await wait("");
        if (isSetAgain) await wait("*");
        for (const [pid] of before) process.kill(pid as number, "SIGCONT");
        expect(await told).toEqual({ fault: "failed", message });
      } finally {
        database.resumeStandby();
      }
      await store.close();
      await database.waitForStandby();
      for (const _ of [1, 2]) await (await openPostgresStore(options)).store.close();
      expect(fatesOf(options.acknowledged)).toEqual({ lost: 0, held: 1, notHeld: 0 });
    },
  );

  test("open: the last owner's writes are not read until a standby has the beginning of the new owner", async () => {
    const options = newStrict();
    const { store } = await openPostgresStore(options);
    await commit(store, 1);
    await store.close();
    database.pauseStandby();
    try {
      const opened = failureOf(openPostgresStore(options));
      await until(`count(*) = 1 ${waiting}`);
      await wait("");
      expect(await opened).toEqual({
        fault: "failed",
        message: "commits wait for no standby any more",
      });
    } finally {
      database.resumeStandby();
    }
  });

  test("open: a role that cannot read the state of standbys is refused", async () => {
    await admin.script("CREATE ROLE blind LOGIN; GRANT CREATE ON DATABASE postgres TO blind");
    const url = Object.assign(new URL(database.primary.url), { username: "blind" }).href;
    const options = { ...newStrict(), url };
    expect(await failureOf(openPostgresStore(options))).toEqual({
      fault: "unusable",
      message:
        "what a standby has cannot be seen; expected a role with pg_monitor, got 'blind' without it",
    });
    await admin.script("GRANT pg_monitor TO blind");
    const { store } = await openPostgresStore(options);
    await commit(store, 1);
    await store.close();
  });
});
