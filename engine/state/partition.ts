// The state of one slot of a partition in memory, that is of its items of one priority: their
// counts, the position of the head, and the leased items. All of it is derived from the store. Its
// size depends on the leased items, never on those that wait.

import type { Item, Lease, ScheduledItem, Tally } from "../../stores/item.ts";
import type { Origin } from "../../stores/queue.ts";
import { assert } from "../model/assert.ts";
import type { Epochs } from "../model/epochs.ts";
import { Heap, type Heaped } from "../model/heap.ts";
import { formatId, idPrefix, seqOf } from "../model/ids.ts";
import type { PartitionCounts, PartitionSettings } from "../model/messages.ts";
import { priorityOf } from "../model/priority.ts";
import { DueTimes } from "./due-times.ts";
import type { QueueRules } from "./queue-rules.ts";
import { ReadyMarks } from "./ready-marks.ts";

/** The items of one lease row that are still leased. */
export interface LeaseRange {
  readonly lease: Lease;
  /** The numbers of its first items, in order; some may have left since. */
  readonly seqs: readonly number[];
  /** The mean payload size of its items at first. */
  readonly payloadBytesMean: number;
  /** The index in `seqs` at which the sweep continues after the lapse. */
  next: number;
  heldCount: number;
}

/** The fields of a leased item that decide its fate; consecutive equal items share one object. */
export interface LeasedFields {
  readonly run: LeaseRange;
  readonly createdAt: number;
  readonly expireDeadline: number;
  readonly attempts: number;
  readonly past: string;
  /** The client that leased it; `""` = unknown, as after a start. */
  readonly holder: string;
}

/** The progress of a recount; its sums are not used before it has read all items. */
export interface Recount {
  /** Items before this number are counted, or removed. */
  itemsBefore: number;
  itemCount: number;
  createdAtSum: bigint;
  /** Scheduled items before this number are counted, or removed. */
  scheduledBefore: number;
  scheduledCount: number;
  retriedCount: number;
}

/** By lease deadline; runs with the same deadline are in queue order. */
export const byLapse: Heaped<LeaseRange> = {
  less: ({ lease: a }, { lease: b }) =>
    a.leaseDeadline < b.leaseDeadline || (a.leaseDeadline === b.leaseDeadline && a.first < b.first),
  isLive: ({ heldCount }) => heldCount > 0,
};

/** A sum of instants beyond this could lose its last digits. */
const exactMax = 2 ** 52;

export class Partition {
  readonly slot: number;
  /** The priority of its items. */
  readonly priority: number;
  readonly #epochs: Epochs;
  /** The prefix of ids of the latest epoch. */
  readonly #idPrefix: string;
  readonly #rules: QueueRules;
  nextSeq = 0;
  /** Items from this number on are written by the present turn and not in the store yet. */
  committedSeq = 0;
  itemCount = 0;
  scheduledCount = 0;
  retriedCount = 0;
  expireDeadlineMax = 0;
  clearReadyBelow = 0;
  clearScheduledBelow = 0;
  clearRetriedBelow = 0;
  #createdAtSum = 0n;
  /** A plain number, because adding to a bigint for every item is measurably slower. */
  #createdAtChange = 0;

  /** No ready item is before this number. */
  head = 0;
  /** All items before this number are leased or early. */
  expireFrom = 0;
  /**
   * No item from `expireFrom` on expires before this instant, except early ones. 0 after a start,
   * when the instant is unknown.
   */
  expireFloor = Number.POSITIVE_INFINITY;
  /** The last sweep of the head found no item that stays ready, so the next one reads more. */
  hasMoreExpired = false;
  /** Ready items that a clear has marked but not removed yet. */
  doomedCount = 0;
  /** A clear of ready items continues here; items before it are removed or leased. */
  clearReadyFrom = 0;
  /** A clear of scheduled items continues here; items before it are removed, or are to stay. */
  clearScheduledFrom = 0;
  /** `null` if no recount is running. */
  recount: Recount | null = null;
  readonly held = new Map<number, LeasedFields>();
  readonly runs = new Set<LeaseRange>();
  readonly #lapses = new Heap<LeaseRange>(byLapse);
  readonly readyMarks = new ReadyMarks();
  readonly dueTimes = new DueTimes();

