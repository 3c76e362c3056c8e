// What a handler is told beside its item.

import type { Lease } from "./lease.ts";
import type { Build } from "./transaction.ts";
import type { CallOptions } from "./transport.ts";
import type { TransactReply } from "./wire.ts";

export interface Handling {
  /** Aborted when the item is lost or about to lapse, and when a stop has no more patience. */
  readonly signal: AbortSignal;
  readonly queue: string;
  readonly partition: number;
  /** Of the queue; 0 = no limit. An item with as many `attempts` has its last. */
  readonly maxAttempts: number;
  /**
   * Finishes items and produces others, all of it or nothing. The item is completed with it, unless
   * it says something else of it; after that the worker has nothing more to say of the item.
   */
  readonly transact: (build: Build, options?: CallOptions) => Promise<TransactReply>;
}

/** What a handler is told. Most never ask for the signal, which costs more than all else of an item. */
export class ItemHandling implements Handling {
  readonly queue: string;
  readonly partition: number;
  readonly maxAttempts: number;
  #signals: AbortController | null = null;
  #aborted: { readonly reason: unknown } | null = null;

  readonly transact: Handling["transact"];

  constructor(
    lease: Pick<Lease, "queue_name" | "partition" | "max_attempts">,
    transact: Handling["transact"],
  ) {
    this.queue = lease.queue_name;
    this.partition = lease.partition;
    this.maxAttempts = lease.max_attempts;
    this.transact = transact;
  }

  get signal(): AbortSignal {
    this.#signals ??= new AbortController();
    if (this.#aborted !== null) this.#signals.abort(this.#aborted.reason);
    return this.#signals.signal;
  }

  abort(reason: unknown): void {
    this.#aborted ??= { reason };
    this.#signals?.abort(reason);
  }
}
