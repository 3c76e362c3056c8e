// Interrupts commands: what they report and leave behind, and how they are resumed.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "../client/client.ts";
import { type ListeningApp, listeningApp } from "../server/testing/listening-app.ts";
import { exitCodes } from "./exit-codes.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-interrupt-"));
let server: ListeningApp;
let client: Client;

beforeAll(async () => {
  server = await listeningApp();
  client = createClient({ url: server.url });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

function start(...words: string[]) {
  return Bun.spawn([process.execPath, join(import.meta.dir, "main.ts"), ...words], {
    cwd: folder,
    env: { ...process.env, HOLDFAST_URL: server.url },
    stdio: ["pipe", "pipe", "pipe"],
  });
}

async function ended(child: ReturnType<typeof start>) {
  const [out, error] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, out, error };
}

async function until(isReached: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isReached())) await Bun.sleep(5);
}

async function queueOf(name: string) {
  const queue = client.queue(name);
  await queue.create({ lease_timeout: "1m", expire_timeout: "1h", requested_partitions: 2 });
  return queue;
}

test("produce: an interrupt prints how many items are stored", async () => {
  const queue = await queueOf("interrupted");
  const child = start("produce", "interrupted", "--batch", "1");
  child.stdin.write('"a"\n"b"\n"c"\n');
  await child.stdin.flush();
  // The command holds the last line back until the next line or the end of the input.
  await until(async () => (await queue.inspect()).queued === 2);
  child.kill("SIGINT");
  const { code, out, error } = await ended(child);
  expect(code).toBe(exitCodes.interrupted.code);
  // The reply to the second call may be outstanding; then the command reports an unknown outcome.
  expect([
    "produced 2 items into interrupted\n",
    "produced 1 item into interrupted\ninterrupted; 1 more item may have been stored or not\n",
  ]).toContain(out + error);
});

test("bench: an interrupt deletes its queue", async () => {
  const benches = async () =>
    (await client.listQueues({ pivot: "bench", limit: 10 })).items
      .map(({ queue_name }) => queue_name)
      .filter((name) => name.startsWith("bench"));
  const child = start("bench", "--items", "1000000");
  await until(async () => {
    const [queue_name] = await benches();
    return queue_name !== undefined && (await client.inspect({ queue_name })).queued > 0;
  });
  child.kill("SIGINT");
  expect((await ended(child)).code).toBe(exitCodes.interrupted.code);
  expect(await benches()).toEqual([]);
});

test.each(["SIGINT", "SIGKILL"] as const)(
  "export and import: can be resumed after %s, and each item is stored once",
  async (signal) => {
    const from = await queueOf(`from-${signal}`);
    const texts = Array.from({ length: 3_000 }, (_, index) => `item ${index}`);
    for (let at = 0; at < texts.length; at += 500) await from.produce(texts.slice(at, at + 500));
    const file = `${signal}.jsonl`;
    const path = join(folder, file);

    const exporting = start("export", from.name, "--out", file, "--page", "20");
    await until(() => existsSync(path) && readFileSync(path).includes("\n"));
    exporting.kill(signal);
    await exporting.exited;
    expect(await ended(start("export", from.name, "--out", file, "--resume"))).toMatchObject({
      code: 0,
      out: `exported ${texts.length} items of ${from.name} to ${file}\n`,
    });

    const to = await queueOf(`to-${signal}`);
    const importing = start("import", to.name, file, "--batch", "20");
    await until(async () => (await to.inspect()).queued > 0);
    importing.kill(signal);
    await importing.exited;
    // Only answered calls are recorded; the `source_id` prevents duplicates of an unanswered one.
    if (existsSync(`${path}.imported`))
      expect((await ended(start("import", to.name, file))).error).toContain("expected --resume");
    expect((await ended(start("import", to.name, file, "--resume"))).code).toBe(0);
    const there = await Promise.all(
      [0, 1].map((partition) =>
        client.listItems({ queue_name: to.name, partition, pivot: "", limit: 10_000 }),
      ),
    );
    const found = there.flatMap(({ items }) => items.map(({ payload }) => atob(payload)));
    expect(found.toSorted()).toEqual(texts.toSorted());
  },
);
