// The work that workers still have at an instant of a test clock: finishing the items they hold and
// leasing the ready ones. An advance can wait for it before time moves on.

import { after, type TestClock } from "./model/clock.ts";
import type { Catalog } from "./state/catalog.ts";
import type { LogicalQueue } from "./state/queue.ts";

/** Between two polls, by the machine's clock. */
const pollMs = 2;

export interface OpenWorkOptions {
  readonly clock: TestClock;
  readonly catalogs: () => readonly Pick<Catalog, "queues" | "deadQueueNames">[];
  /** How long to wait at an instant, by the machine's clock. */
  readonly handlerTimeoutMs: number;
}

export class OpenWork {
  readonly #options: OpenWorkOptions;
  /** A queue with lease requests since this instant has workers. */
  readonly #since: number;
  /** Items per queue that were not finished in time. */
  readonly #abandoned = new Map<LogicalQueue, number>();
  /** Queues with ready items and without a lease request in time. */
  readonly #idle = new Set<LogicalQueue>();

  constructor(options: OpenWorkOptions) {
    this.#options = options;
    this.#since = options.clock.now();
  }

  /** Returns whether there was work to wait for; abandons work not done in time. */
  async wait(deadline: number): Promise<boolean> {
    const { machine } = this.#options.clock;
    if (this.#count() === 0) return false;
    const until = Math.min(machine.now() + this.#options.handlerTimeoutMs, deadline);
    while (this.#count() > 0) {
      if (machine.now() >= until) {
        this.#abandon();
        break;
      }
      await new Promise<void>((resolve) => after(machine, pollMs, resolve));
    }
    return true;
  }

  #count(): number {
    const catalogs = this.#options.catalogs();
    const deadQueues = catalogs[0]?.deadQueueNames ?? new Set();
    let sum = 0;
    for (const queue of catalogs.flatMap(({ queues }) => [...queues])) {
      const isDeadQueue = deadQueues.has(queue.definition.name);
      const items = this.#itemsOf(queue, {
        mayHaveWorkers: !isDeadQueue && !this.#idle.has(queue),
      });
      const abandoned = Math.min(this.#abandoned.get(queue) ?? 0, items);
      this.#abandoned.set(queue, abandoned);
      sum += items - abandoned;
    }
    return sum;
  }

  /** `mayHaveWorkers`: a worker just started may not have sent a lease request yet. */
  #itemsOf(queue: LogicalQueue, { mayHaveWorkers }: { readonly mayHaveWorkers: boolean }): number {
    const { leased, ready } = queue.itemCounts;
    const isOffered = queue.itemsAllowed(this.#options.clock.now()) > 0;
    return leased + (isOffered && (mayHaveWorkers || this.#hasRequests(queue)) ? ready : 0);
  }

  #hasRequests({ line, activity }: LogicalQueue): boolean {
    return line.size > 0 || (activity.lastLeaseRequest?.at ?? 0) >= this.#since;
  }

  #abandon(): void {
    for (const queue of this.#options.catalogs().flatMap(({ queues }) => [...queues])) {
      if (!this.#hasRequests(queue)) this.#idle.add(queue);
      this.#abandoned.set(queue, this.#itemsOf(queue, { mayHaveWorkers: false }));
    }
  }
}
