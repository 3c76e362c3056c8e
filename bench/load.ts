// The load generator: a process of its own that does what it is told over IPC
// (orders.ts). Each connection has one call in flight; connections share one
// count of what is left to do.

import { Delivery } from "./delivery.ts";
import { Channel } from "./http-client.ts";
import { LeaseReader } from "./lease-reader.ts";
import {
  type Answer,
  type Order,
  type Phase,
  type PhaseResult,
  type Work,
  wakePauseMs,
} from "./orders.ts";
import { CompleteBytes, LeaseBytes, ProduceBytes, type QueueAddress } from "./requests.ts";
import { type CallTimes, Samples } from "./statistics.ts";

/** Without an answer for so long, items are lost or the server hangs. */
const silenceMsMax = 20_000;
/** A lease that finds nothing; longer than a produce takes, so that few calls are in vain. */
const leaseTimeout = "2s";

/** One run of a phase: what is left to do, shared by all connections. */
class Run {
  readonly produce = new Samples();
  readonly lease = new Samples();
  readonly complete = new Samples();
  readonly finished: Promise<number>;
  #resolve: (at: number) => void = () => undefined;
  #reject: (cause: Error) => void = () => undefined;
  readonly #items: number;
  #toProduce: number;
  /** By queue, items that no lease in flight has asked for. */
  readonly #toLease: number[];
  #toProduced: number;
  #toComplete: number;
  #heardAt = performance.now();
  /** Consumers without anything to ask for, until a lease brings less than it asked for. */
  readonly #idle: (() => void)[] = [];

  /** `toLease`: by queue, how many items consumers get. */
  constructor(phase: Phase, items: number, toLease: readonly number[]) {
    this.#items = items;
    this.#toProduce = phase === "consume" ? 0 : items;
    this.#toProduced = this.#toProduce;
    this.#toLease = phase === "produce" ? [] : [...toLease];
    this.#toComplete = phase === "produce" ? 0 : items;
    this.finished = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const watch = setInterval(() => {
      if (performance.now() - this.#heardAt < silenceMsMax) return;
      this.fail(
        new Error(
          `nothing came for ${silenceMsMax / 1_000} s; ${this.#toProduced} items not produced, ${this.#toComplete} not completed`,
        ),
      );
    }, 1_000);
    const stop = (): void => clearInterval(watch);
    this.finished.then(stop, stop);
  }

  fail(cause: Error): void {
    this.#reject(cause);
  }

  /** The first number to produce, or -1. */
  claimProduce(count: number): number {
    if (this.#toProduce === 0) return -1;
    const first = this.#items - this.#toProduce;
    this.#toProduce -= count;
    return first;
  }

  produced(count: number, at: number): void {
    this.#toProduced -= count;
    this.#heard(at);
  }

  /** How many to ask for, of the first queue from `from` on that has any. */
  claimLease(batchSize: number, from: number): Claim | null {
    for (let step = 0; step < this.#toLease.length; step += 1) {
      const queue = (from + step) % this.#toLease.length;
      const left = this.#toLease[queue] as number;
      if (left === 0) continue;
      const count = Math.min(batchSize, left);
      this.#toLease[queue] = left - count;
      return { queue, count };
    }
    return null;
  }

  /** Has it called if there is something to lease again. */
  whenAny(resume: () => void): void {
    this.#idle.push(resume);
  }

  /** A lease brought less than it asked for; 0 with a 454. */
  leasedLess(queue: number, by: number): void {
    if (by === 0) return;
    this.#toLease[queue] = (this.#toLease[queue] as number) + by;
    for (const resume of this.#idle.splice(0)) resume();
  }

  completed(count: number, at: number): void {
    this.#toComplete -= count;
    this.#heard(at);
  }

  #heard(at: number): void {
    this.#heardAt = at;
    if (this.#toProduced === 0 && this.#toComplete === 0) this.#resolve(at);
  }
}

interface Claim {
  /** Its place in the list of queues. */
  readonly queue: number;
  readonly count: number;
}

interface ProducerOptions {
  readonly work: Work;
  /** Where it begins among the queues. */
  readonly from: number;
  /** By queue, how many items were produced; the producer adds to it. */
  readonly produced: number[];
}

class Producer {
  readonly #channel: Channel;
  readonly #bytes: readonly ProduceBytes[];
  readonly #options: ProducerOptions;

  constructor(channel: Channel, queues: readonly QueueAddress[], options: ProducerOptions) {
    this.#channel = channel;
    this.#bytes = queues.map((queue) => new ProduceBytes(queue, options.work));
    this.#options = options;
  }

  start(run: Run): void {
    const { work, from, produced } = this.#options;
    const { itemsPerCall, backlog } = work;
    let queue = from % this.#bytes.length;
    let begun = 0;
    const next = (now: number): void => {
      const first = run.claimProduce(itemsPerCall);
      if (first < 0) return;
      begun = now;
      queue = (queue + 1) % this.#bytes.length;
      const bytes = this.#bytes[queue] as ProduceBytes;
      this.#channel.send(bytes.numbered(backlog + first), hear);
    };
    const hear = ({ status }: { status: number }): void => {
      const now = performance.now();
      if (status !== 200) {
        run.fail(new Error(`produce answered ${status}`));
        return;
      }
      run.produce.add(now - begun);
      produced[queue] = (produced[queue] as number) + itemsPerCall;
      run.produced(itemsPerCall, now);
      next(now);
    };
    next(performance.now());
  }
}

interface QueueBytes {
  readonly lease: LeaseBytes;
  readonly complete: CompleteBytes;
}

class Consumer {
  readonly #channel: Channel;
  readonly #queues: readonly QueueBytes[];
  readonly #reader: LeaseReader;
  readonly #batchSize: number;
  readonly #delivery: Delivery;
  /** The place among the queues where it asks next. */
  #next: number;

  constructor(
    channel: Channel,
    queues: readonly QueueAddress[],
    options: { batchSize: number; index: number; delivery: Delivery },
  ) {
    const { batchSize, index, delivery } = options;
    const client = { clientId: `client-${index}`, requestTimeout: leaseTimeout };
    this.#channel = channel;
    this.#queues = queues.map((queue) => ({
      lease: new LeaseBytes(queue, client),
      complete: new CompleteBytes(queue, batchSize),
    }));
    this.#reader = new LeaseReader(batchSize);
    this.#batchSize = batchSize;
    this.#delivery = delivery;
    this.#next = index;
  }