  constructor(
    slot: number,
    { epochs, rules }: { readonly epochs: Epochs; readonly rules: QueueRules },
    tally?: Tally,
  ) {
    this.slot = slot;
    this.priority = priorityOf(slot);
    this.#rules = rules;
    this.#epochs = epochs;
    this.#idPrefix = idPrefix(epochs.tag, slot);
    this.nextSeq = Math.max(epochs.first, tally?.nextSeq ?? 0);
    this.committedSeq = this.nextSeq;
    if (tally === undefined) {
      this.head = this.nextSeq;
      return;
    }
    this.itemCount = tally.itemCount;
    this.scheduledCount = tally.scheduledCount;
    this.retriedCount = tally.retriedCount;
    this.expireDeadlineMax = tally.expireDeadlineMax;
    this.doomedCount = tally.doomedCount;
    this.clearReadyBelow = tally.clearReadyBelow;
    this.clearScheduledBelow = tally.clearScheduledBelow;
    this.clearRetriedBelow = tally.clearRetriedBelow;
    this.#createdAtSum = tally.createdAtSum;
    if (tally.itemCount > 0) this.expireFloor = 0;
    this.readyMarks.isUnknown = tally.itemCount > 0;
  }

  /** `null` while no queue owns the slot. */
  get settings(): PartitionSettings | null {
    return this.#rules.settingsAt(this.slot);
  }

