// A store behind a pooler in transaction mode: each of its statements may have another session.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChildServer } from "../../bench/peers/child-server.ts";
import { type Postgres, startPostgres } from "../../scripts/postgres.ts";
import { describeStore } from "../conformance/suite.ts";
import { item } from "../conformance/values.ts";
import { openPostgresStore } from "./store.ts";
import { commit, failureOf, newStore, openNew } from "./testing/opened.ts";
import { pgbouncerPath, startPgbouncer } from "./testing/pgbouncer.ts";

const isThere = existsSync(pgbouncerPath);
const folder = mkdtempSync(join(tmpdir(), "holdfast-pooler-"));
chmodSync(folder, 0o755);
let server: Postgres;
let pooler: ChildServer & { readonly url: string };

beforeAll(async () => {
  if (!isThere) return;
  // It is killed with its data at the end.
  server = await startPostgres({ data: join(folder, "data"), settings: ["fsync=off"] });
  pooler = await startPgbouncer(folder, server.url);
});
afterAll(async () => {
  if (isThere) {
    await pooler.stop();
    await server.stop();
  }
  rmSync(folder, { recursive: true, force: true });
});

const newPooled = () => ({ ...newStore(pooler.url), pooler: "transaction" as const });

describe.if(isThere)("with pgbouncer", () => {
  describeStore("postgres behind pgbouncer", () => openNew(newPooled()));
});

test.skipIf(!isThere)("pooler: who lost the shard writes nothing any more", async () => {
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
