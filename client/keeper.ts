// Extends what a worker holds: all that it holds of one partition by one call, each time a third of
// one of its leases has passed. Trouble is tried again for as long as the leases run.

import { bounds } from "../openapi/bounds.ts";
import type { LeasedItem } from "./items.ts";
import { type Lease, withoutRefused } from "./lease.ts";
import { loopAttemptsMax } from "./poll.ts";
import { lapsesAtOf, startTimer, steadyNow } from "./time.ts";
import type { Transport } from "./transport.ts";

export interface Kept {
  readonly lease: Lease;
  /** As `steadyNow()` has it. */
  readonly lapsesAt: number;
  /** Items that are still held, as far as is known. */
  readonly held: readonly LeasedItem[];
  extended(lapsesAt: number): void;
  lose(item: LeasedItem, reason: string): void;
}

/** What each call says of it. */
type Place = Pick<Lease, "queue_name" | "partition"> & { readonly lease_timeout: string | null };

/** Between two attempts to extend a lease that has nearly lapsed. */
const pauseMsMin = 50;

export class Keeper {
  readonly #transport: Transport;
  readonly #leaseTimeout: string | null;
  readonly #holdings = new Map<number, Holding>();

  /** `leaseTimeout`: by how much it extends; absent = as long as the queue says. */
  constructor(transport: Transport, leaseTimeout?: string) {
    this.#transport = transport;
    this.#leaseTimeout = leaseTimeout ?? null;
  }

  /** Keeps it until that is ended by what is returned, or it has lapsed after all. */
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

/** What is held of one partition; over once that is nothing. */
class Holding {
  readonly #transport: Transport;
  readonly #place: Place;
  readonly #forget: () => void;
  readonly #over = new AbortController();
  /** When each is due. */
  readonly #kept = new Map<Kept, number>();
  /** When the timer ends; infinite while a call is under way. */
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
    // Given, because an abort without a reason makes an error, stack and all.
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
    // Those that were due first may have been handled since.
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
      // It is tried again for as long as the leases run; then the handlers are told.
      return;
    }
    // Nothing of it is held any more.
    if (Number.isNaN(lapsesAt)) return;
    for (const kept of group) kept.extended(lapsesAt);
  }

  /** Resolves with the instant until which they are held, as `steadyNow()` has it. */
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

/** Leases whose items one call takes together. */
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
