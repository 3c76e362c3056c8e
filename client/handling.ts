// The second argument of a handler.

import type { CallOptions } from "./call.ts";
import { type LeasedItem, maxAttemptsOf } from "./items.ts";
import type { Lease } from "./lease.ts";
import type { Build } from "./transaction.ts";
import type { TransactReply } from "./wire.ts";

export interface Handling {
  /** Aborted when the item is lost or about to lapse, and when a stop has waited for `drainMs`. */
  readonly signal: AbortSignal;
  readonly queue: string;
  readonly partition: number;
  /** The item's limit, or the queue's; 0 = no limit. In the last attempt it equals `attempts`. */
  readonly maxAttempts: number;
  /**
   * Finishes items and produces others atomically. The item itself is completed unless the
   * transaction retries it. The worker then does not report the item again.
   */
  readonly transact: (build: Build, options?: CallOptions) => Promise<TransactReply>;
}

/** Creates the signal lazily: few handlers use it, and it costs more than all else of an item. */
export class ItemHandling implements Handling {
  readonly queue: string;
  readonly partition: number;
  readonly maxAttempts: number;
  #signals: AbortController | null = null;
  #aborted: { readonly reason: unknown } | null = null;

  readonly transact: Handling["transact"];

  constructor(
    item: LeasedItem,
    lease: Pick<Lease, "queue_name" | "partition" | "max_attempts">,
    transact: Handling["transact"],
  ) {
    this.queue = lease.queue_name;
    this.partition = lease.partition;
    this.maxAttempts = maxAttemptsOf(item, lease);
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
