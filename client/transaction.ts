// Collects completes, retries and produces, and sends them as one atomic call.

import type { Call, InnerOptions } from "./call.ts";
import { InvalidRequest } from "./errors.ts";
import { checkedItems, type LeasedItem, type NewItem, originOf } from "./items.ts";
import { type Lease, type RetryOptions, retryFields } from "./lease.ts";
import type { ProduceItem, RequestFor, RetryItem, TransactReply } from "./wire.ts";

/** A lease, for its unfinished items, or items of any leases. */
export type Finished = Lease | LeasedItem | readonly LeasedItem[];

/** Collects changes, which the server then makes atomically. */
export interface Transaction {
  complete(what: Finished): void;
  retry(what: Finished, how?: RetryOptions): void;
  /** All items for one queue are added to one partition, in this order. */
  produce(queue: string | { readonly name: string }, items: NewItem | readonly NewItem[]): void;
}

export type Build = (transaction: Transaction) => void | Promise<void>;

export type TransactOutcome = "completed" | "retried" | "dead";

interface PartitionName {
  readonly queue_name: string;
  readonly partition: number;
}

export class TransactionBuilder implements Transaction {
  readonly #complete = new Map<string, PartitionName & { readonly ids: string[] }>();
  readonly #retry = new Map<string, PartitionName & { readonly items: RetryItem[] }>();
  readonly #produce = new Map<string, ProduceItem[]>();
  readonly #finished = new Map<LeasedItem, TransactOutcome>();

  /** The outcome of an item in this transaction; `null` = none. */
  endOf(item: LeasedItem): TransactOutcome | null {
    return this.#finished.get(item) ?? null;
  }

  complete(what: Finished): void {
    for (const item of itemsOf(what)) {
      const target = this.#finish(item, "completed");
      const key = keyOf(target);
      const part = this.#complete.get(key) ?? { ...target, ids: [] };
      this.#complete.set(key, part);
      part.ids.push(item.id);
    }
  }

  retry(what: Finished, how: RetryOptions = {}): void {
    const fields = retryFields(how);
    for (const item of itemsOf(what)) {
      const target = this.#finish(item, how.dead === true ? "dead" : "retried");
      const key = keyOf(target);
      const part = this.#retry.get(key) ?? { ...target, items: [] };
      this.#retry.set(key, part);
      part.items.push({ id: item.id, ...fields });
    }
  }

  produce(queue: string | { readonly name: string }, items: NewItem | readonly NewItem[]): void {
    const name = typeof queue === "string" ? queue : queue.name;
    const before = this.#produce.get(name) ?? [];
    this.#produce.set(name, [...before, ...checkedItems("transact", items)]);
  }

  #finish(item: LeasedItem, end: TransactOutcome): PartitionName {
    const origin = originOf(item);
    if (origin === null) throw refused("expected an item of a lease of this client");
    this.#finished.set(item, end);
    const { queue_name, partition } = origin;
    return { queue_name, partition };
  }

  async send(call: Call, options?: InnerOptions): Promise<TransactReply> {
    const request: RequestFor<"transact"> = {
      complete: [...this.#complete.values()],
      retry: [...this.#retry.values()],
      produce: [...this.#produce].map(([queue_name, items]) => ({ queue_name, items })),
    };
    const { reply } = await call("transact", request, options);
    for (const item of this.#finished.keys()) originOf(item)?.left.delete(item);
    return reply;
  }
}

/** Sends what `build` has collected. */
export async function transact(
  call: Call,
  build: Build,
  options?: InnerOptions,
): Promise<TransactReply> {
  const transaction = new TransactionBuilder();
  await build(transaction);
  return transaction.send(call, options);
}

function itemsOf(what: Finished): readonly LeasedItem[] {
  if ("lapsesAt" in what) return what.items.filter((item) => originOf(item)?.left.has(item));
  return Array.isArray(what) ? what : [what as LeasedItem];
}

function keyOf({ queue_name, partition }: PartitionName): string {
  return `${partition} ${queue_name}`;
}

function refused(why: string): InvalidRequest {
  const message = `transaction is invalid; ${why}`;
  return new InvalidRequest({ operation: "transact", status: null, message });
}
