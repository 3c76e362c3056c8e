// Extends the leases of a worker. One call extends all leases of a partition, each time a third of
// one of them has passed. Failed calls are repeated for as long as the leases run.

import { bounds } from "../openapi/bounds.ts";
import type { LeasedItem } from "./items.ts";
import { type Lease, withoutRefused } from "./lease.ts";
import { loopAttemptsMax } from "./poll.ts";
import { lapsesAtOf, startTimer, steadyNow } from "./time.ts";
import type { Transport } from "./transport.ts";

export interface Kept {
  readonly lease: Lease;
  /** In `steadyNow()` time. */
  readonly lapsesAt: number;
  /** Items that are still held, as far as is known. */
  readonly held: readonly LeasedItem[];
  extended(lapsesAt: number): void;
  lose(item: LeasedItem, reason: string): void;
}

/** The fields that all calls of a partition share. */
type Place = Pick<Lease, "queue_name" | "partition"> & { readonly lease_timeout: string | null };

/** Pause between attempts to extend a lease that has nearly lapsed. */
const pauseMsMin = 50;

export class Keeper {
  readonly #transport: Transport;
  readonly #leaseTimeout: string | null;
  readonly #holdings = new Map<number, Holding>();

  /** `leaseTimeout`: duration of an extension; absent = the queue's. */
  constructor(transport: Transport, leaseTimeout?: string) {
    this.#transport = transport;
    this.#leaseTimeout = leaseTimeout ?? null;
  }

  /** Extends the lease until the returned function is called, or the lease has lapsed. */
  keep(kept: Kept): () => void {
    const { queue_name, partition } = kept.lease;
    const place = { queue_name, partition, lease_timeout: this.#leaseTimeout };
    const forget = (): void => void this.#holdings.delete(partition);
    const holding = this.#holdings.get(partition) ?? new Holding(this.#transport, place, forget);
    this.#holdings.set(partition, holding);
    holding.add(kept);
    return () => holding.delete(kept);
  }
}

/** The leases of one partition; ends when none is left. */
class Holding {
  readonly #transport: Transport;
  readonly #place: Place;
  readonly #forget: () => void;
  readonly #over = new AbortController();
  /** When each lease is due for an extension. */
  readonly #kept = new Map<Kept, number>();
  /** When the timer fires; infinite while a call is in progress. */
  #wakesAt = Number.POSITIVE_INFINITY;
  #isExtending = false;
  #cancel: () => void = () => undefined;

  constructor(transport: Transport, place: Place, forget: () => void) {
    this.#transport = transport;
    this.#place = place;
    this.#forget = forget;
  }

  add(kept: Kept): void {
    const dueAt = dueAtOf(kept);
    this.#kept.set(kept, dueAt);
    if (dueAt < this.#wakesAt) this.#wakeAt(dueAt);
  }

  delete(kept: Kept): void {
    this.#kept.delete(kept);
    if (this.#kept.size > 0 || this.#over.signal.aborted) return;
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
    if ([...this.#kept.values()].some((dueAt) => dueAt <= now)) {
      this.#isExtending = true;
      await Promise.all(grouped(this.#kept.keys()).map((group) => this.#extend(group)));
      this.#isExtending = false;
      for (const kept of this.#kept.keys()) {
        if (kept.lapsesAt <= steadyNow()) this.delete(kept);
        else this.#kept.set(kept, dueAtOf(kept));
      }
    }
    if (this.#kept.size > 0) this.#wakeAt(Math.min(...this.#kept.values()));
  }

  async #extend(group: readonly Kept[]): Promise<void> {
    const held = group.flatMap((kept) => kept.held.map((item) => ({ id: item.id, item, kept })));
    let lapsesAt = Number.NaN;
    try {
      const refusals = await withoutRefused(held, async (rest) => {
        lapsesAt = await this.#send(rest);
      });
      for (const { id, item, kept } of held) {
        const reason = refusals[id];
        if (reason !== undefined) kept.lose(item, reason);
      }
    } catch {
      // Repeated for as long as the leases run; then the handlers' signals are aborted.
      return;
    }
    // None of the items is held any more.
    if (Number.isNaN(lapsesAt)) return;
    for (const kept of group) kept.extended(lapsesAt);
  }

  /** Returns the instant until which the items are held, in `steadyNow()` time. */
  async #send(held: readonly { readonly id: string; readonly kept: Kept }[]): Promise<number> {
    const request = { ...this.#place, ids: held.map(({ id }) => id) };
    const leftMs = Math.min(...held.map(({ kept }) => kept.lapsesAt)) - steadyNow();
    const timeoutMs = Math.max(1_000, leftMs);
    const options = { signal: this.#over.signal, timeoutMs, attemptsMax: loopAttemptsMax };
    const { reply, receivedAt } = await this.#transport.call("extend", request, options);
    return lapsesAtOf(reply, receivedAt);
  }
}

function dueAtOf({ lapsesAt }: Kept): number {
  const now = steadyNow();
  return now + Math.max(pauseMsMin, (lapsesAt - now) / 3);
}

/** Groups leases whose items fit into one call. */
function grouped(all: Iterable<Kept>): readonly (readonly Kept[])[] {
  const groups: Kept[][] = [];
  let count = Number.POSITIVE_INFINITY;
  for (const kept of all) {
    const items = kept.held.length;
    if (items === 0) continue;
    if (count + items > bounds.completeIdsMax) {
      groups.push([]);
      count = 0;
    }
    groups.at(-1)?.push(kept);
    count += items;
  }
  return groups;
}
