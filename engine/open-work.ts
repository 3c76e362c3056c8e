// The work that workers still have at an instant of a test clock: finishing the items they hold and
// leasing the ready ones. An advance can wait for it before time moves on.

import { after, type TestClock } from "./model/clock.ts";
import type { Catalog } from "./state/catalog.ts";
import type { LogicalQueue } from "./state/queue.ts";

/** Between two polls, by the machine's clock. */
const lookMs = 2;

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
  readonly #givenUp = new Map<LogicalQueue, number>();
  /** Queues with ready items that had no lease request in time. */
  readonly #unasked = new Set<LogicalQueue>();

  constructor(options: OpenWorkOptions) {
    this.#options = options;
    this.#since = options.clock.now();
  }

  /** Returns whether there was work to wait for; gives up work not done in time. */
  async wait(deadline: number): Promise<boolean> {
    const { machine } = this.#options.clock;
    if (this.#count() === 0) return false;
    const until = Math.min(machine.now() + this.#options.handlerTimeoutMs, deadline);
    while (this.#count() > 0) {
      if (machine.now() >= until) {
        this.#giveUp();
        break;
      }
      await new Promise<void>((resolve) => after(machine, lookMs, resolve));
    }
    return true;
  }

  #count(): number {
    const catalogs = this.#options.catalogs();
    const deadQueues = catalogs[0]?.deadQueueNames ?? new Set();
    let sum = 0;
    for (const queue of catalogs.flatMap(({ queues }) => [...queues])) {
      const isDeadQueue = deadQueues.has(queue.definition.name);
      const items = this.#itemsOf(queue, { mayBeAsked: !isDeadQueue && !this.#unasked.has(queue) });
      const givenUp = Math.min(this.#givenUp.get(queue) ?? 0, items);
      this.#givenUp.set(queue, givenUp);
      sum += items - givenUp;
    }
    return sum;
  }

  /** `mayBeAsked`: a worker just started may not have sent a lease request yet. */
  #itemsOf(queue: LogicalQueue, { mayBeAsked }: { readonly mayBeAsked: boolean }): number {
    const { leased, ready } = queue.itemCounts;
    const isOffered = queue.itemsAllowed(this.#options.clock.now()) > 0;
    return leased + (isOffered && (mayBeAsked || this.#isAsked(queue)) ? ready : 0);
  }

  #isAsked({ line, activity }: LogicalQueue): boolean {
    return line.size > 0 || (activity.lastLeaseRequest?.at ?? 0) >= this.#since;
  }

  #giveUp(): void {
    for (const queue of this.#options.catalogs().flatMap(({ queues }) => [...queues])) {
      if (!this.#isAsked(queue)) this.#unasked.add(queue);
      this.#givenUp.set(queue, this.#itemsOf(queue, { mayBeAsked: false }));
    }
  }
}
