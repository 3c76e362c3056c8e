// `bun bench/engine.ts [items a call ...]`: the engine without HTTP. Beside `bench/store.ts` and
// `bun run bench` it tells what each layer costs; with `bun --cpu-prof` it is what to profile.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine } from "../engine/embed.ts";
import type { Engine } from "../engine/model/api.ts";
import { checkDelivery, Delivery, numberDigits } from "./delivery.ts";
import { Samples } from "./statistics.ts";
import { markdownTable, rate } from "./table.ts";

const sizesDefault = [1, 10, 100, 1_000];
/** As many callers as the canonical cells have connections. */
const callers = 64;
const queue = "bench";
const requestTimeoutMs = 60_000;
const warmUpShare = 0.25;

function itemsOf(size: number): number {
  return Math.min(200_000, size * 20_000);
}

const numbers = new TextDecoder();

function payloadOf(number: number): string {
  return String(number).padStart(numberDigits, "0").padEnd(100, "x");
}

/** Items per second, the 99th percentile of a call and processor seconds per 1,000 items. */
async function timed(items: number, caller: (samples: Samples, index: number) => Promise<void>) {
  const samples = new Samples();
  const cpu = process.cpuUsage();
  const begin = performance.now();
  await Promise.all(Array.from({ length: callers }, (_, index) => caller(samples, index)));
  const seconds = (performance.now() - begin) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  const cpuMs = (user + system) / 1_000 / (items / 1_000);
  return [rate(items / seconds), samples.times().p99Ms.toFixed(2), cpuMs.toFixed(2)];
}

async function produceAll(engine: Engine, items: number, size: number): Promise<string[]> {
  let next = 0;
  return timed(items, async (samples) => {
    while (next < items) {
      const first = next;
      next += size;
      const batch = Array.from({ length: size }, (_, index) => ({
        payload: payloadOf(first + index),
      }));
      const begin = performance.now();
      await engine.produce({ queue, requestTimeoutMs, items: batch });
      samples.add(performance.now() - begin);
    }
  });
}

async function consumeAll(engine: Engine, items: number, size: number): Promise<string[]> {
  const delivery = new Delivery(items);
  let toLease = items;
  const figures = await timed(items, async (samples, index) => {
    while (toLease > 0) {
      const batchSize = Math.min(size, toLease);
      toLease -= batchSize;
      const begin = performance.now();
      const leased = await engine.lease({
        queue,
        clientId: `client-${index}`,
        batchSize,
        requestTimeoutMs,
      });
      toLease += batchSize - leased.items.length;
      for (const { payload } of leased.items) {
        delivery.see(Number(numbers.decode(payload.subarray(0, numberDigits))));
      }
      const ids = leased.items.map(({ id }) => id);
      await engine.complete({ queue, partition: leased.partition, requestTimeoutMs, ids });
      samples.add(performance.now() - begin);
    }
  });
  const { queued } = await engine.inspect(queue);
  checkDelivery(delivery.delivered, { items, left: 0, leftFound: queued });
  return figures;
}

async function measure(size: number): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-engine-"));
  const engine = await createEngine({ store: { kind: "sqlite", directory } });
  try {
    await engine.createQueue({
      name: queue,
      deadQueue: "",
      reference: "",
      leaseTimeoutMs: 3_600_000,
      expireTimeoutMs: 86_400_000,
      maxAttempts: 0,
      requestedPartitions: 1,
    });
    const items = itemsOf(size);
    const warmUp = Math.max(1, Math.round((items * warmUpShare) / size)) * size;
    await produceAll(engine, warmUp, size);
    await consumeAll(engine, warmUp, size);
    const produced = await produceAll(engine, items, size);
    return [...produced, ...(await consumeAll(engine, items, size))];
  } finally {
    await engine.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

const asked = process.argv.slice(2).map(Number);
const rows: string[][] = [];
for (const size of asked.length > 0 ? asked : sizesDefault) {
  rows.push([size.toLocaleString("en"), ...(await measure(size))]);
}
console.log(
  markdownTable(
    [
      "items a call",
      "produce/s",
      "p99 ms",
      "CPU ms per 1,000",
      "lease + complete/s",
      "p99 ms",
      "CPU ms per 1,000",
    ],
    rows,
  ),
);
