// What a key costs: the same produces with an `Idempotency-Key` each and without, in turn, each into
// a queue of its own of one server; and the same to floor E, which passes over keys, so that what is
// left of the difference is the longer request and the client that makes it.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createQueue } from "./calls.ts";
import { Connection } from "./http-client.ts";
import { LoadProcess } from "./load-process.ts";
import type { Work } from "./orders.ts";
import type { Figures, RunOptions } from "./run-cell.ts";
import { startListening, startServer } from "./server-process.ts";
import { median } from "./statistics.ts";

/** Runs of each, one after the other; what a server does first is mostly compiling. */
const warmUps = 2;
const runs = 5;

const sides = ["plain", "keyed"] as const;

/** Items per second with keys and without, and the median of the ratios of neighbours. */
export async function keys(itemsPerCall: number, { directory }: RunOptions): Promise<Figures> {
  const data = join(directory, "data");
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { recursive: true });
  const server = await startServer({ data, flags: ["--log-level", "error", "--shards", "1"] });
  const floor = await startListening([join(import.meta.dir, "floor-server.ts")]);
  const load = await LoadProcess.start();
  try {
    const ours = await compare(load, { port: server.port, itemsPerCall, hasQueues: true });
    const bare = await compare(load, { port: floor.port, itemsPerCall, hasQueues: false });
    const ofFloor = Object.entries(bare).map(([name, value]) => [`floor.${name}`, value]);
    return { ...ours, ...Object.fromEntries(ofFloor) };
  } finally {
    await load.stop();
    await floor.stop("SIGKILL");
    await server.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

interface Target {
  readonly port: number;
  readonly itemsPerCall: number;
  readonly hasQueues: boolean;
}

async function compare(
  load: LoadProcess,
  { port, itemsPerCall, hasQueues }: Target,
): Promise<Figures> {
  const rates: Record<(typeof sides)[number], number[]> = { keyed: [], plain: [] };
  const items = itemsPerCall * Math.round(40_000 / itemsPerCall ** 0.4);
  for (let run = 0; run < warmUps + runs; run += 1) {
    // Who comes first is not always the same.
    for (const side of run % 2 === 0 ? sides : sides.toReversed()) {
      const work: Work = {
        queue: `${side}-${run}`,
        items,
        itemsPerCall,
        payloadBytes: 100,
        connections: 64,
        backlog: 0,
        ...(side === "keyed" && { keyed: true }),
      };
      if (hasQueues) await create(port, work.queue);
      await load.prepare(port, work);
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
}

async function create(port: number, queue: string): Promise<void> {
  const connection = await Connection.open(port);
  await createQueue(connection, { queue, partitions: 1 });
  connection.close();
}
