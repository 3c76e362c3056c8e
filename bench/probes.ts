// Measurements that are no cells: one question each, answered once a round.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createQueue, itemsLeft } from "./calls.ts";
import { checkDelivery } from "./delivery.ts";
import { pausedDiskFloor, wakeFloor } from "./floors.ts";
import { gather } from "./gather.ts";
import { Connection } from "./http-client.ts";
import { keys } from "./keys.ts";
import { LoadProcess } from "./load-process.ts";
import { drain as drainNode, forwarded, rolling, spread, takeover } from "./nodes.ts";
import { wakePauseMs } from "./orders.ts";
import { usageOf } from "./process-usage.ts";
import { addTimes, type Figures, folderBytes, type RunOptions } from "./run-cell.ts";
import { type ServerProcess, startServer } from "./server-process.ts";
import { shardThreads } from "./shard-threads.ts";
import { slowDisk } from "./slow-disk.ts";
import { stages } from "./stages.ts";
import { shortCount } from "./workload.ts";
import { compareWithWrk } from "./wrk.ts";

export interface Probe {
  readonly name: string;
  /** Part of the run without options. */
  readonly canonical: boolean;
  /** Where its items are; default SQLite. */
  readonly store?: "postgres";
  readonly run: (options: RunOptions) => Promise<Figures>;
}

const queue = "bench";
/** As many as it takes until the server's code is compiled: those of the first seconds take twice as long. */
const wakesToWarmUp = 1_500;
const wakesPerRound = 200;

