// A server whose database is a primary with a standby, as processes: the primary is killed, the
// standby is promoted, and the server continues there.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { createClient } from "../../../client/client.ts";
import { isReplicatedThere, Replicated } from "../../../stores/postgres/testing/replicated.ts";
import { runServer, type ServerProcess, startServer } from "../../../testing/server-process.ts";

let folder: string;
let database: Replicated;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-failover-"));
  if (isReplicatedThere) database = await Replicated.start(folder);
});
afterEach(async () => {
  if (isReplicatedThere) await database.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A URL of both hosts, the standby first. */
function bothHosts(): string {
  const [standby, primary] = [database.standby, database.primary].map(({ url }) => new URL(url));
  const { host = "" } = standby ?? {};
  return database.standby.url.replace(host, `${host},${primary?.host}`);
}

const start = (...flags: readonly string[]): Promise<ServerProcess> =>
  startServer({
    data: join(folder, "unused"),
    flags: [
      ...["--store", "postgres", "--database-url", bothHosts()],
      ...["--shards", "1", ...flags],
    ],
  });
const clientOf = ({ port }: ServerProcess) => createClient({ url: `http://127.0.0.1:${port}` });
const queueOf = (server: ServerProcess) => clientOf(server).queue("orders");
type Queue = ReturnType<typeof queueOf>;

const definition = { lease_timeout: "10m", expire_timeout: "1h" };

/** Produces items one by one until `end` is called; `acknowledged` lists the acknowledged ones. */
function producing(queue: Queue, name: string) {
  const acknowledged: string[] = [];
  let isRunning = true;
  const work = (async () => {
    for (let number = 0; isRunning; number += 1) {
      const item = `${name} ${number}`;
      if ((await queue.produce(item).catch(() => null)) !== null) acknowledged.push(item);
    }
  })();
  const end = async (): Promise<void> => {
    isRunning = false;
    await work;
  };
  const reach = async (count: number): Promise<void> => {
    while (acknowledged.length < count) await Bun.sleep(10);
  };
  return { acknowledged, end, reach };
}

/** Leases and completes all items; returns their texts. */
async function drain(queue: Queue): Promise<string[]> {
  const found: string[] = [];
  while ((await queue.inspect()).queued > 0) {
    const lease = await queue.lease({ batch: 100 });
    found.push(...(lease?.items.map((item) => item.text()) ?? []));
    await lease?.complete();
  }
  return found;
}

test.skipIf(!isReplicatedThere)(
  "start: a standby is skipped, and refused if there is no primary",
  async () => {
    const flags = ["--port", "0", "--store", "postgres", "--database-url"];
    const { code, output } = await runServer([...flags, database.standby.url]);
    expect(code).not.toBe(0);
    expect(output).toContain("the database is a standby; expected the primary");
    const server = await start("--database-schema", "other");
    expect(await server.stop()).toBe(0);
    const refused = await runServer([...flags, database.primary.url, "--require-replica"]);
    expect(refused.output).toContain("commits wait for no standby");
  },
);

test.skipIf(!isReplicatedThere)(
  "failover to a synchronous standby: everything acknowledged is there and delivered once",
  async () => {
    await database.waitForStandby();
    const strict = await start("--require-replica", "--database-schema", "strict");
    expect(await strict.stop()).toBe(0);
    const server = await start();
    const queue = queueOf(server);
    await queue.create(definition);
    await queue.produce(["first", "second"]);
    const lease = await queue.lease({ batch: 2 });
    await lease?.complete();
    const producers = ["a", "b", "c", "d"].map((name) => producing(queue, name));
    await Promise.all(producers.map(({ reach }) => reach(30)));
    await database.killPrimary();
    await database.promote();
    const counts = producers.map(({ acknowledged }) => acknowledged.length);
    await Promise.all(producers.map(({ reach }, index) => reach(10 + (counts[index] ?? 0))));
    await Promise.all(producers.map(({ end }) => end()));
    const found = await drain(queue);
    expect(found.toSorted()).toEqual(producers.flatMap((one) => one.acknowledged).toSorted());
    expect(server.log()).not.toContain("has lost");
    expect(await server.stop()).toBe(0);
  },
);

test.skipIf(!isReplicatedThere)(
  "--require-replica: once commits wait for no standby, nothing is acknowledged until they do again",
  async () => {
    await database.waitForStandby();
    const server = await start("--require-replica");
    const queue = queueOf(server);
    await queue.create(definition);
    const { acknowledged, end, reach } = producing(queue, "a");
    await reach(10);
    const sql = new SQL(database.primary.url, { max: 1 });
    await sql`ALTER SYSTEM RESET synchronous_standby_names`;
    await sql`SELECT pg_reload_conf()`;
    await sql.close();
    while (!server.log().includes("commits wait for no standby; expected")) await Bun.sleep(10);
    const count = acknowledged.length;
    await database.waitForStandby();
    await reach(count + 10);
    await end();
    expect((await drain(queue)).toSorted()).toEqual(acknowledged.toSorted());
    expect(await server.stop()).toBe(0);
  },
);

test.skipIf(!isReplicatedThere)(
  "--require-replica: a produce that waits for its standby is not acknowledged when commits stop waiting",
  async () => {
    await database.waitForStandby();
    const server = await start("--require-replica");
    const queue = queueOf(server);
    await queue.create(definition);
    await queue.produce("first");
    const sql = new SQL(database.primary.url, { max: 1 });
    database.pauseStandby();
    const produced = queue.produce("second").then(() => "acknowledged");
    for (let waiting = 0; waiting === 0; await Bun.sleep(5)) {
      [{ waiting }] =
        await sql`SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
    }
    await sql`ALTER SYSTEM RESET synchronous_standby_names`;
    await sql`SELECT pg_reload_conf()`;
    await sql.close();
    const noticed = (async () => {
      while (!server.log().includes("commits wait for no standby any more")) await Bun.sleep(5);
      return "noticed";
    })();
    const first = await Promise.race([produced, noticed]);
    database.resumeStandby();
    expect(first).toBe("noticed");
    await database.waitForStandby();
    expect(await produced).toBe("acknowledged");
    expect(await drain(queue)).toEqual(["first", "second"]);
    expect(await server.stop()).toBe(0);
  },
);

test.skipIf(!isReplicatedThere)(
  "failover to a standby that was behind: lost commits are reported, and service continues",
  async () => {
    const server = await start();
    const queue = queueOf(server);
    await queue.create(definition);
    await queue.produce("kept");
    await database.caughtUp();
    await database.stopStandby();
    await queue.produce("lost");
    await database.killPrimary();
    await database.startStandby();
    await database.promote();
    await queue.produce("later");
    expect(await drain(queue)).toEqual(["kept", "later"]);
    while (!/the database has lost .+ that had been acknowledged/.test(server.log())) {
      await Bun.sleep(10);
    }
    const pageOf = (page: string) => fetch(`http://127.0.0.1:${server.port}/${page}`);
    expect(await (await pageOf("health")).json()).toMatchObject({ status: "commits_lost" });
    expect(await (await pageOf("metrics")).text()).toMatch(/^holdfast_lost_commits_total [1-9]/m);
    const { lost_commits } = await clientOf(server).confirmLoss({});
    expect(lost_commits).toBeGreaterThan(0);
    expect(await (await pageOf("health")).json()).toMatchObject({ status: "ok", shards_up: 1 });
    const metrics = await (await pageOf("metrics")).text();
    expect(metrics).toContain(`\nholdfast_lost_commits_total ${lost_commits}\n`);
    expect(metrics).toContain("\nholdfast_lost_commits_unconfirmed 0\n");
    expect(await server.stop()).toBe(0);
  },
);
