// A store behind a pooler in transaction mode, where each statement may have another session.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import type { ChildServer } from "../../testing/child-server.ts";
import { describeStore } from "../conformance/suite.ts";
import { item } from "../conformance/values.ts";
import { openPostgresStore } from "./store.ts";
import { commit, failureOf, newStore, openNew } from "./testing/opened.ts";
import { pgbouncerPath, startPgbouncer } from "./testing/pgbouncer.ts";
import { testServer } from "./testing/server.ts";

describe.if(existsSync(pgbouncerPath))("with pgbouncer", () => {
  const server = testServer();
  let pooler: ChildServer & { readonly url: string };
  beforeAll(async () => {
    pooler = await startPgbouncer(server.folder, server.url);
  });
  afterAll(() => pooler.stop());

  const newPooled = () => ({ ...newStore(pooler.url), pooler: "transaction" as const });

  describeStore("postgres behind pgbouncer", () => openNew(newPooled()), [3, 4]);

  test("pgbouncer: a former owner of the shard can no longer write", async () => {
    const options = newPooled();
    const first = await openPostgresStore(options);
    await commit(first.store, 1, { insert: [item(1, 1)] });
    const second = await openPostgresStore(options);
    expect(await failureOf(commit(first.store, 2, { insert: [item(1, 2)] }))).toEqual({
      fault: "failed",
      message: "another server has taken over this part of the database",
    });
    await commit(second.store, 2, { insert: [item(1, 2)] });
    for (const { store } of [first, second]) await store.close();
  });
});
