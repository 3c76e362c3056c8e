// Counts the answered requests by operation, code and duration. Operations come from the contract's
// table, so clients cannot add more of them.

import type { Histogram } from "../../engine/model/api.ts";
import { Observations } from "../../engine/model/histogram.ts";
import { operations, pages } from "../../openapi/operations.ts";

/** Label of paths that the contract does not have. */
const other = "~other";

/** Seconds, from a reply out of memory to the longest wait for an item. */
export const requestSecondsBounds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 60, 300, 900,
];

/** The answered requests of one operation. */
class OperationCounter {
  readonly operation: string;
  readonly countByCode = new Map<number, number>();
  readonly seconds = new Observations(requestSecondsBounds);

  constructor(operation: string) {
    this.operation = operation;
  }

  add(code: number, seconds: number): void {
    this.countByCode.set(code, (this.countByCode.get(code) ?? 0) + 1);
    this.seconds.add(seconds);
  }
}

/** The counts of one operation, as they cross between threads. */
export interface OperationCounts {
  readonly operation: string;
  readonly countByCode: ReadonlyMap<number, number>;
  readonly seconds: Histogram;
}

export class RequestCounts {
  readonly #byPath: ReadonlyMap<string, OperationCounter>;
  readonly #elsewhere = new OperationCounter(other);

  constructor() {
    const paths = Object.entries({ ...operations, ...pages });
    this.#byPath = new Map(paths.map(([name, { path }]) => [path, new OperationCounter(name)]));
  }

  /** Returns the counter of a path, to be called with the code and the seconds of each answer. */
  counterOf(path: string): (code: number, seconds: number) => void {
    const answered = this.#byPath.get(path) ?? this.#elsewhere;
    return (code, seconds) => answered.add(code, seconds);
  }

  /** Operations with at least one request. */
  get counted(): OperationCounts[] {
    const answered = [...this.#byPath.values(), this.#elsewhere];
    return answered.filter(({ countByCode }) => countByCode.size > 0);
  }

  /** Adds the counts of another thread. */
  add(counted: readonly OperationCounts[]): void {
    const byName = new Map(
      [...this.#byPath.values(), this.#elsewhere].map((one) => [one.operation, one]),
    );
    for (const { operation, countByCode, seconds } of counted) {
      const mine = byName.get(operation);
      if (mine === undefined) continue;
      for (const [code, count] of countByCode) {
        mine.countByCode.set(code, (mine.countByCode.get(code) ?? 0) + count);
      }
      mine.seconds.merge(seconds);
    }
  }
}
