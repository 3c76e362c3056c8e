// Measures the cost of priorities: the same items with all ten of them and with none, in turn, each
// into its own queue of one server.

import type { RunOptions } from "../cells/run-cell.ts";
import { createQueue } from "../load/calls.ts";
import { inTurn, medianRatio } from "../load/in-turn.ts";
import { withServer } from "../load/loaded-server.ts";
import type { Figures } from "../report/results.ts";
import { median } from "../report/statistics.ts";

/** Items per second through each phase, and the median of the ratios of neighbours. */
export function priorities(itemsPerCall: number, { directory }: RunOptions): Promise<Figures> {
  return withServer({ directory, flags: ["--shards", "1"] }, async ({ port, load }) => {
    const items = itemsPerCall * 10 * Math.round(4_000 / itemsPerCall ** 0.4);
    const sides = ["plain", "prioritized"] as const;
    const rates = await inTurn(sides, { warmUps: 2, turns: 5 }, async (side, turn) => {
      const queue = `${side}-${turn}`;
      await createQueue(port, queue);
      const isPrioritized = side === "prioritized" && ({ prioritized: true } as const);
      await load.prepare(port, { queue, items, itemsPerCall, connections: 64, ...isPrioritized });
      const produce = items / (await load.run("produce")).seconds;
      return { produce, consume: items / (await load.run("consume")).seconds };
    });
    const of = (side: (typeof sides)[number], phase: "produce" | "consume") =>
      rates[side].map((rate) => rate[phase]);
    const figures = (["produce", "consume"] as const).flatMap((phase) => [
      [`plain.${phase}.itemsPerSecond`, median(of("plain", phase))],
      [`prioritized.${phase}.itemsPerSecond`, median(of("prioritized", phase))],
      [`${phase}.ratio`, medianRatio(of("prioritized", phase), of("plain", phase))],
    ]);
    return Object.fromEntries(figures);
  });
}
