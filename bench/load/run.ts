// One run of a phase, shared by all connections of the load generator: the remaining work, and the
// latencies of the calls.

import { Samples } from "../report/statistics.ts";
import type { Phase } from "./commands.ts";

/** After this time without a reply, items are lost or the server hangs. */
const stalledMsMax = 20_000;

export class Run {
  readonly produce = new Samples();
  readonly lease = new Samples();
  readonly complete = new Samples();
  readonly finished: Promise<number>;
  #resolve: (at: number) => void = () => undefined;
  #reject: (cause: Error) => void = () => undefined;
  readonly #items: number;
  #toProduce: number;
  /** Items that no lease in flight has requested, by group and queue. */
  readonly #toLease: readonly number[][];
  #toProduced: number;
  #toComplete: number;
  #progressAt = performance.now();
  /** Consumers without work, until a lease returns less than it requested. */
  readonly #idle: (() => void)[] = [];

  /** `toLease`: the number of items to lease, by group and queue. */
  constructor(phase: Phase, items: number, toLease: readonly (readonly number[])[]) {
    this.#items = items;
    this.#toProduce = phase === "consume" ? 0 : items;
    this.#toProduced = this.#toProduce;
    this.#toLease = phase === "produce" ? [] : toLease.map((queues) => [...queues]);
    this.#toComplete = phase === "produce" ? 0 : items;
    this.finished = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const watch = setInterval(() => {
      if (performance.now() - this.#progressAt < stalledMsMax) return;
      this.fail(
        new Error(
          `no reply for ${stalledMsMax / 1_000} s; ${this.#toProduced} items not produced, ${this.#toComplete} not completed`,
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
    this.#noteProgress(at);
  }

  /** The number of items to request, from the group's first queue from `from` on that has any. */
  claimLease({ group, from }: { group: number; from: number }, batchSize: number): Claim | null {
    const queues = this.#toLease[group] as number[];
    for (let step = 0; step < queues.length; step += 1) {
      const queue = (from + step) % queues.length;
      const left = queues[queue] as number;
      if (left === 0) continue;
      const count = Math.min(batchSize, left);
      queues[queue] = left - count;
      return { group, queue, count };
    }
    return null;
  }

  /** Calls `resume` once there is something to lease again. */
  whenLeasable(resume: () => void): void {
    this.#idle.push(resume);
  }

  /** A lease returned fewer items than requested, by this number. */
  returnClaimed({ group, queue }: Claim, by: number): void {
    if (by === 0) return;
    const queues = this.#toLease[group] as number[];
    queues[queue] = (queues[queue] as number) + by;
    for (const resume of this.#idle.splice(0)) resume();
  }

  completed(count: number, at: number): void {
    this.#toComplete -= count;
    this.#noteProgress(at);
  }

  #noteProgress(at: number): void {
    this.#progressAt = at;
    if (this.#toProduced === 0 && this.#toComplete === 0) this.#resolve(at);
  }
}

export interface Claim {
  readonly group: number;
  /** Index of the queue in the group. */
  readonly queue: number;
  readonly count: number;
}
