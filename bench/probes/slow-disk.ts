// Measures the cost of a slow disk: this disk compared with one whose syncs take 2 ms. strace
// delays the server's syncs to imitate it.

import type { RunOptions } from "../cells/run-cell.ts";
import { createQueue, itemsLeft } from "../load/calls.ts";
import type { Work } from "../load/commands.ts";
import { checkDelivery } from "../load/delivery.ts";
import { withServer } from "../load/loaded-server.ts";
import type { Figures } from "../report/results.ts";

const slowMs = 2;
const slowed = [
  ..."strace -D -f --seccomp-bpf -qq -o /dev/null -e trace=fdatasync,fsync -e".split(" "),
  `inject=fdatasync,fsync:delay_exit=${1_000 * slowMs}`,
];
const phases = ["produce", "consume"] as const;
const disks = { own: [], slow: slowed } as const;

/** Items per second by disk and phase, and the ratio of the disks for each phase. */
export async function slowDisk(itemsPerCall: number, { directory }: RunOptions): Promise<Figures> {
  const figures: Figures = {};
  const secondsPerItem: number[] = [];
  for (const [disk, under] of Object.entries(disks)) {
    const rates = await measure(itemsPerCall, directory, under);
    for (const phase of phases) figures[`${disk}.${phase}`] = rates[phase];
    secondsPerItem.push(1 / rates.produce + 1 / rates.consume);
  }
  const [own = 0, slow = 1] = secondsPerItem;
  figures["all.slowOverOwn"] = own / slow;
  return figures;
}

function measure(
  itemsPerCall: number,
  directory: string,
  under: readonly string[],
): Promise<Record<(typeof phases)[number], number>> {
  return withServer({ directory, under, flags: ["--shards", "1"] }, async ({ port, load }) => {
    const items = itemsPerCall * Math.round(30_000 / itemsPerCall ** 0.4);
    const work: Work = { queue: "bench", items, itemsPerCall, connections: 256 };
    const rates = { produce: 0, consume: 0 };
    for (const one of [{ ...work, queue: "warm-up" }, work]) {
      await createQueue(port, one.queue);
      await load.prepare(port, one);
      for (const phase of phases) {
        const { seconds, delivered } = await load.run(phase);
        rates[phase] = items / seconds;
        if (phase === "produce") continue;
        const leftFound = await itemsLeft(port, one.queue);
        checkDelivery(delivered, { items, left: 0, leftFound });
      }
    }
    return rates;
  });
}
