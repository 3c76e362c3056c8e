// Measures one server apart from its throughput: the latency of a waiting lease, the duration of a
// start and the memory after it, and the disk usage after items have passed through.

import { usageOf } from "../../testing/process-usage.ts";
import { copyBacklog } from "../cells/backlogs.ts";
import { queue } from "../cells/cells.ts";
import { wakeFloor } from "../cells/floors.ts";
import { addTimes, folderBytes, type RunOptions } from "../cells/run-cell.ts";
import { createQueue, itemsLeft } from "../load/calls.ts";
import type { Work } from "../load/commands.ts";
import { checkDelivery } from "../load/delivery.ts";
import { type Loaded, withServer } from "../load/loaded-server.ts";
import type { Figures } from "../report/results.ts";

/** Wakes until the server's code is compiled: those of the first seconds take twice as long. */
const wakesToWarmUp = 1_500;
const wakesPerRound = 200;

/** Time from a produce to the reply of the lease that waited for it, on an idle machine. */
export async function wake({ directory }: RunOptions): Promise<Figures> {
  return withServer({ directory }, async ({ port, load }) => {
    await createQueue(port, queue);
    await load.wake({ port, queue, times: wakesToWarmUp });
    const figures: Figures = {};
    addTimes(figures, "wake", await load.wake({ port, queue, times: wakesPerRound }));
    const floor = await wakeFloor(directory, { warmUp: wakesToWarmUp, times: wakesPerRound });
    addTimes(figures, "W", floor);
    figures["wake.p50OverW"] = (figures["wake.p50Ms"] ?? 0) / floor.p50Ms;
    figures["wake.p99OverW"] = (figures["wake.p99Ms"] ?? 0) / floor.p99Ms;
    return figures;
  });
}

/**
 * Pause between a start and the measurement of idle memory, in which memory needed only by the
 * start is freed.
 */
const restMs = 3_000;

/** The duration of a start and the server's memory, with a backlog of waiting items. */
export function start(backlog: number, { directory }: RunOptions): Promise<Figures> {
  const prepare = (data: string) => copyBacklog(directory, data, backlog);
  return withServer({ directory, prepare }, async (loaded) => {
    const { server, readyMs } = loaded;
    await Bun.sleep(restMs);
    const { memoryBytes } = usageOf(server.pid);
    await passThrough(loaded, { items: 20_000, itemsPerCall: 100, backlog });
    return { readyMs, memoryBytes, memoryBytesUsed: usageOf(server.pid).memoryBytes };
  });
}

const drainWaitMs = 60_000;
/** Maintenance runs in steps; a size that stays unchanged for this long is final. */
const steadyMs = 5_000;

/** Disk usage after items have passed through: at once, and after maintenance. */
export function drain(items: number, { directory }: RunOptions): Promise<Figures> {
  return withServer({ directory }, async (loaded) => {
    await createQueue(loaded.port, queue);
    await passThrough(loaded, { items, itemsPerCall: 1_000 });
    const diskBytes = folderBytes(loaded.data);
    const begin = performance.now();
    let last = diskBytes;
    let steadySince = begin;
    while (performance.now() - begin < drainWaitMs && performance.now() - steadySince < steadyMs) {
      await Bun.sleep(250);
      const bytes = folderBytes(loaded.data);
      if (bytes !== last) steadySince = performance.now();
      last = bytes;
    }
    return { diskBytes, diskBytesTidy: last, tidySeconds: (steadySince - begin) / 1_000 };
  });
}

/** Produces and consumes items, each exactly once. */
async function passThrough(
  { port, load }: Loaded,
  work: Pick<Work, "items" | "itemsPerCall" | "backlog">,
): Promise<void> {
  await load.prepare(port, { ...work, queue, connections: 8 });
  await load.run("produce");
  const { delivered } = await load.run("consume");
  const { items, backlog: left = 0 } = work;
  checkDelivery(delivered, { items, left, leftFound: await itemsLeft(port, queue) });
}
