// What a turn has decided so far: the changes its one commit will make, the
// answers it will give then, and what it will tell the engine.

import type { Item, Lease, OutboundItem, ScheduledItem, Tally } from "../../stores/item.ts";
import type { CatalogEntry } from "../../stores/queue.ts";
import type { Changes, Inbound, SlotSeqs, TurnRecord } from "../../stores/store.ts";
import type { Failure } from "../errors.ts";
import type { Answer, Events, Refusal, Value } from "../messages.ts";
import type { Partition } from "./partition.ts";

type EventName = Exclude<keyof Events, "slot">;

/** Sequence numbers by slot, in the order in which they were named. */
class SeqSets {
  readonly #sets = new Map<number, Set<number>>();

  add(slot: number, seq: number): void {
    let seqs = this.#sets.get(slot);
    if (seqs === undefined) {
      seqs = new Set();
      this.#sets.set(slot, seqs);
    }
    seqs.add(seq);
  }

  has(slot: number, seq: number): boolean {
    return this.#sets.get(slot)?.has(seq) ?? false;
  }

  get size(): number {
    return this.#sets.size;
  }

  sorted(): SlotSeqs[] {
    return [...this.#sets].map(([slot, seqs]) => ({ slot, seqs: inOrder(seqs) }));
  }
}

/** They mostly come in order; where not, a typed array sorts numbers without asking back for each pair. */
function inOrder(seqs: ReadonlySet<number>): number[] {
  const list: number[] = [];
  let last = -1;
  let isSorted = true;
  for (const seq of seqs) {
    if (seq < last) isSorted = false;
    last = seq;
    list.push(seq);
  }
  return isSorted ? list : Array.from(new Float64Array(list).sort());
}

export class Draft {
  readonly insert: Item[] = [];
  readonly schedule: ScheduledItem[] = [];
  readonly removed = new SeqSets();
  readonly unscheduled = new SeqSets();
  readonly quarantined = new SeqSets();
  readonly lease: Lease[] = [];
  readonly unlease: Lease[] = [];
  readonly send: OutboundItem[] = [];
  readonly unsend: number[] = [];
  readonly receive: Inbound[] = [];
  readonly catalogPut: CatalogEntry[] = [];
  readonly catalogRemove: number[] = [];
  readonly answers: Answer[] = [];
  /** Partitions whose counts may have changed. */
  readonly touched = new Set<Partition>();
  /** Partitions whose stored tally has to be written; leasing alone leaves it as it is. */
  readonly tallied = new Set<Partition>();
  readonly #events = new Map<number, Record<EventName, number>>();
  /** Items written or removed, for the metrics and for bounding a turn. */
  itemCount = 0;
  quarantinedCount = 0;

  event(slot: number, name: EventName): void {
    let events = this.#events.get(slot);
    if (events === undefined) {
      events = { lapsed: 0, expired: 0, deadLettered: 0, discarded: 0 };
      this.#events.set(slot, events);
    }
    events[name] += 1;
  }

  get events(): Events[] {
    return [...this.#events].map(([slot, counts]) => ({ slot, ...counts }));
  }

  succeed(op: number, value: Value): void {
    this.answers.push({ op, outcome: { ok: true, value } });
  }

  fail(op: number, failed: Failure): void {
    this.answers.push({ op, outcome: failed });
  }

  get isEmpty(): boolean {
    return (
      this.insert.length +
        this.schedule.length +
        this.removed.size +
        this.unscheduled.size +
        this.quarantined.size +
        this.lease.length +
        this.unlease.length +
        this.send.length +
        this.unsend.length +
        this.receive.length +
        this.catalogPut.length +
        this.catalogRemove.length +
        this.tallied.size ===
      0
    );
  }

  /** Requests refused in this turn, for a caller whose answer is lost. */
  refusals(): Refusal[] {
    const refused: Refusal[] = [];
    for (const { op, outcome } of this.answers)
      if (!outcome.ok) refused.push({ op, failure: outcome });
    return refused;
  }

  changes(turn: TurnRecord): Changes {
    const tally: Tally[] = [];
    for (const partition of this.tallied) tally.push(partition.tally());
    return {
      turn,
      insert: this.insert,
      remove: this.removed.sorted(),
      schedule: this.schedule,
      unschedule: this.unscheduled.sorted(),
      quarantine: this.quarantined.sorted(),
      lease: this.lease,
      unlease: this.unlease,
      tally,
      send: this.send,
      unsend: this.unsend,
      receive: this.receive,
      catalogPut: this.catalogPut,
      catalogRemove: this.catalogRemove,
    };
  }
}
