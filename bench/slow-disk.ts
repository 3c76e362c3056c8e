// What it gains when a thread syncs and not the commit: on this disk, and on one whose syncs take
// 2 ms, which is made by letting strace hold up the server's syncs.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createQueue, itemsLeft } from "./calls.ts";
import { checkDelivery } from "./delivery.ts";
import { Connection } from "./http-client.ts";
import { LoadProcess } from "./load-process.ts";
import type { Work } from "./orders.ts";
import type { Figures, RunOptions } from "./run-cell.ts";
import { startServer } from "./server-process.ts";

const slowMs = 2;
const slowed = [
  ..."strace -D -f --seccomp-bpf -qq -o /dev/null -e trace=fdatasync,fsync -e".split(" "),
  `inject=fdatasync,fsync:delay_exit=${1_000 * slowMs}`,
];
const queue = "bench";
const phases = ["produce", "consume"] as const;
const disks = { own: [], slow: slowed } as const;
const settings = ["commit", "thread"] as const;

/** Through all three calls, with the setting that is faster on that disk. */
export function bestOf(figures: Figures, disk: keyof typeof disks): number {
  const rates = settings.map((sync) => {
    const [produce = 0, consume = 0] = phases.map((phase) => figures[`${disk}.${phase}.${sync}`]);
    return 1 / (1 / produce + 1 / consume);
  });
  return Math.max(...rates);
}

/** Items per second by disk, phase and who syncs, and their ratio. */
export async function slowDisk(itemsPerCall: number, options: RunOptions): Promise<Figures> {
  const figures: Figures = {};
  for (const [disk, under] of Object.entries(disks)) {
    for (const sync of settings) {
      const rates = await measure(itemsPerCall, options, { sync, under });
      for (const phase of phases) figures[`${disk}.${phase}.${sync}`] = rates[phase];
    }
    for (const phase of phases) {
      const [commit = 1, thread = 0] = settings.map((sync) => figures[`${disk}.${phase}.${sync}`]);
      figures[`${disk}.${phase}.threadOverCommit`] = thread / commit;
    }
  }
  figures["all.slowOverOwn"] = bestOf(figures, "slow") / bestOf(figures, "own");
  return figures;
}

async function measure(
  itemsPerCall: number,
  { directory }: RunOptions,
  { sync, under }: { readonly sync: string; readonly under: readonly string[] },
): Promise<Record<(typeof phases)[number], number>> {
  const data = join(directory, "data");
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { recursive: true });
  const flags = ["--log-level", "error", "--shards", "1", "--sync", sync];
  const server = await startServer({ data, flags, under });
  const load = await LoadProcess.start();
  const connection = await Connection.open(server.port);
  try {
    const items = itemsPerCall * Math.round(30_000 / itemsPerCall ** 0.4);
    const work: Work = {
      queue,
      items,
      itemsPerCall,
      payloadBytes: 100,
      connections: 256,
      backlog: 0,
    };
    const warmUp = { ...work, queue: "warm-up" };
    const rates = { produce: 0, consume: 0 };
    for (const one of [warmUp, work]) {
      await createQueue(connection, { queue: one.queue, partitions: 1 });
      await load.prepare(server.port, one);
      for (const phase of phases) {
        const { seconds, delivered } = await load.run(phase);
        rates[phase] = items / seconds;
        if (phase === "produce") continue;
        const leftFound = await itemsLeft(connection, one.queue);
        checkDelivery(delivered, { items, left: 0, leftFound });
      }
    }
    return rates;
  } finally {
    connection.close();
    await load.stop();
    await server.stop();
    rmSync(data, { recursive: true, force: true });
  }
}
