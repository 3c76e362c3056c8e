// Servers whose files go back to an earlier state: a restored backup, a log without its end, one
// that is damaged. Items acknowledged before that may be lost; items acknowledged afterwards are
// not.

import { afterAll, expect, test } from "bun:test";
import {
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "../../../client/client.ts";
import { nameIn } from "../../../engine/simulation/bundle.ts";
import { type ServerProcess, startServer } from "../../../testing/server-process.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-going-back-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const timeouts = { lease_timeout: "1h", expire_timeout: "24h" };
const normal = ["--durability", "normal"];

/** A data folder and the server that has it open. */
class Site {
  readonly #data: string;
  readonly #shards: number;
  #server: ServerProcess | null = null;

  constructor(name: string, { shards = 1 }: { readonly shards?: number } = {}) {
    this.#data = join(folder, name);
    this.#shards = shards;
  }

  async start(...flags: readonly string[]): Promise<Client> {
    const server = await startServer({
      data: this.#data,
      flags: [
        "--shards",
        String(this.#shards),
        "--threads",
        "3",
        "--backups",
        `${this.#data}-backups`,
        ...flags,
      ],
    });
    this.#server = server;
    // Without keys the client repeats no call, so only the test's own calls are made.
    return createClient({ url: `http://127.0.0.1:${server.port}`, keys: false });
  }

  #log(shard: number): string {
    return join(this.#data, `shard-${shard}.db-wal`);
  }

  logBytes(shard = 0): number {
    return statSync(this.#log(shard)).size;
  }

  cutLog(shard: number, bytes: number): void {
    expect(this.logBytes(shard)).toBeGreaterThan(bytes);
    truncateSync(this.#log(shard), bytes);
  }

  flipByte(shard: number, at: number): void {
    const log = readFileSync(this.#log(shard));
    log[at] = (log[at] ?? 0) ^ 0xff;
    writeFileSync(this.#log(shard), log);
  }

  /** Copies the files of an idle shard; the returned function puts them back. */
  snapshot(shard: number): () => void {
    const names = [`shard-${shard}.db`, `shard-${shard}.db-wal`];
    const files = names.map(
      (name) => [join(this.#data, name), readFileSync(join(this.#data, name))] as const,
    );
    return () => {
      rmSync(join(this.#data, `shard-${shard}.db-mark`), { force: true });
      for (const [path, bytes] of files) writeFileSync(path, bytes);
    };
  }

  restore(from: string): void {
    rmSync(this.#data, { recursive: true });
    cpSync(from, this.#data, { recursive: true });
    rmSync(join(this.#data, "backup.json"), { force: true });
  }

  /** Kills the server and returns its log. */
  async kill(): Promise<string> {
    const server = this.#server;
    this.#server = null;
    await server?.stop("SIGKILL");
    return (await server?.wholeLog()) ?? "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

async function leased(client: Client, queue_name: string, batch_size = 10) {
  const request = { queue_name, client_id: "worker-1", batch_size, request_timeout: "1m" };
  return client.lease(request);
}

const textsIn = async (client: Client, queue: string): Promise<string[]> => {
  const found = client.queue(queue).find({ payload_head: 40, limit: 1_000 });
  return (await Array.fromAsync(found)).map(({ payload }) => atob(payload));
};

/** Take the store back to before its latest item. */
const waysBack: Record<string, (site: Site, client: Client) => Promise<() => Promise<Client>>> = {
  "a restored backup": async (site, client) => {
    const made = await client.backup();
    return async () => {
      await site.kill();
      site.restore(made.folder);
      return site.start();
    };
  },
  "a log without its end": async (site) => {
    const bytes = site.logBytes();
    return async () => {
      await site.kill();
      site.cutLog(0, bytes);
      return site.start(...normal);
    };
  },
  "a damaged log whose loss is accepted": async (site) => {
    const bytes = site.logBytes();
    return async () => {
      await site.kill();
      site.flipByte(0, bytes + 100);
      return site.start("--accept-wal-loss");
    };
  },
};

test.each(Object.keys(waysBack))(
  "complete: an id from before %s never finishes another item",
  async (name) => {
    await using site = new Site(name.replaceAll(" ", "-"));
    let client = await site.start(...(name.includes("without") ? normal : []));
    await client.createQueue({ queue_name: "orders", ...timeouts });
    await client.queue("orders").produce("A");
    const wayBack = await waysBack[name]?.(site, client);
    const ids = new Set<string>();
    for (let round = 0; round < 3; round += 1) {
      await client.queue("orders").produce("B");
      const before = await leased(client, "orders");
      const last = before.items.at(-1);
      expect(atob(last?.bytes ?? "")).toBe("B");
      ids.add(last?.id ?? "");
      client = (await wayBack?.()) as Client;
      await client.queue("orders").produce("C");
      const after = await leased(client, "orders");
      expect(after.items.map(({ bytes }) => atob(bytes))).toEqual(["A", "C"]);
      expect(ids).not.toContain(after.items[1]?.id);
      for (const id of ids) {
        const late = client.complete({ queue_name: "orders", partition: 0, ids: [id] });
        await expect(late).rejects.toMatchObject({ code: "failed", reason: "not_leased" });
      }
      expect(await textsIn(client, "orders")).toEqual(["A", "C"]);
    }
  },
);

test("start: an item keeps its id and its lease across restarts", async () => {
  await using site = new Site("kept");
  let client = await site.start();
  await client.createQueue({ queue_name: "orders", ...timeouts });
  const listed: string[][] = [];
  for (let start = 0; start < 4; start += 1) {
    await client.queue("orders").produce(`item ${start}`);
    await leased(client, "orders", 1);
    const page = { queue_name: "orders", partition: 0, pivot: "", limit: 10 };
    listed.push((await client.listItems(page)).items.map(({ id }) => id));
    await site.kill();
    client = await site.start();
  }
  const last = listed.at(-1) ?? [];
  for (const ids of listed) expect(last.slice(0, ids.length)).toEqual(ids);
  expect(last.toSorted()).toEqual(last);
  for (const pivot of last) {
    const page = { queue_name: "orders", partition: 0, pivot, limit: 10 };
    const { items } = await client.listItems(page);
    expect(items.map(({ id }) => id)).toEqual(last.slice(last.indexOf(pivot)));
  }
  await client.complete({ queue_name: "orders", partition: 0, ids: last });
  expect(await textsIn(client, "orders")).toEqual([]);
});

const bury = async (client: Client, queue_name: string): Promise<void> => {
  const { partition, items } = await leased(client, queue_name);
  const given = items.map(({ id }) => ({ id, dead: true }));
  await client.retry({ queue_name, partition, items: given });
};

/** Returns the texts of a queue once it has `count` items, which arrive from another shard. */
async function arrived(client: Client, queue: string, count: number): Promise<string[]> {
  for (let tries = 0; tries < 200; tries += 1) {
    const texts = await textsIn(client, queue);
    if (texts.length >= count) return texts;
    await Bun.sleep(10);
  }
  return textsIn(client, queue);
}

/** Waits until each sender knows which items have arrived; a backup waits for that. */
const settled = (client: Client): Promise<unknown> => client.backup();

// Of two shards, the first has `orders` and `bills`, and sends to the queues of the second.
const [orders, bills] = [nameIn(0, 2), nameIn(0, 2, "bills")];
const [dead, mails] = [nameIn(1, 2, "dead"), nameIn(1, 2, "mails")];

async function createQueues(client: Client): Promise<void> {
  await client.createQueue({ queue_name: dead, ...timeouts });
  await client.createQueue({ queue_name: orders, ...timeouts, dead_queue: dead });
  await client.createQueue({ queue_name: mails, ...timeouts });
  await client.createQueue({ queue_name: bills, ...timeouts });
}

/** The shards that are logged as having gone back, with their counts. */
const stepsBack = (log: string): string[] => {
  const lines = log.split("\n").filter((line) => line.includes("a store went back"));
  return lines.map((line) => {
    const { shard, count } = JSON.parse(line) as Record<string, number>;
    return `shard ${shard}: ${count}`;
  });
};

test.each([
  ["the end of its log is cut off", "cut", normal],
  ["a damaged log is accepted", "flip", []],
] as const)(
  "dead letters, outputs: a sender that went back loses none of those that follow; %s",
  async (_, how, flags) => {
    await using site = new Site(`sender-${how}`, { shards: 2 });
    let client = await site.start(...flags);
    await createQueues(client);
    await client.queue(orders).produce(["A", "B", "C"]);
    await client.queue(bills).produce(["1", "2"]);
    const bytes = site.logBytes(0);
    const send = async (): Promise<void> => {
      await bury(client, orders);
      const lease = await client.queue(bills).lease({ batch: 10 });
      await client.transact((t) => {
        if (lease !== null) t.complete(lease);
        for (const item of lease?.items ?? []) t.produce(mails, [`mail ${item.text()}`]);
      });
    };
    await send();
    expect(await arrived(client, dead, 3)).toEqual(["A", "B", "C"]);
    expect(await arrived(client, mails, 2)).toEqual(["mail 1", "mail 2"]);
    await site.kill();
    if (how === "cut") site.cutLog(0, bytes);
    else site.flipByte(0, bytes + 100);
    client = await site.start(...flags, ...(how === "flip" ? ["--accept-wal-loss"] : []));
    await client.queue(orders).produce("D");
    await client.queue(bills).produce("3");
    await send();
    expect(await arrived(client, dead, 7)).toEqual(["A", "B", "C", "A", "B", "C", "D"]);
    const texts = ["mail 1", "mail 2", "mail 1", "mail 2", "mail 3"];
    expect(await arrived(client, mails, 5)).toEqual(texts);
    for (const queue of [orders, bills]) expect(await textsIn(client, queue)).toEqual([]);
    const log = await site.kill();
    expect(stepsBack(log)).toEqual(["shard 0: 5"]);
    // Each lease, the retry and the transact was a commit.
    const lost = /"count":(\d+),"event":"acknowledged commits are lost/.exec(log)?.[1];
    if (how === "flip") expect(Number(lost)).toBeGreaterThanOrEqual(4);
    else expect(lost).toBeUndefined();
    client = await site.start(...flags);
    expect(await textsIn(client, mails)).toEqual(texts);
    expect(stepsBack(await site.kill())).toEqual([]);
  },
);

test("dead letters: a receiver that went back reports how many it lost, and accepts later ones", async () => {
  await using site = new Site("receiver", { shards: 2 });
  let client = await site.start(...normal);
  await createQueues(client);
  await client.queue(orders).produce("A");
  await bury(client, orders);
  expect(await arrived(client, dead, 1)).toEqual(["A"]);
  const goBack = site.snapshot(1);
  await client.queue(orders).produce(["B", "C"]);
  await bury(client, orders);
  expect(await arrived(client, dead, 3)).toEqual(["A", "B", "C"]);
  await settled(client);
  await site.kill();
  goBack();
  client = await site.start(...normal);
  await client.queue(orders).produce("D");
  await bury(client, orders);
  expect(await arrived(client, dead, 2)).toEqual(["A", "D"]);
  expect(stepsBack(await site.kill())).toEqual(["shard 1: 2"]);
  client = await site.start(...normal);
  expect(await textsIn(client, dead)).toEqual(["A", "D"]);
  expect(stepsBack(await site.kill())).toEqual([]);
});

test("start: a queue that was lost with the end of a log is gone, and its items are in no other queue", async () => {
  await using site = new Site("forgotten", { shards: 2 });
  let client = await site.start(...normal);
  const bytes = site.logBytes(1);
  const settings = { ...timeouts, requested_partitions: 4 };
  const [forgotten, next] = [nameIn(1, 2, "forgotten"), nameIn(1, 2, "new")];
  await client.createQueue({ ...settings, queue_name: forgotten, lease_timeout: "1s" });
  const later = new Date(Date.now() + 60_000).toISOString();
  for (let index = 0; index < 40; index += 1) {
    await client.queue(forgotten).produce([`secret ${index}`]);
  }
  await client.queue(forgotten).produce([{ utf8: "secret, later", enqueue_at: later }]);
  await leased(client, forgotten, 3);
  await site.kill();
  site.cutLog(1, bytes);
  client = await site.start(...normal);
  await client.queue(next).ensure(settings);
  expect(
    (await client.listQueues({ pivot: "", limit: 10 })).items.map(({ queue_name }) => queue_name),
  ).toEqual([next]);
  expect(await textsIn(client, next)).toEqual([]);
  expect(await client.queue(next).lease({ batch: 10, timeoutMs: 100 })).toBe(null);
});

test("start: a deleted queue that exists again has its items, and no other queue has them", async () => {
  await using site = new Site("deleted", { shards: 2 });
  let client = await site.start(...normal);
  const [former, next] = [nameIn(1, 2, "old"), nameIn(1, 2, "new")];
  await client.createQueue({ queue_name: former, ...timeouts });
  await client.queue(former).produce(["one", "two"]);
  await leased(client, former, 1);
  const goBack = site.snapshot(1);
  await client.deleteQueue({ queue_name: former, force: true });
  await client.createQueue({ queue_name: next, ...timeouts });
  await client.queue(next).produce("lost");
  await site.kill();
  goBack();
  client = await site.start(...normal);
  await client.createQueue({ queue_name: next, ...timeouts });
  expect(await textsIn(client, next)).toEqual([]);
  expect(await textsIn(client, former)).toEqual(["one", "two"]);
});
