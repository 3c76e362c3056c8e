// Calls while the disk is really full, each time on a file system of its own: produce is refused,
// stored items can be leased and finished, and nothing needs a restart.

import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { diskKinds, SmallDisk, whyNoDisk } from "../../../proof/processes/small-disk.ts";
import { runServer, type ServerProcess, startServer } from "../../../testing/server-process.ts";

const noRoom = {
  code: 500,
  code_text: "Internal Service Error",
  message: "there is no space left on the disk; nothing was written",
  reason: "store_full",
};

interface Held {
  readonly id: string;
  readonly bytes: string;
}

/** Calls the server that currently runs. */
class Caller {
  server: ServerProcess | null = null;
  readonly #data: string;
  readonly #flags: readonly string[];
  /** Numbers of the items that a produce has acknowledged. */
  readonly produced = new Set<number>();
  readonly completed: number[] = [];
  #next = 0;

  constructor(data: string, flags: readonly string[]) {
    this.#data = data;
    this.#flags = flags;
  }

  get #url(): string {
    return `http://127.0.0.1:${this.server?.port}`;
  }

  async start(): Promise<void> {
    this.server = await startServer({ data: this.#data, flags: this.#flags });
  }

  async stop(signal: NodeJS.Signals): Promise<number | undefined> {
    return await this.server?.stop(signal);
  }

  post(path: string, body: object): Promise<{ status: number; body: object }> {
    return this.call(`/v1/${path}`, body);
  }

  async call(path: string, body: object): Promise<{ status: number; body: object }> {
    const reply = await fetch(`${this.#url}${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: reply.status, body: (await reply.json()) as object };
  }

  async create(settings: object = {}): Promise<void> {
    const usual = { queue_name: "q", lease_timeout: "60m", expire_timeout: "24h" };
    expect(await this.post("queues.create", { ...usual, ...settings })).toMatchObject({
      status: 200,
    });
  }

  /** `false` = refused because there is no room. */
  async produce(payloadBytes: number): Promise<boolean> {
    const number = this.#next;
    this.#next += 1;
    const utf8 = `${number}:`.padEnd(payloadBytes, "x");
    const items = [{ utf8 }];
    const reply = await this.post("queue.produce", {
      queue_name: "q",
      request_timeout: "1m",
      items,
    });
    if (reply.status === 200) {
      this.produced.add(number);
      return true;
    }
    expect(reply).toEqual({ status: 500, body: noRoom });
    return false;
  }

  async produceUntilRefused(payloadBytes: number): Promise<void> {
    // More than the capacity of any of the disks.
    for (let left = 300e6; left > 0; left -= payloadBytes) {
      if (!(await this.produce(payloadBytes))) return;
    }
    throw new Error("nothing was refused");
  }

  async lease(batchSize: number): Promise<Held[]> {
    const asked = {
      queue_name: "q",
      client_id: "c",
      request_timeout: "30s",
      batch_size: batchSize,
    };
    const reply = await this.post("queue.lease", asked);
    expect(reply).toMatchObject({ status: 200 });
    return (reply.body as { items: Held[] }).items;
  }

  async finish(call: "complete" | "extend" | "retry", held: readonly Held[]): Promise<void> {
    const ids = held.map(({ id }) => id);
    const asked = { queue_name: "q", partition: 0, request_timeout: "30s" };
    const body = call === "retry" ? { items: ids.map((id) => ({ id })) } : { ids };
    expect(await this.post(`queue.${call}`, { ...asked, ...body })).toMatchObject({ status: 200 });
    if (call !== "complete") return;
    for (const { bytes } of held) {
      this.completed.push(Number.parseInt(Buffer.from(bytes, "base64").toString("utf8"), 10));
    }
  }

  /** Leases and completes the remaining items, and compares all with the acknowledged ones. */
  async drain(): Promise<void> {
    const left = () => this.produced.size - this.completed.length;
    while (left() > 0) await this.finish("complete", await this.lease(Math.min(20, left())));
    const rising = (numbers: Iterable<number>) => [...numbers].toSorted((a, b) => a - b);
    expect(rising(this.completed)).toEqual(rising(this.produced));
  }

  async health(): Promise<unknown> {
    const health = await fetch(`${this.#url}/health`);
    return ((await health.json()) as { status: unknown }).status;
  }

  /** Completed items make room for a few more, so the store may not be full at once. */
  async isToldFull(payloadBytes: number): Promise<void> {
    for (let tries = 0; tries < 50; tries += 1) {
      await this.produceUntilRefused(payloadBytes);
      if ((await this.health()) === "store_full") return;
    }
    throw new Error("a store that refuses items is not reported as full");
  }

  /** Waits until a produce succeeds without a restart. */
  async produceSoon(payloadBytes: number): Promise<void> {
    for (let tries = 0; tries < 300; tries += 1) {
      if (await this.produce(payloadBytes)) return;
      await Bun.sleep(100);
    }
    throw new Error("produce stays refused though there is room");
  }
}

async function within(
  disk: SmallDisk,
  flags: readonly string[],
  work: (caller: Caller) => Promise<void>,
): Promise<void> {
  const caller = new Caller(join(disk.path, "data"), flags);
  try {
    await caller.start();
    await work(caller);
  } finally {
    await caller.stop("SIGKILL");
  }
}

describe.each([...diskKinds])("full disk, %s", (kind) => {
  const skipped = whyNoDisk(kind) !== null;

  test.skipIf(skipped).each([
    ["--durability full", ["--durability", "full"]],
    ["--durability normal", ["--durability", "normal"]],
  ])("another program fills it while the log is long; %s", async (_, flags) => {
    using disk = new SmallDisk(kind, 80);
    await within(disk, ["--shards", "1", ...flags], async (caller) => {
      await caller.create();
      for (let index = 0; index < 70; index += 1) await caller.produce(100_000);
      const held = await caller.lease(30);
      expect(disk.fill()).toBeGreaterThan(1_000_000);
      await caller.produceUntilRefused(100_000);
      const round = async (): Promise<void> => {
        await caller.produce(100_000);
        disk.fill();
        await caller.finish("extend", held.slice(0, 5));
        await caller.finish("retry", held.splice(0, 1));
        await caller.finish("complete", held.splice(0, 1));
        held.push(...(await caller.lease(2)));
      };
      for (let rounds = 0; rounds < 20; rounds += 1) await round();
      await caller.isToldFull(100_000);
      for (const signal of ["SIGKILL", "SIGTERM"] as const) {
        await caller.stop(signal);
        await caller.start();
        for (let rounds = 0; rounds < 5; rounds += 1) await round();
      }
      disk.free();
      await caller.produceSoon(100_000);
      expect(await caller.health()).toBe("ok");
      await caller.finish("complete", held);
      await caller.drain();
      expect(caller.server?.log()).not.toContain("shard is down");
    });
  });

  test.skipIf(skipped).each([
    [40, 300],
    [40, 20_000],
    [120, 1_000_000],
  ])("a disk of %d MB is filled without pause, with items of %d bytes", async (size, bytes) => {
    using disk = new SmallDisk(kind, size);
    await within(disk, ["--shards", "1"], async (caller) => {
      await caller.create();
      for (let left = 3; left > 0; left -= 1) await caller.produce(bytes);
      const room = disk.fill();
      disk.free();
      // Small items take long to fill a disk, so a file fills most of it.
      if (bytes < 1_000) disk.fill(room - 8_000_000);
      let isOver = false;
      const produce = async (): Promise<void> => {
        while (!isOver) if (!(await caller.produce(bytes))) await Bun.sleep(1);
      };
      const consume = async (): Promise<void> => {
        await caller.produceUntilRefused(bytes);
        for (let rounds = 0; rounds < 100; rounds += 1) {
          const held = await caller.lease(2);
          const first = held.splice(0, 1);
          await caller.finish("retry", first);
          if (held.length > 0) await caller.finish("complete", held);
        }
      };
      const over = () => {
        isOver = true;
      };
      await Promise.all([consume().finally(over), ...[1, 2, 3, 4].map(produce)]);
      await caller.drain();
      disk.free();
      await caller.produceSoon(bytes);
      expect(caller.server?.log()).not.toContain("shard is down");
    });
  });

  test.skipIf(skipped)(
    "a backup that does not fit leaves nothing behind, and its server as it was",
    async () => {
      using disk = new SmallDisk(kind, 60);
      const backups = join(disk.path, "backups");
      await within(
        disk,
        ["--shards", "2", "--threads", "2", "--backups", backups],
        async (caller) => {
          await caller.create();
          for (let left = 200; left > 0; left -= 1) await caller.produce(100_000);
          const made = async () => (await caller.call("/backup", {})).body;
          for (let tries = 0; tries < 3; tries += 1) {
            expect(await made()).toMatchObject({ code: 500 });
            expect(readdirSync(backups)).toEqual([]);
            await caller.finish("complete", await caller.lease(1));
          }
          disk.fill();
          expect(await made()).toMatchObject({ code: 500 });
          await caller.drain();
          expect(caller.server?.log()).not.toContain("shard is down");
        },
      );
    },
  );

  test.skipIf(skipped)("a server starts on it, and a new one says why it cannot", async () => {
    using disk = new SmallDisk(kind, 40);
    await within(disk, ["--shards", "1"], async (caller) => {
      await caller.create();
      for (let left = 10; left > 0; left -= 1) await caller.produce(20_000);
      expect(await caller.stop("SIGTERM")).toBe(0);
      disk.fill();
      await caller.start();
      await caller.drain();
      disk.fill();
      const { code, output } = await runServer(["--port", "0", "--data", join(disk.path, "new")]);
      const expected = "there is no space left for the ";
      expect({ code, output }).toEqual({ code: 74, output: expect.stringContaining(expected) });
    });
  });
});
