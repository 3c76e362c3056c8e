// The changes of a turn: what its commit writes, the answers after that, and the events and counts
// that it reports to the engine.

import type { Item, Lease, OutboundItem, ScheduledItem } from "../../stores/item.ts";
import type { CatalogEntry } from "../../stores/queue.ts";
import type {
  Changes,
  GroupedItem,
  Inbound,
  Move,
  SlotSeqs,
  TurnRecord,
  UniqueKey,
} from "../../stores/store.ts";
import { reasonClass } from "../model/filter.ts";
import { Observations } from "../model/histogram.ts";
import { limits } from "../model/limits.ts";
import type { Answer, ItemEvents } from "../model/messages.ts";
import { type CounterName, spanBounds } from "../model/queue-counters.ts";
import type { Group, GroupedAt } from "../state/group.ts";
import { addHits, type HeavyHitters } from "../state/heavy-hitters.ts";
import type { TurnHistory } from "../state/history.ts";
import type { Granted } from "../state/lines.ts";
import type { Partition } from "../state/partition.ts";
import { encodeReceipts, type Receipt } from "../state/receipts.ts";

/** Sequence numbers by slot, in the order of `add`. */
class SeqSets {
  readonly #sets = new Map<number, Set<number>>();

  add(slot: number, seq: number): void {
    const seqs = this.#sets.get(slot);
    if (seqs === undefined) this.#sets.set(slot, new Set([seq]));
    else seqs.add(seq);
  }

  has(slot: number, seq: number): boolean {
    return this.#sets.size > 0 && (this.#sets.get(slot)?.has(seq) ?? false);
  }

  get size(): number {
    return this.#sets.size;
  }

