// A lease while its items are handled: it is extended until the last item is done. A handler's
// signal is aborted when its item is lost or about to lapse.

import type { CallOptions } from "./call.ts";
import { LeaseLapsing, LeaseLost } from "./errors.ts";
import { type Handling, ItemHandling } from "./handling.ts";
import type { LeasedItem } from "./items.ts";
import type { Lease } from "./lease.ts";
import type { LeaseRenewer, RenewedLease } from "./lease-renewer.ts";
import { startTimer, steadyNow } from "./time.ts";
import { type Build, TransactionBuilder, type TransactOutcome } from "./transaction.ts";
import type { Transport } from "./transport.ts";
import type { TransactReply } from "./wire.ts";

export interface LeaseSessionOptions {
  readonly transport: Transport;
  readonly renewer: LeaseRenewer;
  readonly lease: Lease;
  /** How long before a lapse signals are aborted; default a tenth of the time left, at most 5 s. */
  readonly marginMs: number | undefined;
  /** Aborted when all handlers must end. */
  readonly hurry: AbortSignal;
}

const marginMsMax = 5_000;

export class LeaseSession implements RenewedLease {
  readonly lease: Lease;
  readonly #options: LeaseSessionOptions;
  /** Items whose outcome is not reported yet. */
  readonly #handlings = new Map<LeasedItem, ItemHandling>();
  /** Items that a running transact is about to finish. */
  readonly #ending = new Set<LeasedItem>();
  readonly #ended = new Map<LeasedItem, TransactOutcome>();
  readonly #sent = new Map<LeasedItem, Promise<TransactReply>>();
  readonly #leave: () => void;
  readonly #hurry = (): void => this.#abort(this.#options.hurry.reason);
  #lapsesAt: number;
  #cancel: () => void = () => undefined;

  constructor(options: LeaseSessionOptions) {
    const { lease, hurry } = options;
    this.lease = lease;
    this.#options = options;
    this.#lapsesAt = lease.lapsesAt;
    for (const item of lease.items) this.#handlings.set(item, this.#newHandling(item));
    hurry.addEventListener("abort", this.#hurry);
    if (hurry.aborted) this.#hurry();
    this.#watch();
    this.#leave = options.renewer.renew(this);
  }

  /** In `steadyNow()` time. */
  get lapsesAt(): number {
    return this.#lapsesAt;
  }

  handlingOf(item: LeasedItem): Handling {
    return this.#handlings.get(item) ?? this.#newHandling(item);
  }

  #newHandling(item: LeasedItem): ItemHandling {
    return new ItemHandling(item, this.lease, (build, options) => {
      const sent = this.#transact(item, build, options);
      this.#sent.set(item, sent);
      const ended = (): void => void this.#sent.delete(item);
      sent.then(ended, ended);
      return sent;
    });
  }

  /** Waits for a transact that the item's handler did not await. */
  async sent(item: LeasedItem): Promise<void> {
    await this.#sent.get(item);
  }

  /** The item's outcome by a transact of its handler; `null` = none. */
  endOf(item: LeasedItem): TransactOutcome | null {
    return this.#ended.get(item) ?? null;
  }

  async #transact(item: LeasedItem, build: Build, options?: CallOptions): Promise<TransactReply> {
    const transaction = new TransactionBuilder();
    await build(transaction);
    if (transaction.endOf(item) === null) transaction.complete(item);
    const items = [...this.#handlings.keys()].filter((one) => transaction.endOf(one) !== null);
    for (const one of items) this.#ending.add(one);
    try {
      const reply = await transaction.send(this.#options.transport.call, options);
      for (const one of items) this.#ended.set(one, transaction.endOf(one) as TransactOutcome);
      return reply;
    } finally {
      for (const one of items) this.#ending.delete(one);
    }
  }

  /** Call it once the item's outcome is reported or given up. */
  done(item: LeasedItem): void {
    this.#handlings.delete(item);
    if (this.#handlings.size > 0) return;
    this.#leave();
    this.#cancel();
    this.#options.hurry.removeEventListener("abort", this.#hurry);
  }

  #abort(reason: unknown, items: Iterable<LeasedItem> = this.#handlings.keys()): void {
    for (const item of items) this.#handlings.get(item)?.abort(reason);
  }

  /** Items that are still held, as far as is known. */
  get held(): readonly LeasedItem[] {
    return [...this.#handlings.keys()].filter((item) => !this.#ended.has(item));
  }

  #watch(): void {
    this.#cancel();
    const leftMs = this.#lapsesAt - steadyNow();
    const { marginMs = Math.min(marginMsMax, leftMs / 10) } = this.#options;
    const lapse = (): void => {
      const nowMs = this.#lapsesAt - marginMs - steadyNow();
      if (nowMs <= 0) this.#abort(new LeaseLapsing("the lease is about to lapse"), this.held);
      else this.#cancel = startTimer(nowMs, lapse);
    };
    lapse();
  }

  extended(lapsesAt: number): void {
    this.#lapsesAt = lapsesAt;
    if (this.#handlings.size > 0) this.#watch();
  }

  lose(item: LeasedItem, reason: string): void {
    // The transact itself may be why the item is no longer held.
    if (this.#ending.has(item) || this.#ended.has(item)) return;
    this.#handlings.get(item)?.abort(new LeaseLost(reason));
    this.done(item);
  }
}