  idOf(seq: number): string {
    if (seq >= this.#epochs.first) return formatId(this.#idPrefix, seq);
    return this.#epochs.idOf({ slot: this.slot, seq }, this.#origins);
  }

  /** The number in an id of this partition; `null` = the id is not one of its ids. */
  seqOf(id: string): number | null {
    const latest = seqOf(this.#idPrefix, id);
    if (latest !== null) return latest >= this.#epochs.first ? latest : null;
    const place = this.#epochs.placeOf(id);
    if (place === null) return null;
    const { epochs, slot, seq } = place;
    const isHere =
      epochs === null
        ? slot === this.slot
        : this.#origins.some((origin) => origin.epochs === epochs && origin.slot === slot);
    return isHere ? seq : null;
  }

  get #origins(): readonly Origin[] {
    return this.#rules.originsAt(this.slot);
  }

  /** The number of the first id of this partition that is not less than this text. */
  seqFrom(text: string): number {
    return this.#epochs.seqFrom(this.slot, text, this.#origins);
  }

  get readyCount(): number {
    return this.itemCount - this.held.size - this.doomedCount;
  }

  /** Reads of the head begin here, behind the leased items at its start. */
  get firstFrom(): number {
    let from = this.head;
    for (let held = this.held.get(from); held !== undefined; held = this.held.get(from)) {
      from = held.run.lease.last + 1;
    }
    return from;
  }

  /** Scheduled items and items that wait for a retry. */
  get asideCount(): number {
    return this.scheduledCount + this.retriedCount;
  }

  get isClearing(): boolean {
    return this.clearReadyBelow + this.clearScheduledBelow + this.clearRetriedBelow > 0;
  }

  /** Whether a clear will remove the item. */
  isCleared(item: Pick<Item, "seq"> | Pick<ScheduledItem, "seq" | "retried">): boolean {
    const { seq } = item;
    if ("retried" in item) {
      return seq < (item.retried ? this.clearRetriedBelow : this.clearScheduledBelow);
    }
    return seq < this.clearReadyBelow && !this.held.has(seq);
  }

  /** The span of all leases. */
  get heldSpan(): { readonly next: number; readonly before: number } {
    let [next, before] = [this.runs.size === 0 ? 0 : this.nextSeq, 0];
    for (const { lease } of this.runs) {
      next = Math.min(next, lease.first);
      before = Math.max(before, lease.last + 1);
    }
    return { next, before };
  }

  /** `null` = nothing is leased. */
  get nextLapseAt(): number | null {
    return this.#lapses.peek()?.lease.leaseDeadline ?? null;
  }

  /** Items that a clear still has to remove, including scheduled items that arrived since. */
  get clearingCount(): number {
    const scheduled = this.clearScheduledBelow > 0 ? this.scheduledCount : 0;
    return this.doomedCount + scheduled + (this.clearRetriedBelow > 0 ? this.retriedCount : 0);
  }

  addRange(run: LeaseRange): void {
    this.runs.add(run);
    this.#lapses.push(run);
  }

  added(createdAt: number, count = 1): void {
    this.itemCount += count;
    if (count * createdAt > exactMax) {
      this.#createdAtSum += BigInt(count) * BigInt(createdAt);
      return;
    }
    this.#createdAtChange += count * createdAt;
    if (this.#createdAtChange > exactMax) this.#foldSum();
  }

  removed({ seq, createdAt }: { readonly seq: number; readonly createdAt: number }): void {
    assert(this.itemCount > 0, "an item was removed from a partition that counts none");
    this.itemCount -= 1;
    if (this.recount !== null && seq < this.recount.itemsBefore) {
      this.recount.itemCount -= 1;
      this.recount.createdAtSum -= BigInt(createdAt);
    }
    this.#createdAtChange -= createdAt;
    if (this.#createdAtChange < -exactMax) this.#foldSum();
  }

  /** The `createdAt` of a damaged item cannot be trusted, so the mean is subtracted instead. */
  removedDamaged(seq: number): void {
    if (this.recount !== null && seq < this.recount.itemsBefore) {
      this.recount.createdAtSum -= this.recount.createdAtSum / BigInt(this.recount.itemCount);
      this.recount.itemCount -= 1;
    }
    const sum = this.#foldSum();
    const mean = this.itemCount === 0 ? 0n : sum / BigInt(this.itemCount);
    this.itemCount -= 1;
    this.#createdAtSum = this.itemCount === 0 ? 0n : sum - mean;
  }

  unscheduled({ seq, retried, dueAt }: Pick<ScheduledItem, "seq" | "retried" | "dueAt">): void {
    this.dueTimes.remove(dueAt);
    const counts = retried ? "retriedCount" : "scheduledCount";
    this[counts] -= 1;
    if (this.recount !== null && seq < this.recount.scheduledBefore) this.recount[counts] -= 1;
  }

  /** Replaces the counts with those of a complete recount. */
  counted({ itemCount, createdAtSum, scheduledCount, retriedCount }: Recount): void {
    this.itemCount = itemCount;
    this.#createdAtSum = createdAtSum;
    this.#createdAtChange = 0;
    this.scheduledCount = scheduledCount;
    this.retriedCount = retriedCount;
    this.recount = null;
  }

  #foldSum(): bigint {
    this.#createdAtSum += BigInt(this.#createdAtChange);
    this.#createdAtChange = 0;
    return this.#createdAtSum;
  }

  tally(): Tally {
    return {
      slot: this.slot,
      nextSeq: this.nextSeq,
      itemCount: this.itemCount,
      createdAtSum: this.#foldSum(),
      scheduledCount: this.scheduledCount,
      retriedCount: this.retriedCount,
      expireDeadlineMax: this.expireDeadlineMax,
      doomedCount: this.doomedCount,
      clearReadyBelow: this.clearReadyBelow,
      clearScheduledBelow: this.clearScheduledBelow,
      clearRetriedBelow: this.clearRetriedBelow,
    };
  }

  /** The items of the turn are committed. */
  committed(stamp: number): void {
    if (this.nextSeq > this.committedSeq) this.readyMarks.note(this.committedSeq, stamp);
    this.committedSeq = this.nextSeq;
  }

  /** Since when the oldest ready item has been ready, without early items at the head. */
  get oldestReadyAt(): number | null {
    if (this.readyCount > 0) {
      return this.readyMarks.since(this.head, Math.max(this.head, this.expireFrom));
    }
    this.readyMarks.clear();
    return null;
  }

  /** Since when the first ready item has been ready, or slightly earlier; 0 = unknown. */
  headReadyAt(now: number): number {
    const { firstFrom } = this;
    return firstFrom < this.committedSeq ? (this.readyMarks.since(firstFrom) ?? 0) : now;
  }

  get nextDueAt(): number | null {
    if (this.asideCount > 0) return this.dueTimes.first;
    this.dueTimes.clear();
    return null;
  }

  counts(): PartitionCounts {
    return {
      slot: this.slot,
      ready: this.readyCount,
      leased: this.held.size,
      scheduled: this.scheduledCount,
      retried: this.retriedCount,
      nextLapseAt: this.nextLapseAt,
      ...(this.isClearing && { clearing: this.clearingCount }),
      oldestReadyAt: this.oldestReadyAt,
      nextDueAt: this.nextDueAt,
    };
  }

  averageAgeMs(now: number): number {
    if (this.itemCount === 0) return 0;
    return Math.max(0, now - Number(this.#foldSum() / BigInt(this.itemCount)));
  }

  averageLeasedAgeMs(now: number): number {
    if (this.held.size === 0) return 0;
    let sum = 0;
    for (const run of this.runs) sum += (now - run.lease.leasedAt) * run.heldCount;
    return Math.max(0, Math.round(sum / this.held.size));
  }
}
