// One run of a phase of the load generator, shared by all of its connections: what is left to do, and
// how long the calls took.

import { Samples } from "../report/statistics.ts";
import type { Phase } from "./orders.ts";

/** Without an answer for so long, items are lost or the server hangs. */
const silenceMsMax = 20_000;

export class Run {
  readonly produce = new Samples();
  readonly lease = new Samples();
  readonly complete = new Samples();
  readonly finished: Promise<number>;
  #resolve: (at: number) => void = () => undefined;
  #reject: (cause: Error) => void = () => undefined;
  readonly #items: number;
  #toProduce: number;
  /** By group and queue, items that no lease in flight has asked for. */
  readonly #toLease: readonly number[][];
  #toProduced: number;
  #toComplete: number;
  #heardAt = performance.now();
  /** Consumers without anything to ask for, until a lease brings less than it asked for. */
  readonly #idle: (() => void)[] = [];

  /** `toLease`: by group and queue, how many items consumers get. */
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

  /** How many to ask for, of the group's first queue from `from` on that has any. */
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

  /** Has it called if there is something to lease again. */
  whenAny(resume: () => void): void {
    this.#idle.push(resume);
  }

  /** A lease returned less than it asked for; 0 with a 454. */
  leasedLess({ group, queue }: Claim, by: number): void {
    if (by === 0) return;
    const queues = this.#toLease[group] as number[];
    queues[queue] = (queues[queue] as number) + by;
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

export interface Claim {
  readonly group: number;
  /** Its place among the queues of the group. */
  readonly queue: number;
  readonly count: number;
}
