// Counts the answered requests by operation, code and duration. Operations come from the contract's
// table, so clients cannot add more of them.

import type { Histogram } from "../../engine/model/histogram.ts";
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

/** Names of operations and pages. */
export const operationByPath: ReadonlyMap<string, string> = new Map(
  Object.entries({ ...operations, ...pages }).map(([name, { path }]) => [path, name]),
);

export class RequestCounts {
  readonly #byOperation = new Map(
    [...operationByPath.values(), other].map((name) => [name, new OperationCounter(name)]),
  );

  /** Returns the counter of a path, to be called with the code and the seconds of each reply. */
  counterOf(path: string): (code: number, seconds: number) => void {
    const counter = this.#byOperation.get(operationByPath.get(path) ?? other);
    return (code, seconds) => counter?.add(code, seconds);
  }

  /** Operations with at least one request. */
  get counted(): OperationCounts[] {
    return [...this.#byOperation.values()].filter(({ countByCode }) => countByCode.size > 0);
  }

  /** Adds the counts of another thread. */
  add(counts: readonly OperationCounts[]): void {
    for (const { operation, countByCode, seconds } of counts) {
      const own = this.#byOperation.get(operation);
      if (own === undefined) continue;
      for (const [code, count] of countByCode) {
        own.countByCode.set(code, (own.countByCode.get(code) ?? 0) + count);
      }
      own.seconds.merge(seconds);
    }
  }
}
