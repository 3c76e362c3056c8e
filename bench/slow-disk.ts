// What a slow disk costs: this disk beside one whose syncs take 2 ms, which is made by letting
// strace delay the server's syncs.

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

/** Items per second by disk and phase, and for both phases the ratio of the disks. */
export async function slowDisk(itemsPerCall: number, options: RunOptions): Promise<Figures> {
  const figures: Figures = {};
  const secondsPerItem: number[] = [];
  for (const [disk, under] of Object.entries(disks)) {
    const rates = await measure(itemsPerCall, options, under);
    for (const phase of phases) figures[`${disk}.${phase}`] = rates[phase];
    secondsPerItem.push(1 / rates.produce + 1 / rates.consume);
  }
  const [own = 0, slow = 1] = secondsPerItem;
  figures["all.slowOverOwn"] = own / slow;
  return figures;
}

async function measure(
  itemsPerCall: number,
  { directory }: RunOptions,
  under: readonly string[],
): Promise<Record<(typeof phases)[number], number>> {
  const data = join(directory, "data");
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { recursive: true });
  const flags = ["--log-level", "error", "--shards", "1"];
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
