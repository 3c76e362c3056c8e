// Servers whose files go back to an earlier state: a restored backup, a log without its end, one
// that is damaged. What was lost is lost; nothing that is acknowledged afterwards is.

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
import { type ServerProcess, startServer } from "../bench/server-process.ts";
import { type Client, createClient } from "../client/client.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-going-back-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const timeouts = { lease_timeout: "1h", expire_timeout: "24h" };
const normal = ["--durability", "normal"];

/** One folder of data and the server that has it open. */
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
      flags: ["--shards", String(this.#shards), "--backups", `${this.#data}-backups`, ...flags],
    });
    this.#server = server;
    // Without keys of its own a client repeats nothing, so the calls are those of the test.
    return createClient({ url: `http://127.0.0.1:${server.port}`, keys: false });
  }

  #log(shard: number): string {
    return join(this.#data, `shard-${shard}.db-wal`);
  }

  /** How long the log of a shard is now. */
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

  restore(from: string): void {
    rmSync(this.#data, { recursive: true });
    cpSync(from, this.#data, { recursive: true });
    rmSync(join(this.#data, "backup.json"), { force: true });
  }

  /** What the server has logged, once it is killed. */
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

/** Takes the store back to before its latest item; all of that is under one connection's eyes. */
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

test("start: an item keeps its id, and its lease, over each of them", async () => {
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
