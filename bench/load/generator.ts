// The load generator: a separate process that receives commands over IPC (commands.ts). Each connection
// has one call in flight; all connections share one count of the remaining work.

import { Channel } from "../../testing/http-client.ts";
import { type CallTimes, Samples } from "../report/statistics.ts";
import type { Command, CommandResult, Phase, PhaseResult, ThreadedWork, Work } from "./commands.ts";
import { Delivery } from "./delivery.ts";
import { LeaseReader } from "./lease-reader.ts";
import { CompleteBytes, LeaseBytes, ProduceBytes, type QueueAddress } from "./requests.ts";
import { type Claim, Run } from "./run.ts";
import { openByThread } from "./thread-channels.ts";

/**
 * Timeout of a lease without items; longer than a produce takes, so that few leases return empty.
 */
const leaseTimeout = "2s";

interface ProducerOptions {
  readonly work: Work | ThreadedWork;
  /** Its first queue. */
  readonly from: number;
  /** Produced items by queue; the producer adds to it. */
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
    const { itemsPerCall, backlog = 0 } = work;
    let queue = from % this.#bytes.length;
    let begun = 0;
    const next = (now: number): void => {
      const first = run.claimProduce(itemsPerCall);
      if (first < 0) return;
      begun = now;
      queue = (queue + 1) % this.#bytes.length;
      const bytes = this.#bytes[queue] as ProduceBytes;
      this.#channel.send(bytes.numbered(backlog + first), onReply);
    };
    const onReply = ({ status }: { status: number }): void => {
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

interface ConsumerOptions {
  readonly batchSize: number;
  readonly group: number;
  readonly index: number;
  readonly delivery: Delivery;
  readonly groupRuns: boolean | undefined;
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
  readonly #group: number;
  /** The queue of its next call. */
  #next: number;

  constructor(channel: Channel, queues: readonly QueueAddress[], options: ConsumerOptions) {
    const { batchSize, group, index, delivery, groupRuns } = options;
    const client = { clientId: `client-${index}`, requestTimeout: leaseTimeout, groupRuns };
    this.#channel = channel;
    this.#queues = queues.map((queue) => ({
      lease: new LeaseBytes(queue, client),
      complete: new CompleteBytes(queue, batchSize),
    }));
    this.#reader = new LeaseReader(batchSize);
    this.#batchSize = batchSize;
    this.#delivery = delivery;
    this.#group = group;
    this.#next = index;
  }

  start(run: Run): void {
    const reader = this.#reader;
    let claim: Claim = { group: this.#group, queue: 0, count: 0 };
    let begun = 0;

    const lease = (now: number): void => {
      const next = run.claimLease({ group: this.#group, from: this.#next }, this.#batchSize);
      if (next === null) {
        run.whenLeasable(resume);
        return;
      }
      claim = next;
      this.#next = claim.queue + 1;
      begun = now;
      this.#channel.send(bytes().lease.of(claim.count), onLease);
    };
    const bytes = () => this.#queues[claim.queue] as QueueBytes;
    const resume = (): void => lease(performance.now());

    const onLease = (reply: Parameters<LeaseReader["read"]>[0]): void => {
      const now = performance.now();
      if (reply.status === 454) {
        run.returnClaimed(claim, claim.count);
        lease(now);
        return;
      }
      if (reply.status !== 200) {
        run.fail(new Error(`lease answered ${reply.status}`));
        return;
      }
      run.lease.add(now - begun);
      reader.read(reply);
      run.returnClaimed(claim, claim.count - reader.count);
      const { complete } = bytes();
      complete.begin(reader.partition);
      for (let index = 0; index < reader.count; index += 1) {
        this.#delivery.see(reader.numbers[index] as number);
        complete.add(reply.bytes, reader.idAt[index] as number);
      }
      begun = performance.now();
      this.#channel.send(complete.end(), onComplete);
    };

    const onComplete = ({ status }: { status: number }): void => {
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

/** Connections that call the same queues. */
interface Group {
  readonly queues: readonly string[];
  readonly channels: readonly Channel[];
}

interface Prepared {
  readonly work: Work | ThreadedWork;
  readonly delivery: Delivery;
  readonly producers: readonly Producer[];
  readonly consumers: readonly Consumer[];
  readonly channels: readonly Channel[];
  /** Produced items by group and queue. */
  readonly produced: readonly (readonly number[])[];
  /** Called when a connection breaks. */
  fail: (cause: Error) => void;
}

let prepared: Prepared | null = null;

async function prepare(port: number, work: Work | ThreadedWork): Promise<void> {
  for (const channel of prepared?.channels ?? []) channel.close();
  const groups = await openGroups(port, work);
  const produced = groups.map(({ queues }) => queues.map(() => 0));
  const delivery = new Delivery((work.backlog ?? 0) + work.items);
  const producers: Producer[] = [];
  const consumers: Consumer[] = [];
  for (const [group, { queues, channels }] of groups.entries()) {
    const addresses = queues.map((queue) => ({ port, queue }));
    const counts = produced[group] as number[];
    for (const [from, channel] of channels.entries()) {
      const index = producers.length;
      producers.push(new Producer(channel, addresses, { work, from, produced: counts }));
      const { itemsPerCall: batchSize, groupRuns } = work;
      const options = { batchSize, group, index, delivery, groupRuns };
      consumers.push(new Consumer(channel, addresses, options));
    }
  }
  const channels = groups.flatMap((group) => group.channels);
  const fail = () => undefined;
  prepared = { work, delivery, channels, produced, producers, consumers, fail };
}

async function openGroups(port: number, work: Work | ThreadedWork): Promise<Group[]> {
  const open = () => Channel.open(port, (cause) => prepared?.fail(cause));
  const { connections } = work;
  if ("queue" in work) {
    const channels = await Promise.all(Array.from({ length: connections }, open));
    return [{ queues: [work.queue], channels }];
  }
  const { pid, queues } = work;
  const countFor = (names: readonly string[]) => (names.length === 0 ? 0 : connections);
  const counts = { first: countFor(queues.first), other: countFor(queues.other) };
  const channels = await openByThread(open, { port, pid, counts });
  return [
    { queues: queues.first, channels: channels.first },
    { queues: queues.other, channels: channels.other },
  ];
}

async function run(phase: Phase): Promise<PhaseResult> {
  if (prepared === null) throw new Error("a run needs a prepare before it");
  const { work, producers, consumers, delivery, produced } = prepared;
  // With several queues, the items of each are known only once all are produced.
  const current = new Run(phase, work.items, "queue" in work ? [[work.items]] : produced);
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

/** Pause before each wake-up, in which the machine is idle. */
const wakePauseMs = 4;

/** From the first byte of a produce to the last byte of the lease reply that it wakes. */
async function wake(port: number, queue: string, times: number): Promise<CallTimes> {
  const fail = (cause: Error): void => {
    throw cause;
  };
  const [producing, leasing] = await Promise.all([
    Channel.open(port, fail),
    Channel.open(port, fail),
  ]);
  const address = { port, queue };
  const produce = new ProduceBytes(address, { itemsPerCall: 1 });
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

async function perform(command: Command): Promise<CommandResult> {
  switch (command.kind) {
    case "prepare":
      await prepare(command.port, command.work);
      return { kind: "prepared" };
    case "run":
      return { kind: "ran", result: await run(command.phase) };
    case "wake":
      return { kind: "woken", times: await wake(command.port, command.queue, command.times) };
  }
}

function report(result: CommandResult): void {
  process.send?.(result);
}

process.on("message", (command: Command) => {
  perform(command).then(report, ({ message }: Error) => report({ kind: "failed", message }));
});
process.on("disconnect", () => process.exit(0));
report({ kind: "ready" });
