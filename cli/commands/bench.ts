// `holdfast bench`: measures a server from this machine. It produces items into a temporary queue,
// leases and completes them, and deletes the queue.

import { type Command, Option } from "commander";
import type { Queue } from "../../client/queue.ts";
import { bounds } from "../../openapi/bounds.ts";
import { type Context, contextOf } from "../context.ts";
import { interruption } from "../interrupt.ts";
import { wholeNumber } from "../option-parsers.ts";

interface Options {
  readonly items: number;
  readonly batch: number;
  readonly connections: number;
  readonly bytes: number;
}

interface Subject {
  readonly context: Context;
  readonly queue: Queue;
  readonly options: Options;
  readonly signal: AbortSignal;
}

interface Phase {
  readonly phase: string;
  readonly items: number;
  readonly seconds: number;
  readonly items_per_second: number;
  readonly calls: number;
  /** Median duration of a call in milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

export function addBench(program: Command): void {
  const count = (flags: string, text: string, max: number, value: number): Option =>
    new Option(flags, text).argParser(wholeNumber(1, max)).default(value);
  program
    .command("bench")
    .description("measure a server, with a temporary queue")
    .addOption(count("--items <count>", "total number of items", 10_000_000, 10_000))
    .addOption(count("--batch <count>", "items per call", bounds.produceItemsMax, 100))
    .addOption(count("--connections <count>", "concurrent calls", 1_000, 8))
    .addOption(count("--bytes <count>", "size of each payload in bytes", 100_000, 100))
    .addHelpText(
      "after",
      "\nFor comparisons with hardware limits and other queues, see 'bun run bench' in a clone.",
    )
    .action(async (options: Options, command: Command) => {
      const context = contextOf(command);
      const queue = context.client.queue(`bench-${crypto.randomUUID()}`);
      const signal = interruption();
      await queue.create({ lease_timeout: "10m", expire_timeout: "1h" });
      try {
        const subject = { context, queue, options, signal };
        const produced = await produceAll(subject);
        const consumed = await consumeAll(subject);
        const phases = [produced, consumed];
        context.result(phases, () => formatPhases(context, phases));
      } finally {
        await queue.delete({ force: true });
      }
    });
}

interface Measuring {
  readonly phase: string;
  readonly context: Context;
  readonly options: Options;
  /** Processes at most this many items, and returns their number. */
  readonly call: (most: number) => Promise<number>;
}

/** Makes sequential calls on each connection until all items are done. */
async function measure({ phase, context, options, call }: Measuring): Promise<Phase> {
  const { items, batch, connections } = options;
  const progress = context.progress(`items, ${phase}`);
  const times: number[] = [];
  const begun = performance.now();
  let asked = 0;
  let done = 0;
  const run = async (): Promise<void> => {
    while (asked < items) {
      const most = Math.min(batch, items - asked);
      asked += most;
      const callBegun = performance.now();
      const count = await call(most);
      times.push(performance.now() - callBegun);
      done += count;
      // Items that this call did not get are left to other calls.
      asked -= most - count;
      progress.update(done, done / items);
    }
  };
  await Promise.all(Array.from({ length: connections }, run));
  progress.end();
  const seconds = (performance.now() - begun) / 1_000;
  times.sort((a, b) => a - b);
  const quantile = (share: number): number =>
    Math.round((times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0) * 100) /
    100;
  return {
    phase,
    items: done,
    seconds: Math.round(seconds * 1_000) / 1_000,
    items_per_second: Math.round(done / seconds),
    calls: times.length,
    p50: quantile(0.5),
    p99: quantile(0.99),
  };
}

function produceAll({ context, queue, options, signal }: Subject): Promise<Phase> {
  const utf8 = "x".repeat(options.bytes);
  const call = async (most: number): Promise<number> => {
    await queue.produce(
      Array.from({ length: most }, () => ({ utf8 })),
      { signal },
    );
    return most;
  };
  return measure({ phase: "produce", context, options, call });
}

function consumeAll({ context, queue, options, signal }: Subject): Promise<Phase> {
  const call = async (most: number): Promise<number> => {
    const lease = await queue.lease({ batch: most, timeoutMs: 1_000, signal });
    if (lease === null) return 0;
    await lease.complete();
    return lease.items.length;
  };
  return measure({ phase: "lease + complete", context, options, call });
}

function formatPhases({ table }: Context, phases: readonly Phase[]): string {
  const head = ["", "items", "seconds", "items/s", "calls", "p50 ms", "p99 ms"];
  return table(
    head,
    phases.map((row) => [
      row.phase,
      row.items,
      row.seconds,
      row.items_per_second,
      row.calls,
      row.p50,
      row.p99,
    ]),
  );
}