  sorted(): SlotSeqs[] {
    return [...this.#sets].map(([slot, seqs]) => ({ slot, seqs: inOrder(seqs) }));
  }
}

/** Mostly already sorted; if not, a typed array sorts without a callback per pair. */
export function inOrder(seqs: ReadonlySet<number>): number[] {
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

/** `ItemEvents` while a turn counts them; absent fields are 0. */
interface CountedEvents extends ItemEvents {
  readonly slot: number;
  readonly counts: { [name in CounterName]?: number };
  discardedIds?: string[];
  waited?: Observations;
  held?: Observations;
  lapsedOf?: HeavyHitters;
  diedOf?: HeavyHitters;
}

export interface Newcomer extends GroupedAt {
  readonly item: Item;
}

/** Items that this turn has added to a group that had none to lease; the first ones, in order. */
interface Newcomers {
  readonly items: Newcomer[];
  /** Later ones are left out: one of them was moved, so only the store has its payload. */
  isWhole: boolean;
}

export class ChangeSet {
  /** `null` = no history is kept. */
  readonly history: TurnHistory | null;
  readonly #inserted: Item[] = [];
  readonly #insertedBySlot = new Map<number, Item[]>();
  #sortedCount = 0;
  readonly #moves: Move[] = [];
  readonly #movedInto = new Map<number, number>();
  readonly schedule: ScheduledItem[] = [];
  readonly removed = new SeqSets();
  readonly unscheduled = new SeqSets();
  readonly quarantined = new SeqSets();
  /** Unique keys of items that this turn writes, by digest. */
  readonly unique = new Map<string, UniqueKey>();
  /** The items whose unique keys are removed. */
  readonly ununique = new SeqSets();
  readonly #leases = new Set<Lease>();
  readonly #unleased: Lease[] = [];
  readonly group: GroupedItem[] = [];
  readonly ungroup: GroupedItem[] = [];
  readonly #newcomers = new Map<Group, Newcomers>();
  /** By task id, or by the key of a group's settings. */
  readonly tasks = new Map<string, string>();
  readonly send: OutboundItem[] = [];
  readonly unsend: number[] = [];
  readonly quarantineOutbound: number[] = [];
  readonly receive: Inbound[] = [];
  /** Target shards whose count of items in the outbox has changed. */
  readonly sent = new Set<number>();
  readonly answers: Answer[] = [];
  /** Partitions whose counts may have changed. */
  readonly touched = new Set<Partition>();
  /** Partitions whose tally has to be stored; leasing does not change it. */
  readonly tallied = new Set<Partition>();
  /** By digest, for the calls of this turn that have an idempotency key. */
  readonly receipts = new Map<string, Receipt>();
  /** By slot, the heads of partitions before this turn moved them. */
  readonly headsBefore = new Map<number, number>();
  /** By `queueId`; `null` = removed. */
  readonly queues = new Map<number, CatalogEntry | null>();
  readonly granted: Granted[] = [];
  /** Receipts of turns up to this one are removed; 0 = none. */
  forgetTurn = 0;
  /** The time of the turn is stored even if nothing else changes. */
  keepsTime = false;
  readonly #notes = new Map<number, readonly number[]>();
  readonly #itemEvents = new Map<number, CountedEvents>();
  /** Items written, leased or removed, for the metrics. */
  itemCount = 0;
  /** Payload bytes of items that clients retried or released. */
  returnedBytes = 0;
  quarantinedCount = 0;

  constructor(history: TurnHistory | null = null) {
    this.history = history;
  }

  insert(item: Item): void {
    this.#inserted.push(item);
  }

  /** New items of a slot, in order. Grouped on demand, because most turns do not need it. */
  insertedInto(slot: number): readonly Item[] {
    for (; this.#sortedCount < this.#inserted.length; this.#sortedCount += 1) {
      const item = this.#inserted[this.#sortedCount] as Item;
      const here = this.#insertedBySlot.get(item.slot);
      if (here === undefined) this.#insertedBySlot.set(item.slot, [item]);
      else here.push(item);
    }
    return this.#insertedBySlot.get(slot) ?? [];
  }

  /** An item entered the group; `null` = by a move. */
  join(group: Group, newcomer: Newcomer | null): void {
    if (group.waiting === 1) this.#newcomers.set(group, { items: [], isWhole: true });
    const known = this.#newcomers.get(group);
    if (known === undefined) return;
    if (newcomer === null) known.isWhole = false;
    else if (known.isWhole) known.items.push(newcomer);
  }

  newcomersOf(group: Group): readonly Newcomer[] {
    return this.#newcomers.get(group)?.items ?? [];
  }

  move(move: Move): void {
    this.#moves.push(move);
    if (move.to?.into !== "items") return;
    const { slot, seq } = move.to.item;
    if (seq < this.movedInto(slot)) this.#movedInto.set(slot, seq);
  }

  /** The lowest number of a ready item that was moved into a slot; infinite = none. */
  movedInto(slot: number): number {
    return this.#movedInto.get(slot) ?? Number.POSITIVE_INFINITY;
  }

  lease(lease: Lease): void {
    this.#leases.add(lease);
  }

  /** A lease that this turn has made is then not written at all. */
  unlease(lease: Lease): void {
    this.#leases.delete(lease);
    this.#unleased.push(lease);
  }

  #in(slot: number): CountedEvents {
    const known = this.#itemEvents.get(slot);
    if (known !== undefined) return known;
    const itemEvents: CountedEvents = { slot, counts: {} };
    this.#itemEvents.set(slot, itemEvents);
    return itemEvents;
  }

  count(slot: number, name: CounterName, items = 1): void {
    const { counts } = this.#in(slot);
    counts[name] = (counts[name] ?? 0) + items;
  }

  /** `items` were leased `ms` after they became ready. */
  waited(slot: number, ms: number, items: number): void {
    const here = this.#in(slot);
    here.waited ??= new Observations(spanBounds);
    here.waited.add(Math.max(0, ms) / 1_000, items);
  }

  /** `items` were completed `ms` after they were leased. */
  heldFor(slot: number, ms: number, items: number): void {
    const here = this.#in(slot);
    here.held ??= new Observations(spanBounds);
    here.held.add(Math.max(0, ms) / 1_000, items);
  }

  /** `id`: the first id of the item. */
  discard(slot: number, id: string): void {
    this.count(slot, "discarded");
    const here = this.#in(slot);
    here.discardedIds ??= [];
    if (here.discardedIds.length < limits.discardedIdsMax) here.discardedIds.push(id);
  }

  /** Counts a lapsed lease by its client. */
  lapsedOf(slot: number, holder: string): void {
    const here = this.#in(slot);
    here.lapsedOf ??= new Map();
    addHits(here.lapsedOf, holder, 1);
  }

  /** Counts a dead item by the reason that the client gave. */
  diedOf(slot: number, reason: string): void {
    const here = this.#in(slot);
    here.diedOf ??= new Map();
    addHits(here.diedOf, reasonClass(reason).slice(0, limits.heavyHitterCharactersMax), 1);
  }

  get events(): ItemEvents[] {
    return [...this.#itemEvents.values()];
  }

  /** Sets the values in the receipt of a request. */
  note(op: number, values: readonly number[]): void {
    this.#notes.set(op, values);
  }

  noteOf(op: number): readonly number[] {
    return this.#notes.get(op) ?? [];
  }

  answer(op: number, outcome: Answer["outcome"]): void {
    this.answers.push({ op, outcome });
  }

  movesHead({ slot, head }: Pick<Partition, "slot" | "head">): void {
    if (!this.headsBefore.has(slot)) this.headsBefore.set(slot, head);
  }

  get isEmpty(): boolean {
    const { schedule, send, unsend, quarantineOutbound, receive } = this;
    const { group, ungroup } = this;
    const items = [this.#inserted, this.#moves, schedule, group, ungroup];
    const lists = [...items, this.#unleased, send, unsend];
    const seqs = [this.removed, this.unscheduled, this.quarantined, this.ununique];
    const sets = [this.#leases, ...seqs, this.tallied, this.unique, this.tasks, this.queues];
    return (
      [...lists, quarantineOutbound, receive].every(({ length }) => length === 0) &&
      [...sets, this.receipts].every(({ size }) => size === 0) &&
      this.forgetTurn === 0 &&
      !this.keepsTime
    );
  }

  /** Whether this turn has taken the item from its place; a place is never reused. */
  hasLeft(slot: number, seq: number): boolean {
    const { removed, unscheduled, quarantined } = this;
    return removed.has(slot, seq) || unscheduled.has(slot, seq) || quarantined.has(slot, seq);
  }

  /** `tags`: the label to store with this turn; `null` = unchanged. */
  changes(turn: TurnRecord, tags: string | null): Changes {
    return {
      turn,
      insert: this.#inserted,
      move: this.#moves,
      remove: this.removed.sorted(),
      schedule: this.schedule,
      unschedule: this.unscheduled.sorted(),
      quarantine: this.quarantined.sorted(),
      lease: [...this.#leases],
      unlease: this.#unleased,
      tally: [...this.tallied].map((partition) => partition.tally()),
      send: this.send,
      unsend: this.unsend,
      quarantineOutbound: this.quarantineOutbound,
      receive: this.receive,
      receipts: this.receipts.size === 0 ? null : encodeReceipts(this.receipts.values()),
      forgetTurn: this.forgetTurn,
      unique: [...this.unique.values()],
      ununique: this.ununique.sorted(),
      group: this.group,
      ungroup: this.ungroup,
      tasks: Array.from(this.tasks, ([taskId, text]) => ({ taskId, text })),
      queue: [...this.queues.values()].filter((entry) => entry !== null),
      unqueue: [...this.queues].flatMap(([queueId, entry]) => (entry === null ? [queueId] : [])),
      tags,
    };
  }
}