  start(run: Run): void {
    const reader = this.#reader;
    let queue = 0;
    let asked = 0;
    let begun = 0;

    const lease = (now: number): void => {
      const claim = run.claimLease(this.#batchSize, this.#next);
      if (claim === null) {
        run.whenAny(resume);
        return;
      }
      queue = claim.queue;
      asked = claim.count;
      this.#next = queue + 1;
      begun = now;
      this.#channel.send(bytes().lease.of(asked), heardLease);
    };
    const bytes = () => this.#queues[queue] as QueueBytes;
    const resume = (): void => lease(performance.now());

    const heardLease = (reply: Parameters<LeaseReader["read"]>[0]): void => {
      const now = performance.now();
      if (reply.status === 454) {
        run.leasedLess(queue, asked);
        lease(now);
        return;
      }
      if (reply.status !== 200) {
        run.fail(new Error(`lease answered ${reply.status}`));
        return;
      }
      run.lease.add(now - begun);
      reader.read(reply);
      run.leasedLess(queue, asked - reader.count);
      const { complete } = bytes();
      complete.begin(reader.partition);
      for (let index = 0; index < reader.count; index += 1) {
        this.#delivery.see(reader.numbers[index] as number);
        complete.add(reply.bytes, reader.idAt[index] as number);
      }
      begun = performance.now();
      this.#channel.send(complete.end(), heardComplete);
    };

    const heardComplete = ({ status }: { status: number }): void => {
      const now = performance.now();
      if (status !== 200) {
        run.fail(new Error(`complete answered ${status}`));
        return;
      }
      run.complete.add(now - begun);
      run.completed(reader.count, now);
      lease(now);
    };

    resume();
  }
}

interface Prepared {
  readonly work: Work;
  readonly delivery: Delivery;
  readonly producers: readonly Producer[];
  readonly consumers: readonly Consumer[];
  readonly channels: readonly Channel[];
  /** By queue, how many items were produced. */
  readonly produced: readonly number[];
  /** Told when a connection breaks. */
  fail: (cause: Error) => void;
}

let prepared: Prepared | null = null;

async function prepare(port: number, work: Work): Promise<void> {
  for (const channel of prepared?.channels ?? []) channel.close();
  const channels = await Promise.all(
    Array.from({ length: work.connections }, () =>
      Channel.open(port, (cause) => prepared?.fail(cause)),
    ),
  );
  const queues = [work.queue, ...(work.others ?? [])].map((queue) => ({ port, queue }));
  const produced = queues.map(() => 0);
  const delivery = new Delivery(work.backlog + work.items);
  prepared = {
    work,
    delivery,
    channels,
    produced,
    producers: channels.map(
      (channel, from) => new Producer(channel, queues, { work, from, produced }),
    ),
    consumers: channels.map((channel, index) => {
      return new Consumer(channel, queues, { batchSize: work.itemsPerCall, index, delivery });
    }),
    fail: () => undefined,
  };
}

async function run(phase: Phase): Promise<PhaseResult> {
  if (prepared === null) throw new Error("a run needs a prepare before it");
  const { work, producers, consumers, delivery, produced } = prepared;
  // With several queues, what each has is known only once all is produced.
  const current = new Run(phase, work.items, work.others ? produced : [work.items]);
  prepared.fail = (cause) => current.fail(cause);
  const producing = {
    produce: producers.length,
    consume: 0,
    together: Math.max(1, producers.length >> 1),
  }[phase];
  const cpu = process.cpuUsage();
  const begin = performance.now();
  for (const producer of producers.slice(0, producing)) producer.start(current);
  for (const consumer of consumers.slice(producing)) consumer.start(current);
  const end = await current.finished;
  const { user, system } = process.cpuUsage(cpu);
  return {
    seconds: (end - begin) / 1_000,
    clientCpuSeconds: (user + system) / 1e6,
    produce: current.produce.times(),
    lease: current.lease.times(),
    complete: current.complete.times(),
    delivered: delivery.delivered,
  };
}

/** From the first byte of a produce to the last of the lease reply it wakes. */
async function wake(port: number, queue: string, times: number): Promise<CallTimes> {
  const fail = (cause: Error): void => {
    throw cause;
  };
  const [producing, leasing] = await Promise.all([
    Channel.open(port, fail),
    Channel.open(port, fail),
  ]);
  const address = { port, queue };
  const produce = new ProduceBytes(address, { itemsPerCall: 1, payloadBytes: 100 });
  const lease = new LeaseBytes(address, { clientId: "waiting", requestTimeout: "1m" });
  const complete = new CompleteBytes(address, 1);
  const reader = new LeaseReader(1);
  const samples = new Samples();
  for (let index = 0; index < times; index += 1) {
    const leased = Promise.withResolvers<number>();
    leasing.send(lease.of(1), (reply) => {
      const at = performance.now();
      if (reply.status !== 200) leased.reject(new Error(`lease answered ${reply.status}`));
      else {
        reader.read(reply);
        complete.begin(reader.partition);
        complete.add(reply.bytes, reader.idAt[0] as number);
        leased.resolve(at);
      }
    });
    await Bun.sleep(wakePauseMs);
    const produced = Promise.withResolvers<void>();
    const begin = performance.now();
    producing.send(produce.numbered(index), () => produced.resolve());
    samples.add((await leased.promise) - begin);
    await produced.promise;
    const completed = Promise.withResolvers<void>();
    leasing.send(complete.end(), () => completed.resolve());
    await completed.promise;
  }
  producing.close();
  leasing.close();
  return samples.times();
}

async function obey(order: Order): Promise<Answer> {
  switch (order.kind) {
    case "prepare":
      await prepare(order.port, order.work);
      return { kind: "prepared" };
    case "run":
      return { kind: "ran", result: await run(order.phase) };
    case "wake":
      return { kind: "woken", times: await wake(order.port, order.queue, order.times) };
  }
}

function answer(said: Answer): void {
  process.send?.(said);
}

process.on("message", (order: Order) => {
  obey(order).then(answer, (cause: Error) => answer({ kind: "failed", message: cause.message }));
});
// Nothing is left to do for whom nobody listens to.
process.on("disconnect", () => process.exit(0));
answer({ kind: "ready" });