async function withServer<T>(
  { directory }: RunOptions,
  use: (server: ServerProcess, data: string) => Promise<T>,
): Promise<T> {
  const data = join(directory, "data");
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { recursive: true });
  const server = await startServer({ data, flags: ["--log-level", "error"] });
  try {
    return await use(server, data);
  } finally {
    await server.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

/** How long from a produce until the reply of the lease that waited for it, on an idle machine. */
async function wake(options: RunOptions): Promise<Figures> {
  return withServer(options, async ({ port }) => {
    const connection = await Connection.open(port);
    await createQueue(connection, { queue, partitions: 1 });
    const load = await LoadProcess.start();
    try {
      await load.wake({ port, queue, times: wakesToWarmUp });
      const figures: Figures = {};
      addTimes(figures, "wake", await load.wake({ port, queue, times: wakesPerRound }));
      const floor = await wakeFloor(options.directory, {
        warmUp: wakesToWarmUp,
        times: wakesPerRound,
      });
      addTimes(figures, "W", floor);
      const paused = { times: wakesPerRound, pauseMs: wakePauseMs };
      addTimes(figures, "pausedSync", await pausedDiskFloor(options.directory, paused));
      figures["wake.p50OverW"] = (figures["wake.p50Ms"] ?? 0) / floor.p50Ms;
      figures["wake.p99OverW"] = (figures["wake.p99Ms"] ?? 0) / floor.p99Ms;
      return figures;
    } finally {
      connection.close();
      await load.stop();
    }
  });
}

/** Between a start and the look at what the server takes while nobody asks. */
const restMs = 3_000;

/** With so many items waiting: how long a start takes, and how much memory the server has. */
function start(backlog: number): (options: RunOptions) => Promise<Figures> {
  return async ({ directory, backlogs }) => {
    const data = join(directory, "data");
    const shape = { queue, items: backlog, payloadBytes: 100, partitions: 1 };
    await backlogs.copyTo(data, shape);
    const begin = performance.now();
    const server = await startServer({ data, flags: ["--log-level", "error"] });
    const health = await fetch(`http://127.0.0.1:${server.port}/health`);
    const readyMs = performance.now() - begin;
    if (health.status !== 200) throw new Error(`/health answered ${health.status}`);
    const load = await LoadProcess.start();
    try {
      // What was needed for the start alone has gone by then.
      await Bun.sleep(restMs);
      const { memoryBytes } = usageOf(server.pid);
      const work = { queue, items: 20_000, itemsPerCall: 100, payloadBytes: 100, connections: 8 };
      await load.prepare(server.port, { ...work, backlog });
      await load.run("produce");
      const { delivered } = await load.run("consume");
      const connection = await Connection.open(server.port);
      const leftFound = await itemsLeft(connection, queue);
      checkDelivery(delivered, { items: work.items, left: backlog, leftFound });
      connection.close();
      return { readyMs, memoryBytes, memoryBytesUsed: usageOf(server.pid).memoryBytes };
    } finally {
      await load.stop();
      await server.stop();
      rmSync(data, { recursive: true, force: true });
    }
  };
}

const drainWaitMs = 60_000;

/** The size on disk after so many items came and went: at once, and when the server has tidied up. */
function drain(items: number): (options: RunOptions) => Promise<Figures> {
  return (options) =>
    withServer(options, async ({ port }, data) => {
      const connection = await Connection.open(port);
      await createQueue(connection, { queue, partitions: 1 });
      const load = await LoadProcess.start();
      try {
        const calls = { itemsPerCall: 1_000, payloadBytes: 100, connections: 8 };
        await load.prepare(port, { queue, items, backlog: 0, ...calls });
        await load.run("produce");
        const { delivered } = await load.run("consume");
        const leftFound = await itemsLeft(connection, queue);
        checkDelivery(delivered, { items, left: 0, leftFound });
        const diskBytes = folderBytes(data);
        const begin = performance.now();
        let last = diskBytes;
        let steadySince = begin;
        // Housekeeping goes in pieces; a size that stays for some seconds is the last one.
        while (performance.now() - begin < drainWaitMs && performance.now() - steadySince < 5_000) {
          await Bun.sleep(250);
          const bytes = folderBytes(data);
          if (bytes !== last) steadySince = performance.now();
          last = bytes;
        }
        const tidySeconds = (steadySince - begin) / 1_000;
        return { diskBytes, diskBytesTidy: last, tidySeconds };
      } finally {
        connection.close();
        await load.stop();
      }
    });
}

export const probes: readonly Probe[] = [
  { name: "wake", canonical: true, run: wake },
  ...[0, 1_000_000, 10_000_000].map((items) => ({
    name: `start b${shortCount(items)}`,
    canonical: items < 10_000_000,
    run: start(items),
  })),
  ...[1_000, 1_000_000].map((items) => ({
    name: `drain ${shortCount(items)}`,
    canonical: false,
    run: drain(items),
  })),
  ...[1, 10, 100, 1_000].map((itemsPerCall) => ({
    name: `stages ${itemsPerCall}`,
    canonical: false,
    run: (options: RunOptions) => stages(itemsPerCall, options),
  })),
  ...[1, 100].map((itemsPerCall) => ({
    name: `slow disk ${itemsPerCall}`,
    canonical: false,
    run: (options: RunOptions) => slowDisk(itemsPerCall, options),
  })),
  ...[1, 100].map((itemsPerCall) => ({
    name: `keys ${itemsPerCall}`,
    canonical: false,
    run: (options: RunOptions) => keys(itemsPerCall, options),
  })),
  ...[1, 10].map((itemsPerCall) => ({
    name: `shard threads ${itemsPerCall}`,
    canonical: false,
    run: (options: RunOptions) => shardThreads(itemsPerCall, options),
  })),
  ...[64, 256].map((tasks) => ({
    name: `gather ${tasks}`,
    canonical: false,
    run: (options: RunOptions) => gather(tasks, options),
  })),
  { name: "nodes takeover", canonical: false, store: "postgres", run: takeover },
  { name: "nodes drain", canonical: false, store: "postgres", run: drainNode },
  { name: "nodes rolling", canonical: false, store: "postgres", run: rolling },
  { name: "nodes spread", canonical: false, store: "postgres", run: spread },
  ...[1, 100].map((itemsPerCall) => ({
    name: `nodes forwarded ${itemsPerCall}`,
    canonical: false,
    store: "postgres" as const,
    run: () => forwarded(itemsPerCall),
  })),
  { name: "client", canonical: false, run: compareWithWrk },
];
