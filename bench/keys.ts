// What a key costs: the same produces with an `Idempotency-Key` each and without, in turn, each into
// a queue of its own of one server.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createQueue } from "./calls.ts";
import { Connection } from "./http-client.ts";
import { LoadProcess } from "./load-process.ts";
import type { Work } from "./orders.ts";
import type { Figures, RunOptions } from "./run-cell.ts";
import { startServer } from "./server-process.ts";
import { median } from "./statistics.ts";

/** Runs of each, one after the other; what a server does first is mostly compiling. */
const warmUps = 2;
const runs = 5;

/** Items per second with keys and without, and the median of the ratios of neighbours. */
export async function keys(itemsPerCall: number, { directory }: RunOptions): Promise<Figures> {
  const data = join(directory, "data");
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { recursive: true });
  const server = await startServer({ data, flags: ["--log-level", "error", "--shards", "1"] });
  const load = await LoadProcess.start();
  const connection = await Connection.open(server.port);
  try {
    const rates: Record<"keyed" | "plain", number[]> = { keyed: [], plain: [] };
    for (let run = 0; run < warmUps + runs; run += 1) {
      // Who comes first is not always the same.
      for (const side of run % 2 === 0
        ? (["plain", "keyed"] as const)
        : (["keyed", "plain"] as const)) {
        const items = itemsPerCall * Math.round(40_000 / itemsPerCall ** 0.4);
        const work: Work = {
          queue: `${side}-${run}`,
          items,
          itemsPerCall,
          payloadBytes: 100,
          connections: 64,
          backlog: 0,
          ...(side === "keyed" && { keyed: true }),
        };
        await createQueue(connection, { queue: work.queue, partitions: 1 });
        await load.prepare(server.port, work);
        const { seconds } = await load.run("produce");
        if (run >= warmUps) rates[side].push(items / seconds);
      }
    }
    const ratios = rates.keyed.map((rate, index) => rate / (rates.plain[index] ?? 1));
    return {
      "keyed.itemsPerSecond": median(rates.keyed),
      "plain.itemsPerSecond": median(rates.plain),
      keyedOverPlain: median(ratios),
    };
  } finally {
    connection.close();
    await load.stop();
    await server.stop();
    rmSync(data, { recursive: true, force: true });
  }
}
