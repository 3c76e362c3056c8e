// Measures the cost of a key: the same produces with and without an `Idempotency-Key`, in turn,
// each into its own queue of one server. The same runs against floor E, which ignores keys; its
// difference is the cost of the longer request and of the client.

import { startFloor } from "../cells/floors.ts";
import type { RunOptions } from "../cells/run-cell.ts";
import { createQueue } from "../load/calls.ts";
import { inTurn, medianRatio } from "../load/in-turn.ts";
import type { LoadProcess } from "../load/load-process.ts";
import { withServer } from "../load/loaded-server.ts";
import type { Figures } from "../report/results.ts";
import { median } from "../report/statistics.ts";

/** Items per second with keys and without, and the median of the ratios of neighbours. */
export function keys(itemsPerCall: number, { directory }: RunOptions): Promise<Figures> {
  return withServer({ directory, flags: ["--shards", "1"] }, async ({ port, load }) => {
    const floor = await startFloor();
    try {
      const ours = await compare(load, { port, itemsPerCall, hasQueues: true });
      const bare = await compare(load, { port: floor.port, itemsPerCall, hasQueues: false });
      const ofFloor = Object.entries(bare).map(([name, value]) => [`floor.${name}`, value]);
      return { ...ours, ...Object.fromEntries(ofFloor) };
    } finally {
      await floor.stop("SIGKILL");
    }
  });
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
  const items = itemsPerCall * Math.round(40_000 / itemsPerCall ** 0.4);
  const sides = ["plain", "keyed"] as const;
  const { plain, keyed } = await inTurn(sides, { warmUps: 2, turns: 5 }, async (side, turn) => {
    const queue = `${side}-${turn}`;
    if (hasQueues) await createQueue(port, queue);
    const isKeyed = side === "keyed" && ({ keyed: true } as const);
    await load.prepare(port, { queue, items, itemsPerCall, connections: 64, ...isKeyed });
    return items / (await load.run("produce")).seconds;
  });
  return {
    "keyed.itemsPerSecond": median(keyed),
    "plain.itemsPerSecond": median(plain),
    keyedOverPlain: medianRatio(keyed, plain),
  };
}
