// The program of the probe `gather`, bundled and run on Node and on Bun. Its tasks produce, or
// handle, one item at a time through one client of one queue. Prints items per second and the
// processor time of each in this process.

import { createClient } from "../../client/client.ts";
import type { BullModule } from "../peers/bullmq.ts";

/**
 * `floor`: the gathering client in front of HTTP and one sync per call (floor W), which can only
 * produce.
 */
export const sides = ["gathered", "alone", "ioredis", "bullmq", "floor"] as const;
export type Side = (typeof sides)[number];
export const phases = ["produce", "handle"] as const;

export interface OneByOne {
  readonly side: Side;
  readonly phase: (typeof phases)[number];
  readonly tasks: number;
  /** The port of the side's server. */
  readonly port: number;
  /** A queue for this run only. */
  readonly queue: string;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** Waiting items before `handle` is measured. */
  readonly backlog: number;
}

interface Queue {
  /** Resolves when the item is on disk. */
  produce(payload: string): Promise<unknown>;
  produceMany(payloads: readonly string[]): Promise<unknown>;
  /**
   * Handles items in this many tasks, one at a time each; the result returns the number done so
   * far.
   */
  handle(tasks: number): Promise<() => number>;
}

const payload = "x".repeat(100);
const fillItems = 1_000;
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Starts this many tasks, each of which repeats `once`. */
function repeatedly(tasks: number, once: (task: number) => Promise<unknown>): void {
  for (let task = 0; task < tasks; task += 1) {
    void (async () => {
      for (;;) await once(task);
    })();
  }
}

async function openHoldfast({ side, port, queue: name }: OneByOne): Promise<Queue> {
  const url = `http://127.0.0.1:${port}`;
  const isGathered = side !== "alone";
  // `alone` is the client from before gathering, whose calls were not bounded.
  const before = { gather: false, connectionsMax: 4_096 };
  const queue = createClient({ url, ...(isGathered ? {} : before) }).queue(name);
  if (side !== "floor") await queue.ensure({ lease_timeout: "10m", expire_timeout: "24h" });
  return {
    produce: (text) => queue.produce(text),
    produceMany: (texts) => queue.produce(texts),
    async handle(concurrency) {
      if (isGathered) {
        const worker = queue.work(() => undefined, { concurrency, processSignals: [] });
        return () => worker.counts.completed;
      }
      let count = 0;
      repeatedly(concurrency, async () => {
        const lease = await queue.lease();
        await lease?.complete();
        count += lease?.items.length ?? 0;
      });
      return () => count;
    },
  };
}

/** Resolves the module beside the bundle, where it was installed. */
async function load<Module>(name: string): Promise<Module> {
  const loaded: Module = await import(name);
  return loaded;
}

type Entry = readonly [stream: string, entries: readonly (readonly [id: string, unknown])[]];

interface Redis {
  xadd(...words: readonly string[]): Promise<unknown>;
  xgroup(...words: readonly string[]): Promise<unknown>;
  xreadgroup(...words: readonly (string | number)[]): Promise<readonly Entry[] | null>;
  xack(...words: readonly string[]): Promise<number>;
  xdel(...words: readonly string[]): Promise<number>;
}

interface RedisModule {
  readonly Redis: new (options: {
    readonly port: number;
    readonly enableAutoPipelining: boolean;
  }) => Redis;
}

async function openRedis({ port, queue: stream }: OneByOne): Promise<Queue> {
  const { Redis } = await load<RedisModule>("ioredis");
  const redis = new Redis({ port, enableAutoPipelining: true });
  const produce = (text: string): Promise<unknown> => redis.xadd(stream, "*", "p", text);
  return {
    produce,
    produceMany: (texts) => Promise.all(texts.map(produce)),
    async handle(tasks) {
      let count = 0;
      await redis.xgroup("CREATE", stream, "group", "0", "MKSTREAM");
      repeatedly(tasks, async (task) => {
        const of = ["GROUP", "group", `task-${task}`, "COUNT", 1, "STREAMS", stream, ">"];
        const [[, entries = []] = []] = (await redis.xreadgroup(...of)) ?? [];
        for (const [id] of entries) {
          await Promise.all([redis.xack(stream, "group", id), redis.xdel(stream, id)]);
          count += 1;
        }
      });
      return () => count;
    },
  };
}

async function openBullmq({ port, queue: name }: OneByOne): Promise<Queue> {
  const { Queue, Worker } = await load<BullModule>("bullmq");
  const connection = { host: "127.0.0.1", port, maxRetriesPerRequest: null };
  const queue = new Queue(name, { connection });
  const options = { removeOnComplete: true };
  return {
    produce: (p) => queue.add("item", { p }, options),
    produceMany: (texts) =>
      queue.addBulk(texts.map((p) => ({ name: "item", data: { p }, opts: options }))),
    async handle(concurrency) {
      let count = 0;
      const worker = new Worker(name, async () => undefined, { connection, concurrency });
      worker.on("completed", () => {
        count += 1;
      });
      return () => count;
    },
  };
}

const open: Readonly<Record<Side, (run: OneByOne) => Promise<Queue>>> = {
  gathered: openHoldfast,
  alone: openHoldfast,
  ioredis: openRedis,
  bullmq: openBullmq,
  floor: openHoldfast,
};

async function start(queue: Queue, { phase, tasks, backlog }: OneByOne): Promise<() => number> {
  if (phase === "handle") {
    for (let filled = 0; filled < backlog; filled += fillItems) {
      await queue.produceMany(Array.from({ length: fillItems }, () => payload));
    }
    return queue.handle(tasks);
  }
  let count = 0;
  repeatedly(tasks, async () => {
    await queue.produce(payload);
    count += 1;
  });
  return () => count;
}

export interface Measured {
  readonly itemsPerSecond: number;
  readonly cpuMicrosecondsPerItem: number;
}

/** Counts between two instants, and stops when nothing is left to handle. */
async function measure(run: OneByOne): Promise<Measured> {
  const count = await start(await open[run.side](run), run);
  await wait(run.warmUpMs);
  const [before, begin, used] = [count(), performance.now(), process.cpuUsage()];
  const isLeft = (): boolean => run.phase === "produce" || count() < run.backlog;
  while (isLeft() && performance.now() - begin < run.measureMs) await wait(5);
  const items = count() - before;
  if (items === 0) throw new Error(`${run.side}: nothing was left to measure`);
  const { user, system } = process.cpuUsage(used);
  return {
    itemsPerSecond: items / ((performance.now() - begin) / 1_000),
    cpuMicrosecondsPerItem: (user + system) / items,
  };
}

const options = process.env["ONE_BY_ONE"];
if (options !== undefined) {
  console.log(JSON.stringify(await measure(JSON.parse(options))));
  // The tasks never end by themselves.
  process.exit();
}
