// `bun bench/history.ts [--rounds 12]`: the cost of keeping the history of items. Two engines in
// this thread, one with a history of 16 MiB and one with none, take turns at produce, lease and
// complete. Their stores are in memory, so that nothing hides the cost. Compare the ratio of the
// medians.

import { parseArgs } from "node:util";
import { createEngine, type EmbeddedEngine } from "../engine/embed.ts";
import { payload } from "./load/delivery.ts";
import { inTurn } from "./load/in-turn.ts";
import { median } from "./report/statistics.ts";

const queue = "orders";
const historyBytes = 16 * 1024 * 1024;
const itemsOfRound = 30_000;
const timed = { queue, requestTimeoutMs: 60_000 };

async function engineOf(keeps: boolean): Promise<EmbeddedEngine> {
  const engine = await createEngine({
    store: { kind: "memory" },
    ...(keeps && { historyBytes }),
  });
  const hour = 3_600_000;
  await engine.createQueue({
    ...{ name: queue, deadQueue: "", reference: "", maxAttempts: 0, requestedPartitions: 1 },
    ...{ leaseTimeoutMs: hour, expireTimeoutMs: hour },
  });
  return engine;
}

/** Microseconds per call. */
async function round(engine: EmbeddedEngine, batchSize: number, tasks: number): Promise<number> {
  const items = new Array(batchSize).fill({ payload });
  const calls = Math.ceil(itemsOfRound / batchSize / tasks);
  const begun = performance.now();
  const task = async (name: number): Promise<void> => {
    for (let call = 0; call < calls; call += 1) {
      await engine.produce({ ...timed, items });
      const lease = await engine.lease({ ...timed, clientId: `worker-${name}`, batchSize });
      const ids = lease.items.map(({ id }) => id);
      await engine.complete({ ...timed, partition: lease.partition, ids });
    }
  };
  await Promise.all(Array.from({ length: tasks }, (_, name) => task(name)));
  return ((performance.now() - begun) * 1_000) / (calls * tasks * 3);
}

const { values } = parseArgs({ options: { rounds: { type: "string", default: "12" } } });
const turns = { warmUps: 1, turns: Number(values.rounds) - 1 };

for (const [batchSize, tasks] of [
  [1, 64],
  [10, 64],
  [100, 8],
] as const) {
  const engines = { without: await engineOf(false), keeping: await engineOf(true) };
  const { without, keeping } = await inTurn(["without", "keeping"], turns, (side) =>
    round(engines[side], batchSize, tasks),
  );
  const [plain, kept] = [median(without), median(keeping)];
  console.log(
    `${batchSize} per call, ${tasks} at once: ${plain.toFixed(1)} µs per call, with history ${kept.toFixed(1)} µs; ratio ${(kept / plain).toFixed(3)}`,
  );
  for (const engine of Object.values(engines)) await engine.close();
}
