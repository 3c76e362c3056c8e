// A server with PostgreSQL, as processes: acknowledged items survive restarts of both.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exitCodes } from "../../../cli/exit-codes.ts";
import { createClient } from "../../../client/client.ts";
import { type Postgres, startPostgres } from "../../../scripts/postgres.ts";
import { runServer, type ServerProcess, startServer } from "../../../testing/server-process.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-postgres-server-"));
chmodSync(folder, 0o755);
const data = join(folder, "data");
let database: Postgres;

beforeAll(async () => {
  database = await startPostgres({ data });
});
afterAll(async () => {
  await database.stop();
  rmSync(folder, { recursive: true, force: true });
});

const inDatabase = (): string[] => ["--store", "postgres", "--database-url", database.url];
const start = (...flags: string[]): Promise<ServerProcess> =>
  startServer({ data: join(folder, "unused"), flags: [...inDatabase(), ...flags] });
const queueOf = ({ port }: ServerProcess) =>
  createClient({ url: `http://127.0.0.1:${port}` }).queue("orders");

test("everything acknowledged is there after the server was killed and the database restarted", async () => {
  const first = await start("--shards", "2");
  const queue = queueOf(first);
  await queue.create({ lease_timeout: "1m", expire_timeout: "1h", requested_partitions: 2 });
  await queue.produce(Array.from({ length: 50 }, (_, index) => `item ${index}`));
  const held = await queue.lease({ batch: 5 });
  await first.stop("SIGKILL");

  const second = await start("--shards", "2");
  const again = queueOf(second);
  expect(await again.inspect()).toMatchObject({ queued: 50 - (held?.items.length ?? 0) });
  const port = Number(new URL(database.url).port);
  await database.stop();
  database = await startPostgres({ data, port });
  // The client retries while the shard is unavailable.
  await again.produce("one more");
  expect(await again.inspect()).toMatchObject({ queued: 51 - (held?.items.length ?? 0) });
  expect(await second.stop()).toBe(0);
});

test("without --shards a database keeps its number of shards, a new one has one, and another number is refused", async () => {
  const two = ["--database-schema", "two"];
  expect(await (await start(...two, "--shards", "2")).stop()).toBe(0);
  const again = await start(...two);
  const found = await fetch(`http://127.0.0.1:${again.port}/health`);
  expect(await found.json()).toMatchObject({ shards: 2 });
  expect(await again.stop()).toBe(0);
  const flags = ["--port", "0", "--shards", "1"];
  const { code, output } = await runServer([...flags, ...inDatabase(), ...two]);
  expect({ code, output }).toEqual({
    code: exitCodes.usage.code,
    output: expect.stringContaining("expected --shards 2, got 1"),
  });
  const one = await start("--database-schema", "one");
  const health = await fetch(`http://127.0.0.1:${one.port}/health`);
  expect(await health.json()).toMatchObject({ shards: 1 });
  expect(await one.stop()).toBe(0);
});
