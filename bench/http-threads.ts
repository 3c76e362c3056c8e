// What HTTP costs when several threads speak it: rates, and the processor time of the thread that
// has the queues, which is what bounds them where there are cores enough.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createQueue, itemsLeft } from "./calls.ts";
import { checkDelivery } from "./delivery.ts";
import { Connection } from "./http-client.ts";
import { LoadProcess } from "./load-process.ts";
import type { Work } from "./orders.ts";
import { firstThreadSecondsOf, usageOf } from "./process-usage.ts";
import type { Figures, RunOptions } from "./run-cell.ts";
import { startServer } from "./server-process.ts";

export const httpThreadCounts = [1, 2, 4] as const;
const phases = ["produce", "consume"] as const;
const callsPerItem = { produce: 1, consume: 2 } as const;
const connections = 64;
const warmUp = "warm-up";

/** By number of threads and phase: items a second, and microseconds of processor time a call. */
export async function httpThreads(itemsPerCall: number, options: RunOptions): Promise<Figures> {
  const figures: Figures = {};
  for (const count of httpThreadCounts)
    Object.assign(figures, await measure(count, itemsPerCall, options));
  return figures;
}

async function measure(
  count: number,
  itemsPerCall: number,
  { directory }: RunOptions,
): Promise<Figures> {
  const data = join(directory, "data");
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { recursive: true });
  const flags = ["--log-level", "error", "--shards", "1", "--http-threads", String(count)];
  const server = await startServer({ data, flags });
  const load = await LoadProcess.start();
  const figures: Figures = {};
  const items = itemsPerCall * Math.round(40_000 / itemsPerCall ** 0.4);
  const work = { items, itemsPerCall, payloadBytes: 100, connections, backlog: 0 };
  try {
    for (const queue of [warmUp, "bench"]) {
      const order: Work = { ...work, queue };
      await onConnection(server.port, (one) => createQueue(one, { queue, partitions: 1 }));
      await load.prepare(server.port, order);
      for (const phase of phases) {
        const before = usages(server.pid);
        const { seconds, delivered } = await load.run(phase);
        const after = usages(server.pid);
        const calls = (callsPerItem[phase] * items) / itemsPerCall;
        const perCall = (part: keyof typeof after): number =>
          (1e6 * (after[part] - before[part])) / calls;
        const name = `${count} threads.${phase}`;
        figures[`${name}.itemsPerSecond`] = items / seconds;
        figures[`${name}.cpuMicrosecondsPerCall`] = perCall("all");
        figures[`${name}.engineThreadMicrosecondsPerCall`] = perCall("main");
        if (phase === "produce") continue;
        const leftFound = await onConnection(server.port, (one) => itemsLeft(one, queue));
        checkDelivery(delivered, { items, left: 0, leftFound });
      }
    }
    return figures;
  } finally {
    await load.stop();
    await server.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

/** A phase may take longer than the server keeps a connection that is silent. */
async function onConnection<T>(port: number, use: (one: Connection) => Promise<T>): Promise<T> {
  const connection = await Connection.open(port);
  try {
    return await use(connection);
  } finally {
    connection.close();
  }
}

/** Processor seconds of a process, and of its first thread, which has the queues. */
function usages(pid: number) {
  return { all: usageOf(pid).cpuSeconds, main: firstThreadSecondsOf(pid) };
}
