// Runs `holdfast backup` and `restore` while the server is under load.

import { afterAll, expect, test } from "bun:test";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "../client/client.ts";
import { type ServerProcess, startServer } from "../testing/server-process.ts";
import { exitCodes } from "./exit-codes.ts";
import { runInProcess } from "./testing/in-process.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-backup-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const inFolder = (name: string): string => join(folder, name);
const timeouts = { lease_timeout: "1h", expire_timeout: "24h" };

async function withServer<T>(
  data: string,
  flags: readonly string[],
  use: (client: Client, server: ServerProcess) => Promise<T>,
): Promise<T> {
  const server = await startServer({ data, flags: ["--shards", "3", "--threads", "3", ...flags] });
  try {
    return await use(createClient({ url: `http://127.0.0.1:${server.port}` }), server);
  } finally {
    expect(await server.stop()).toBe(0);
  }
}

function holdfast(words: readonly string[], server?: ServerProcess) {
  const url = server === undefined ? {} : { HOLDFAST_URL: `http://127.0.0.1:${server.port}` };
  return runInProcess(words, { env: url, cwd: folder });
}

/** The texts of the items of a queue, in all partitions. */
async function textsOf(client: Client, queue_name: string, partitions: number): Promise<string[]> {
  const texts: string[] = [];
  for (let partition = 0; partition < partitions; partition += 1) {
    const page = { queue_name, partition, pivot: "", limit: 10_000 };
    for (const { payload } of (await client.listItems(page)).items) texts.push(atob(payload));
  }
  return texts.sort();
}

test("backup: under load contains everything acknowledged before it, and no partial call", async () => {
  const data = inFolder("data");
  const made = await withServer(
    data,
    ["--backups", inFolder("backups")],
    async (client, server) => {
      await client.createQueue({ queue_name: "dead", ...timeouts, requested_partitions: 3 });
      await client.createQueue({
        queue_name: "orders",
        ...timeouts,
        dead_queue: "dead",
        requested_partitions: 3,
      });
      const orders = client.queue("orders");
      for (let index = 0; index < 300; index += 1) await orders.produce(`before ${index}`);
      // Dead items move between the shards meanwhile.
      let isOver = false;
      const load = (async () => {
        for (let index = 0; !isOver; index += 1) {
          const lease = await client.lease({
            queue_name: "orders",
            client_id: `c${index}`,
            batch_size: 3,
          });
          const items = lease.items.map(({ id }) => ({ id, dead: true }));
          await client.retry({ queue_name: "orders", partition: lease.partition, items });
          await orders.produce([`during ${index}`, `during ${index} too`, `and ${index}`]);
        }
      })();
      const { code, out, error } = await holdfast(["backup", "--json"], server);
      isOver = true;
      await load;
      expect({ code, error }).toEqual({ code: 0, error: "" });
      return JSON.parse(out);
    },
  );
  expect(made.items).toBeGreaterThanOrEqual(300);
  expect(made.shards).toHaveLength(3);

  const restored = inFolder("restored");
  const { code, out } = await holdfast(["restore", made.folder, "--data", restored]);
  expect(code).toBe(0);
  expect(out).toContain(`${made.items} items in 2 queues`);
  await withServer(restored, [], async (client) => {
    // Items that were on their way to the dead queue at the backup arrive now, each once.
    const all = [...(await textsOf(client, "orders", 3)), ...(await textsOf(client, "dead", 3))];
    expect(new Set(all).size).toBe(all.length);
    const before = all.filter((text) => text.startsWith("before"));
    expect(before).toHaveLength(300);
    const [{ items }] = [
      await client.lease({ queue_name: "orders", client_id: "c", batch_size: 1 }),
    ];
    expect(items).toHaveLength(1);
  });
});

test("backup: without --backups it is refused with advice", async () => {
  await withServer(inFolder("off"), [], async (_, server) => {
    const { code, error } = await holdfast(["backup"], server);
    expect(code).toBe(exitCodes.refused.code);
    expect(error).toContain("backups are off; start the server with --backups <folder>");
  });
});

test("backup: if its folder cannot be made, nothing remains and the server continues", async () => {
  writeFileSync(inFolder("file"), "");
  await withServer(
    inFolder("unwritable"),
    ["--backups", inFolder("file")],
    async (client, server) => {
      const { code, error } = await holdfast(["backup"], server);
      expect(code).toBe(exitCodes.unable.code);
      expect(error).toContain("the backup could not be written");
      await client.createQueue({ queue_name: "q", ...timeouts });
      await client.queue("q").produce("goes on");
    },
  );
});

