// `bun bench/history.ts [--rounds 12]`: what it costs to keep what happens to items. Two engines in
// this thread with stores in memory, so that nothing hides it, one that keeps 16 MiB and one that
// keeps nothing, take turns at produce, lease and complete; the ratio of the medians is what counts.

import { parseArgs } from "node:util";
import { createEngine, type EmbeddedEngine } from "../engine/embed.ts";
import { median } from "./statistics.ts";

const queue = "orders";
const historyBytes = 16 * 1024 * 1024;
const itemsOfRound = 30_000;
const payload = "x".repeat(100);
const timed = { queue, requestTimeoutMs: 60_000 };

async function engineOf(keeps: boolean): Promise<EmbeddedEngine> {
  const store = { kind: "memory" } as const;
  const engine = await createEngine({
    ...{ store },
    ...(keeps && { historyBytes }),
  });
  const hour = 3_600_000;
  await engine.createQueue({
    ...{ name: queue, deadQueue: "", reference: "", maxAttempts: 0, requestedPartitions: 1 },
    ...{ leaseTimeoutMs: hour, expireTimeoutMs: hour },
  });
  return engine;
}

/** Microseconds a call. */
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
const rounds = Number(values.rounds);

for (const [batchSize, tasks] of [
  [1, 64],
  [10, 64],
  [100, 8],
] as const) {
  const without = await engineOf(false);
  const keeping = await engineOf(true);
  const micros: [without: number[], keeping: number[]] = [[], []];
  for (let count = 0; count < rounds; count += 1) {
    // The first round warms up. Who goes first changes, so that neither profits from it.
    const order = count % 2 === 0 ? [0, 1] : [1, 0];
    for (const which of order as (0 | 1)[]) {
      const took = await round(which === 0 ? without : keeping, batchSize, tasks);
      if (count > 0) micros[which].push(took);
    }
  }
  const [plain, kept] = [median(micros[0]), median(micros[1])];
  const ratio = (kept / plain).toFixed(3);
  console.log(
    `${batchSize} a call, ${tasks} at once: ${plain.toFixed(1)} µs a call, with history ${kept.toFixed(1)} µs; ratio ${ratio}`,
  );
  await without.close();
  await keeping.close();
}
