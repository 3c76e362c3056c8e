// Extends the leases of a worker. One call extends all leases of a partition, each time a third of
// one of them has passed. Failed calls are repeated for as long as the leases run.

import { bounds } from "../openapi/bounds.ts";
import type { LeasedItem } from "./items.ts";
import { type Lease, withoutRefused } from "./lease.ts";
import { loopAttemptsMax } from "./lease-poller.ts";
import { lapsesAtOf, startTimer, steadyNow } from "./time.ts";
import type { Transport } from "./transport.ts";

export interface RenewedLease {
  readonly lease: Lease;
  /** In `steadyNow()` time. */
  readonly lapsesAt: number;
  /** Items that are still held, as far as is known. */
  readonly held: readonly LeasedItem[];
  extended(lapsesAt: number): void;
  lose(item: LeasedItem, reason: string): void;
}

/** The fields that all calls of a partition share. */
type ExtendFields = Pick<Lease, "queue_name" | "partition"> & {
  readonly lease_timeout: string | null;
};

/** Pause between attempts to extend a lease that has nearly lapsed. */
const pauseMsMin = 50;

export class LeaseRenewer {
  readonly #transport: Transport;
  readonly #leaseTimeout: string | null;
  readonly #partitions = new Map<number, PartitionRenewals>();

  /** `leaseTimeout`: duration of an extension; absent = each item's, or the queue's. */
  constructor(transport: Transport, leaseTimeout?: string) {
    this.#transport = transport;
    this.#leaseTimeout = leaseTimeout ?? null;
  }

  /** Extends the lease until the returned function is called, or the lease has lapsed. */
  renew(renewed: RenewedLease): () => void {
    const { queue_name, partition } = renewed.lease;
    const fields = { queue_name, partition, lease_timeout: this.#leaseTimeout };
    const forget = (): void => void this.#partitions.delete(partition);
    const renewals =
      this.#partitions.get(partition) ?? new PartitionRenewals(this.#transport, fields, forget);
    this.#partitions.set(partition, renewals);
    renewals.add(renewed);
    return () => renewals.delete(renewed);
  }
}

/** The leases of one partition; ends when none is left. */
class PartitionRenewals {
  readonly #transport: Transport;
  readonly #fields: ExtendFields;
  readonly #forget: () => void;
  readonly #over = new AbortController();
  /** When each lease is due for an extension. */
  readonly #dueAts = new Map<RenewedLease, number>();
  /** When the timer fires; infinite while a call is in progress. */
  #wakesAt = Number.POSITIVE_INFINITY;
  #isExtending = false;
  #cancel: () => void = () => undefined;

  constructor(transport: Transport, fields: ExtendFields, forget: () => void) {
    this.#transport = transport;
    this.#fields = fields;
    this.#forget = forget;
  }

  add(renewed: RenewedLease): void {
    const dueAt = dueAtOf(renewed);
    this.#dueAts.set(renewed, dueAt);
    if (dueAt < this.#wakesAt) this.#wakeAt(dueAt);
  }

  delete(renewed: RenewedLease): void {
    this.#dueAts.delete(renewed);
    if (this.#dueAts.size > 0 || this.#over.signal.aborted) return;
    // With a reason, because an abort without one creates an error with a stack.
    this.#over.abort("over");
    this.#cancel();
    this.#forget();
  }

  #wakeAt(dueAt: number): void {
    if (this.#isExtending) return;
    this.#cancel();
    this.#wakesAt = dueAt;
    this.#cancel = startTimer(Math.max(0, dueAt - steadyNow()), () => void this.#wake());
  }

  async #wake(): Promise<void> {
    const now = steadyNow();
    // The leases that were due first may have ended since.
    if ([...this.#dueAts.values()].some((dueAt) => dueAt <= now)) {
      this.#isExtending = true;
      await Promise.all(grouped(this.#dueAts.keys()).map((group) => this.#extend(group)));
      this.#isExtending = false;
      for (const renewed of this.#dueAts.keys()) {
        if (renewed.lapsesAt <= steadyNow()) this.delete(renewed);
        else this.#dueAts.set(renewed, dueAtOf(renewed));
      }
    }
    if (this.#dueAts.size > 0) this.#wakeAt(Math.min(...this.#dueAts.values()));
  }

  async #extend(group: readonly RenewedLease[]): Promise<void> {
    const held = group.flatMap((renewed) =>
      renewed.held.map((item) => ({ id: item.id, item, renewed })),
    );
    let lapsesAt = Number.NaN;
    try {
      const refusals = await withoutRefused(held, async (rest) => {
        lapsesAt = await this.#send(rest);
      });
      for (const { id, item, renewed } of held) {
        const reason = refusals[id];
        if (reason !== undefined) renewed.lose(item, reason);
      }
    } catch {
      // Repeated for as long as the leases run; then the handlers' signals are aborted.
      return;
    }
    // None of the items is held any more.
    if (Number.isNaN(lapsesAt)) return;
    for (const renewed of group) renewed.extended(lapsesAt);
  }

  /** Returns the instant until which the items are held, in `steadyNow()` time. */
  async #send(
    held: readonly { readonly id: string; readonly renewed: RenewedLease }[],
  ): Promise<number> {
    const request = { ...this.#fields, ids: held.map(({ id }) => id) };
    const leftMs = Math.min(...held.map(({ renewed }) => renewed.lapsesAt)) - steadyNow();
    const timeoutMs = Math.max(1_000, leftMs);
    const options = { signal: this.#over.signal, timeoutMs, attemptsMax: loopAttemptsMax };
    const { reply, receivedAt } = await this.#transport.call("extend", request, options);
    return lapsesAtOf(reply, receivedAt);
  }
}

function dueAtOf({ lapsesAt }: RenewedLease): number {
  const now = steadyNow();
  return now + Math.max(pauseMsMin, (lapsesAt - now) / 3);
}

/** Groups leases whose items fit into one call. */
function grouped(all: Iterable<RenewedLease>): readonly (readonly RenewedLease[])[] {
  const groups: RenewedLease[][] = [];
  let count = Number.POSITIVE_INFINITY;
  for (const renewed of all) {
    const items = renewed.held.length;
    if (items === 0) continue;
    if (count + items > bounds.completeIdsMax) {
      groups.push([]);
      count = 0;
    }
    groups.at(-1)?.push(renewed);
    count += items;
  }
  return groups;
}
