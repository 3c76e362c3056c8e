// The conformance suite on Debian's PostgreSQL, the oldest version that is tested.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asUser } from "../../testing/child-server.ts";
import { run } from "../../testing/install.ts";
import {
  type PostgresServer,
  postgresProgram,
  postgresPrograms,
  postgresUser,
  startPostgres,
} from "../../testing/postgres-server.ts";
import { describeStore } from "../conformance/suite.ts";
import { item, tally } from "../conformance/values.ts";
import { Connection } from "./connection.ts";
import { openPostgresStore } from "./store.ts";
import { commit, newStore, openNew } from "./testing/opened.ts";

const isThere = existsSync(postgresPrograms);
const folder = mkdtempSync(join(tmpdir(), "holdfast-debian-"));
chmodSync(folder, 0o755);
let server: PostgresServer | null = null;

beforeAll(async () => {
  if (isThere) server = await startPostgres(folder, ["fsync=off"]);
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe.if(isThere)("with Debian's PostgreSQL", () => {
  describeStore("postgres of Debian", () => openNew(newStore(server?.url ?? "")), [2]);

  test("pg_dump: a dump taken while stores are open can be restored and opened elsewhere", async () => {
    const url = server?.url ?? "";
    const shards = [0, 1].map((shard) => ({ ...newStore(url), schema: "dumped", shard }));
    const stores = await Promise.all(shards.map(openPostgresStore));
    for (const { store } of stores) {
      await commit(store, 1, { insert: [item(1, 1)], tally: [tally(1, { nextSeq: 2 })] });
    }
    const images = await Promise.all(stores.map(({ store }) => store.load()));
    const dump = join(server?.data ?? "", "dump");
    const tool = (name: string, words: readonly string[]) =>
      run(asUser(postgresUser, [postgresProgram(name), ...words]), { cwd: "/" });
    const flags = ["--format", "custom", "--schema", "dumped_*", "--file", dump];
    await tool("pg_dump", ["--dbname", url, ...flags]);
    const connection = await Connection.open({ url });
    await connection.script("CREATE DATABASE copy");
    await connection.close();
    const copy = Object.assign(new URL(url), { pathname: "/copy" }).href;
    await tool("pg_restore", ["--dbname", copy, "--exit-on-error", "--single-transaction", dump]);
    for (const [index, options] of shards.entries()) {
      const { store } = await openPostgresStore({ ...options, url: copy });
      expect([await store.load()]).toEqual(images.slice(index, index + 1));
      await commit(store, 2, { insert: [item(1, 2)] });
      await store.close();
    }
    for (const { store } of stores) await store.close();
  });
});
