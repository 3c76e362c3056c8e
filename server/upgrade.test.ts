// The whole server on a data folder of the previous format: what was in it is still there.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Connection } from "../bench/http-client.ts";
import { startServer } from "../bench/server-process.ts";
import format1 from "../stores/sqlite/format-1.sql" with { type: "text" };

interface Body {
  readonly [key: string]: unknown;
}

async function withServer<T>(
  data: string,
  use: (call: (path: string, body: Body) => Promise<Body>) => Promise<T>,
): Promise<T> {
  const server = await startServer({ data, flags: ["--shards", "1"] });
  const connection = await Connection.open(server.port);
  try {
    return await use(async (path, body) => {
      const reply = await connection.post(path, JSON.stringify(body));
      const answer = JSON.parse(reply.body) as Body;
      if (reply.status !== 200) throw new Error(`${path} was answered ${reply.body}`);
      return answer;
    });
  } finally {
    connection.close();
    expect(await server.stop()).toBe(0);
  }
}

/** Writes a file as the previous format has it: each item in a row of its own. */
function downgrade(path: string): void {
  const now = `${path}-now`;
  renameSync(path, now);
  using database = new Database(path, { create: true });
  database.run("PRAGMA auto_vacuum = INCREMENTAL");
  database.run(format1);
  database.run("ATTACH ? AS now", [now]);
  const packs = database.query("SELECT count(*) FROM now.item WHERE count > 1").values();
  expect(packs).toEqual([[0]]);
  const columns =
    "key, created_at, queued_at, expire_deadline, early, attempts, kind, encoding, reference, source_id, payload, check_sum";
  database.run(`INSERT INTO main.item (${columns}) SELECT ${columns} FROM now.item`);
  for (const table of ["scheduled", "lease", "tally", "queue", "turn", "identity"]) {
    const had = database.query(`PRAGMA main.table_info(${table})`).values();
    const names = had.map(([, name]) => String(name)).join(", ");
    database.run(`INSERT INTO main.${table} SELECT ${names} FROM now.${table}`);
  }
  database.run(
    `PRAGMA main.application_id = ${database.query("PRAGMA now.application_id").values()[0]?.[0]}`,
  );
  database.run("PRAGMA main.user_version = 1");
  database.run("DETACH now");
  rmSync(now);
}

const orders = { queue_name: "orders" };
const timed = { ...orders, request_timeout: "1m" };
const page = { ...orders, partition: 0, pivot: "", limit: 100 };

test("upgrade: a data folder of format 1 is opened with all that was in it", async () => {
  const data = mkdtempSync(join(tmpdir(), "holdfast-upgrade-"));
  try {
    const before = await withServer(data, async (call) => {
      const timeouts = { lease_timeout: "60m", expire_timeout: "24h" };
      await call("/v1/queues.create", {
        ...orders,
        ...timeouts,
        reference: "kept",
        max_attempts: 7,
      });
      // One item a call, so that none shares a row.
      for (const utf8 of ["leased", "retried", "ready", "last"]) {
        await call("/v1/queue.produce", {
          ...timed,
          items: [{ utf8, kind: utf8, reference: "r" }],
        });
      }
      const later = new Date(Date.now() + 3_600_000).toISOString();
      await call("/v1/queue.produce", { ...timed, items: [{ utf8: "later", enqueue_at: later }] });
      const lease = { ...timed, batch_size: 1 };
      const leased = await call("/v1/queue.lease", { ...lease, client_id: "a" });
      const retried = await call("/v1/queue.lease", { ...lease, client_id: "b" });
      const [{ id }] = retried["items"] as [{ id: string }];
      await call("/v1/queue.retry", { ...orders, partition: 0, items: [{ id }] });
      return {
        leased,
        items: await call("/v1/storage/items.list", page),
        scheduled: await call("/v1/storage/scheduled.list", page),
        info: await call("/v1/queues.info", orders),
      };
    });
    const file = join(data, "shard-0.db");
    downgrade(file);

    await withServer(data, async (call) => {
      expect(await call("/v1/storage/items.list", page)).toEqual(before.items);
      expect(await call("/v1/storage/scheduled.list", page)).toEqual(before.scheduled);
      expect(await call("/v1/queues.info", orders)).toEqual(before.info);
      // Who held an item before the upgrade completes it after.
      const ids = (before.leased["items"] as { id: string }[]).map(({ id }) => id);
      await call("/v1/queue.complete", { ...timed, partition: 0, ids });
      const rest = await call("/v1/queue.lease", { ...timed, client_id: "c", batch_size: 9 });
      expect(rest["items"]).toMatchObject([
        { kind: "ready", attempts: 1 },
        { kind: "last", attempts: 1 },
        { kind: "retried", attempts: 2 },
      ]);
    });
    using database = new Database(file, { readonly: true });
    expect(database.query("PRAGMA user_version").values()).toEqual([[3]]);
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}, 60_000);
