// BullMQ on Redis: addBulk, and its own Worker, whose call that completes one item returns the
// next. BullMQ has no call that leases or completes many items.

import { join } from "node:path";
import { loadPackage, npmPackages } from "../../testing/install.ts";
import { type Ledger, type Peer, type QueueWork, type Session, usualConnections } from "./peer.ts";
import { installRedis, redisSettings, startRedis } from "./redis-server.ts";

const packageVersion = "6.7.0";
const redisClientVersion = "5.11.1";

export const bullmqPackages = [`bullmq@${packageVersion}`, `ioredis@${redisClientVersion}`];

interface BullQueue {
  waitUntilReady(): Promise<unknown>;
  add(name: string, data: object, options: object): Promise<unknown>;
  addBulk(items: readonly object[]): Promise<unknown>;
  close(): Promise<void>;
}

interface BullItem {
  readonly data: { readonly p: string };
  /** `fetchNext`: whether the reply leases the next item. */
  moveToCompleted(result: null, token: string, fetchNext: boolean): Promise<unknown>;
}

interface BullWorker {
  getNextJob(token: string, options: { readonly block: boolean }): Promise<BullItem | undefined>;
  on(event: "completed", listener: () => void): void;
  on(event: "failed" | "error", listener: (...args: readonly unknown[]) => void): void;
  close(force: boolean): Promise<void>;
}

export interface BullModule {
  readonly Queue: new (name: string, options: object) => BullQueue;
  readonly Worker: new (
    name: string,
    perform: ((item: BullItem) => Promise<void>) | null,
    options: object,
  ) => BullWorker;
}

let folder = "";
const workers = 4;
const concurrency = 50;

interface Client {
  readonly module: BullModule;
  readonly options: object;
  readonly work: QueueWork;
}

async function runWorker({ module, options, work }: Client, ledger: Ledger): Promise<void> {
  const failed = Promise.withResolvers<never>();
  const finished = Promise.withResolvers<void>();
  const perform = async ({ data }: BullItem): Promise<void> => ledger.leased(data.p);
  const worker = new module.Worker(work.queue, perform, { ...options, concurrency });
  worker.on("completed", () => {
    ledger.completed(1);
    if (ledger.complete) finished.resolve();
  });
  worker.on("failed", (_item, cause) => failed.reject(cause));
  worker.on("error", (cause) => failed.reject(cause));
  try {
    await Promise.race([ledger.allLeased, failed.promise]);
    // The last completions may be in flight; another worker may have them.
    const deadline = performance.now() + 1_000;
    while (!ledger.complete && performance.now() < deadline) {
      await Promise.race([finished.promise, failed.promise, Bun.sleep(5)]);
    }
  } finally {
    await worker.close(true);
  }
}

async function openSession(client: Client, index: number): Promise<Session> {
  const queue = new client.module.Queue(client.work.queue, client.options);
  await queue.waitUntilReady();
  return {
    produce: async (payloads) => {
      await queue.addBulk(
        payloads.map((p) => ({ name: "item", data: { p }, opts: { removeOnComplete: true } })),
      );
    },
    consume: async (ledger) => {
      if (index < workers) await runWorker(client, ledger);
    },
    close: () => queue.close(),
  };
}

/** Redis, and what a client of it needs. */
export async function startBullmq(scratch: string): Promise<{
  readonly version: string;
  readonly module: BullModule;
  readonly options: object;
  stop(): Promise<void>;
}> {
  const server = await startRedis(scratch);
  const module = await loadPackage<BullModule>(folder, "bullmq");
  // A worker blocks on its connection, so its commands must not time out.
  const connection = { host: "127.0.0.1", port: server.port, maxRetriesPerRequest: null };
  const version = `${packageVersion}, Redis ${server.version}`;
  return { version, module, options: { connection }, stop: server.stop };
}

export const bullmq: Peer = {
  name: "BullMQ",
  durability: "D2",
  settings:
    `${redisSettings}; addBulk(N), removeOnComplete; ` +
    `${workers} Workers with concurrency ${concurrency}`,
  caveat: "leases and completes one item per call, many at once; N counts for produce only",
  connections: usualConnections,
  install: async (scratch) => {
    await installRedis();
    folder = join(scratch, "bullmq");
    await npmPackages(folder, bullmqPackages);
  },
  start: async (scratch) => {
    const { version, module, options, stop } = await startBullmq(scratch);
    return {
      version,
      open: (work) =>
        Promise.all(
          Array.from({ length: work.connections }, (_, index) =>
            openSession({ module, options, work }, index),
          ),
        ),
      stop,
    };
  },
};
