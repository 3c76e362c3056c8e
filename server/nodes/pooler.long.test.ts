// Three nodes whose database is behind a pooler in transaction mode: each statement may use another
// session.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pgbouncerPath, startPgbouncer } from "../../stores/postgres/testing/pgbouncer.ts";
import type { ChildServer } from "../../testing/child-server.ts";
import { Cluster } from "../../testing/cluster.ts";
import { underLoad } from "./testing/load.ts";

const isThere = existsSync(pgbouncerPath);
const cluster = new Cluster();
const folder = mkdtempSync(join(tmpdir(), "holdfast-pooler-"));
let pooler: ChildServer & { readonly url: string };

const start = () =>
  cluster.start({
    database: Number(new URL(pooler.url).port),
    flags: ["--database-pooler", "transaction"],
  });

beforeAll(async () => {
  if (!isThere) return;
  chmodSync(folder, 0o755);
  await cluster.startDatabase();
  pooler = await startPgbouncer(
    folder,
    `postgres://holdfast@127.0.0.1:${cluster.databasePort}/postgres`,
  );
  await Promise.all([start(), start(), start()]);
});
afterAll(async () => {
  await cluster.end();
  if (isThere) await pooler.stop();
  rmSync(folder, { recursive: true, force: true });
});

test.skipIf(!isThere)(
  "nodes behind a pooler: one is killed, one suspended for longer than its lease, one shut down",
  async () => {
    const { faults } = await underLoad(cluster, async (progress) => {
      const killed = await cluster.owner();
      await killed.stop("SIGKILL");
      const stopped = await cluster.takenFrom(killed);
      await progress(200);
      void stopped.stop("SIGSTOP");
      const next = await cluster.takenFrom(stopped);
      void stopped.stop("SIGCONT");
      await progress(200);
      await start();
      expect(await next.stop()).toBe(0);
      await cluster.takenFrom(next);
      await progress(200);
    });
    expect(faults).toEqual([]);
  },
);