test("restore: an incomplete backup is refused, and nothing remains", async () => {
  const backups = inFolder("spoilt");
  const made = await withServer(inFolder("spoil"), ["--backups", backups], async (client) => {
    await client.createQueue({ queue_name: "q", ...timeouts, requested_partitions: 3 });
    for (let index = 0; index < 50; index += 1) await client.queue("q").produce(`item ${index}`);
    return client.backup();
  });
  const target = inFolder("target");
  const paths = made.shards.map(({ file }) => join(made.folder, file));
  const path = paths.find((one) => readFileSync(one).includes("item 1")) ?? "";
  const whole = readFileSync(path);

  const spoilt = Buffer.from(whole);
  spoilt.write("ITEM", spoilt.indexOf("item 1"));
  writeFileSync(path, spoilt);
  const flipped = await holdfast(["restore", made.folder, "--data", target]);
  expect(flipped.code).toBe(exitCodes.usage.code);
  expect(flipped.error).toContain("the backup is incomplete");

  writeFileSync(path, whole);
  truncateSync(path, whole.length - 4_096);
  const short = await holdfast(["restore", made.folder, "--data", target]);
  expect(short.error).toContain(`expected ${whole.length} bytes, got ${whole.length - 4_096}`);
  expect(existsSync(target) ? readdirSync(target) : []).toEqual([]);

  rmSync(join(made.folder, "backup.json"));
  const bare = await holdfast(["restore", made.folder, "--data", target]);
  expect(bare.error).toContain("the folder is no backup; expected backup.json in it");
  expect(existsSync(target) ? readdirSync(target) : []).toEqual([]);
  const full = await holdfast(["restore", made.folder, "--data", inFolder("spoil")]);
  expect(full.error).toContain("--data is invalid; expected a folder that is empty");
});

test("restore: if killed, leaves all or nothing, and can be repeated", async () => {
  const backups = inFolder("killed-backups");
  const made = await withServer(inFolder("to-kill"), ["--backups", backups], async (client) => {
    await client.createQueue({ queue_name: "q", ...timeouts, requested_partitions: 3 });
    for (let index = 0; index < 20; index += 1) {
      await client.queue("q").produce(Array.from({ length: 500 }, () => "x".repeat(100)));
    }
    return client.backup();
  });
  for (const signal of ["SIGKILL", "SIGTERM"] as const) {
    const target = inFolder(`killed-${signal}`);
    const words = ["restore", made.folder, "--data", target];
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "main.ts"), ...words], {
      stdio: ["ignore", "ignore", "ignore"],
    });
    while (child.exitCode === null && !existsSync(join(target, "restoring"))) await Bun.sleep(0);
    child.kill(signal);
    await child.exited;
    const files = readdirSync(target).filter((name) => name !== "restoring");
    // The command may have ended before the signal.
    if (files.length > 0) expect(files.toSorted()).toEqual(made.shards.map(({ file }) => file));
    else expect(await holdfast(words)).toMatchObject({ code: 0 });
    await withServer(target, [], async (client) => {
      expect(await client.inspect({ queue_name: "q" })).toMatchObject({ queued: 10_000 });
    });
  }
});

test("restore: data of a test clock continues from its time", async () => {
  const flags = ["--test-clock", "--backups", inFolder("ahead-backups")];
  const at = await withServer(inFolder("ahead"), flags, async (client, server) => {
    await client.createQueue({ queue_name: "orders", ...timeouts });
    await client.queue("orders").produce("a");
    const { now } = await client.advance({ by: "12h" });
    const { folder: made } = JSON.parse((await holdfast(["backup", "--json"], server)).out);
    const restored = await holdfast(["restore", made, "--data", inFolder("ahead-restored")]);
    expect(restored).toMatchObject({ code: 0, error: "" });
    return Date.parse(now);
  });
  await withServer(inFolder("ahead-restored"), ["--test-clock"], async (client) => {
    expect(Date.parse((await client.advance({ by: "1h" })).now)).toBe(at + 3_600_000);
    expect(await client.queue("orders").inspect()).toMatchObject({ queued: 1 });
  });
});
