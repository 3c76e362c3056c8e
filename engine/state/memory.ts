// The state of a shard in memory, rebuilt from its store at start and after a failed commit. Turns
// change it while they decide; if the commit fails, all of it is discarded, so it never contains
// more than the store.

import { type Lease, wakeAt } from "../../stores/item.ts";
import {
  type EarlyRef,
  type Image,
  type Mark,
  noReads,
  type Store,
  type TurnRecord,
} from "../../stores/store.ts";
import { assert } from "../model/assert.ts";
import type { Epochs } from "../model/epochs.ts";
import { groupSettingsIn, groupSlotIn } from "../model/group-settings.ts";
import { Heap } from "../model/heap.ts";
import type { Passed } from "../model/messages.ts";
import { partitionSlot, priorities, slotFor } from "../model/priority.ts";
import { groupIn } from "../model/provenance.ts";
import type { Random } from "../model/random.ts";
import { arrivedKey, Outbox } from "../relay/outbox.ts";
import type { ChangeSet } from "../turn/change-set.ts";
import { epochsIn } from "../turn/label.ts";
import { Groups } from "./groups.ts";
import { byLapse, type LeasedFields, type LeaseRange, Partition } from "./partition.ts";
import type { LogicalQueue } from "./queue.ts";
import type { QueueRules } from "./queue-rules.ts";
import { decodeReceipts, Receipts } from "./receipts.ts";

/** An imported item may have expired before 1970, so 0 is not early enough. */
const beforeAll: EarlyRef = { expireDeadline: Number.MIN_SAFE_INTEGER, slot: 0, seq: 0 };

/** Scheduled items whose due times a start reads. */
const dueTimesRead = 4_096;

/** The fields of a leased item that memory keeps. */
type KnownItem = Pick<Mark, "seq" | "createdAt" | "expireDeadline" | "attempts" | "past">;

/** State that is not in the store, or need not be read again. */
interface MemoryOptions {
  readonly rules: QueueRules;
  /** Passed on because there may be millions; absent: they are read from the store. */
  readonly receipts?: Receipts;
  /**
   * The memory before. It has the holders of leased items; a sequence number is leased only once.
   * It also has the heads of partitions; `headsBefore` corrects those that the void turn has moved.
   */
  readonly former?: Pick<Memory, "partitions" | "outbox"> & Pick<ChangeSet, "headsBefore">;
  /** The epochs of this opening. */
  readonly epochs?: Epochs;
  /** Begins a new epoch, as each opening must. */
  readonly random?: Random;
}

/** The places of ids of one partition, in their order. */
export interface IdPlaces {
  /** `null` = not an id of the partition. */
  readonly seqs: readonly (number | null)[];
  /** `null` = all in the own slot of the partition. */
  readonly slots: readonly number[] | null;
}

export interface HeldItems {
  readonly items: readonly KnownItem[];
  /** The sum over all items. */
  readonly payloadBytes: number;
  /** The client of each item; absent = unknown. */
  readonly holders?: readonly string[];
}

function receiptsIn(image: Image): Receipts {
  const receipts = new Receipts();
  for (const { entries, ...turn } of image.receipts) {
    for (const receipt of decodeReceipts(entries)) receipts.add(receipt, turn);
  }
  return receipts;
}

export class Memory {
  readonly rules: QueueRules;
  readonly epochs: Epochs;
  /** The store does not have the latest epoch yet; the first commit writes it. */
  isEpochNew: boolean;
  readonly partitions = new Map<number, Partition>();
  /** Every run that still has leased items; the next to lapse is on top. */
  readonly runs = new Heap<LeaseRange>(byLapse);
  /** Partitions by floor: none of their items expires before it. */
  readonly floors = new Heap<{ readonly floor: number; readonly partition: Partition }>({
    less: (a, b) => a.floor < b.floor,
    isLive: ({ floor, partition }) => floor === partition.expireFloor,
  });
  /** Partitions whose floor has passed; the sweep searches their heads for expired items. */
  readonly expiring = new Set<Partition>();
  /** No early item expires before this instant. */
  earlyFloor = 0;
  /** The scan of expired early items continues after this one. */
  earlyAfter = beforeAll;
  /** No scheduled item is due, or expires, before this instant. */
  wakeFloor = 0;
  /** No unique key needs to be removed before this instant. */
  uniqueFloor = 0;
  readonly outbox: Outbox;
  /** The last item received from each other shard; under the own number, the last one sent. */
  readonly inbound = new Map<number, number>();
  /** The last item of this shard that each other shard is known to have. */
  readonly arrived = new Map<number, number>();
  /** Leases without any item, which only damage explains; the next turn ends them. */
  readonly emptied: Lease[] = [];
  readonly clearing = new Set<Partition>();
  readonly recounting = new Set<Partition>();
  /** By slot, items found damaged during a move; they are quarantined instead. */
  readonly #damaged = new Map<number, Set<number>>();
  /** The stored progress of tasks, by task id. */
  readonly tasks: Map<string, string>;
  readonly receipts: Receipts;
  /** By the own slot of the partition, for queues that are grouped. */
  readonly groups = new Map<number, Groups>();
  #rankLast = 0;
  lastTurn: TurnRecord;

  private constructor(
    shard: number,
    image: Image,
    { rules, receipts, former, epochs, random }: MemoryOptions,
  ) {
    this.rules = rules;
    const stored = epochsIn(image.tags);
    const first = image.tallies.reduce(
      (most, { nextSeq }) => Math.max(most, nextSeq),
      stored.begin,
    );
    this.epochs = epochs ?? (random === undefined ? stored : stored.next(first, random));
    this.isEpochNew = this.epochs.tag !== stored.tag;
    this.tasks = new Map(image.tasks.map(({ taskId, text }) => [taskId, text]));
    this.receipts = receipts ?? receiptsIn(image);
    this.lastTurn = image.turns.at(-1) ?? { turn: 0, at: 0, tag: "" };
    for (const tally of image.tallies) {
      const partition = new Partition(tally.slot, this, tally);
      this.partitions.set(tally.slot, partition);
      if (tally.itemCount > 0) this.floors.push({ floor: 0, partition });
      if (partition.isClearing) this.clearing.add(partition);
      const { slot } = tally;
      // Cleared items that are not removed yet must not be leased again.
      const before = former?.headsBefore.get(slot) ?? former?.partitions.get(slot)?.head ?? 0;
      partition.head = Math.max(partition.clearReadyBelow, before);
    }
    this.#loadGroups(image);
    for (const { sourceShard, outboundSeq } of image.inbound) {
      if (sourceShard < 0) this.arrived.set(arrivedKey(sourceShard), outboundSeq);
      else this.inbound.set(sourceShard, outboundSeq);
    }
    this.outbox = new Outbox(image.outbox, this.inbound.get(shard) ?? 0, former?.outbox);
    for (const { held, ...lease } of image.leases) {
      if (held.length === 0) this.emptied.push(lease);
      else {
        const payloadBytes = held.reduce((sum, mark) => sum + mark.payloadBytes, 0);
        const before = former?.partitions.get(lease.slot)?.held;
        const holders = held.map(({ seq }) => before?.get(seq)?.holder ?? "");
        this.hold(this.partition(lease.slot), lease, { items: held, payloadBytes, holders });
        for (const { past, attempts } of held) {
          const grouped = groupIn(past);
          if (grouped === null) continue;
          this.groupsAt(lease.slot).lease(grouped.group, { rank: grouped.rank, attempts }, 0);
        }
      }
    }
  }

  static async load(
    shard: number,
    store: Store,
    kept: MemoryOptions,
  ): Promise<{ memory: Memory; image: Image }> {
    const image = await store.load({ receipts: kept.receipts === undefined });
    const memory = new Memory(shard, image, kept);
    await memory.#readDueTimes(store);
    return { memory, image };
  }

  /** Reads the first due times; the other items count as due no earlier than the last of these. */
  async #readDueTimes(store: Store): Promise<void> {
    const aside = this.partitions.values().reduce((sum, one) => sum + one.asideCount, 0);
    if (aside === 0) return;
    const waking = { until: Number.MAX_SAFE_INTEGER, items: dueTimesRead };
    const { found } = (await store.read({ ...noReads, waking })).waking;
    const left = new Map<Partition, number>();
    for (const { slot, dueAt } of found) {
      const partition = this.partition(slot);
      partition.dueTimes.add(dueAt);
      left.set(partition, (left.get(partition) ?? partition.asideCount) - 1);
    }
    const last = found.at(-1);
    for (const partition of this.partitions.values()) {
      const others = left.get(partition) ?? partition.asideCount;
      if (others > 0) partition.dueTimes.add(last === undefined ? 0 : wakeAt(last), others);
    }
  }

  #loadGroups({ groups, tasks }: Image): void {
    for (const count of groups) {
      this.groupsAt(count.partition).load(count);
      this.#rankLast = Math.max(this.#rankLast, count.rankLast);
    }
    for (const { taskId, text } of tasks) {
      const slot = groupSlotIn(taskId);
      if (slot === null) continue;
      const settings = groupSettingsIn(text);
      this.groupsAt(slot).settings.set(settings.group, settings);
    }
  }

  /** The groups of the partition that has the slot, whose queue is grouped. */
  groupsAt(slot: number): Groups {
    const own = partitionSlot(slot);
    return this.groups.getOrInsertComputed(
      own,
      () => new Groups(() => this.rules.ownerAt(own)?.queue),
    );
  }

  /** The order of the next item that enters a group. */
  nextRank(): number {
    this.#rankLast += 1;
    return this.#rankLast;
  }

  /** The partition of a slot, created on first use. */
  partition(slot: number): Partition {
    // Called several times per call: a closure for `getOrInsertComputed` would cost more than
    // `get`.
    return this.partitions.get(slot) ?? this.#newPartition(slot);
  }

  #newPartition(slot: number): Partition {
    const partition = new Partition(slot, this);
    this.partitions.set(slot, partition);
    return partition;
  }

  /** All slots in use of the partition whose own slot is `slot`. */
  partitionsAt(slot: number): Partition[] {
    const known = this.rules.ownerAt(slot)?.queue.levels.priorities ?? [0];
    return priorities
      .filter((one) => known.includes(one) || this.partitions.has(slotFor(slot, one)))
      .map((one) => this.partition(slotFor(slot, one)));
  }

  /** The places of ids in the partition whose own slot is `slot`. */
  placesOf(slot: number, ids: readonly string[]): IdPlaces {
    let partition = this.partition(slot);
    let slots: number[] | null = null;
    const seqs = ids.map((id, index) => {
      let seq = partition.seqOf(id);
      if (seq === null) {
        // Neighbours mostly have the same priority.
        partition = this.partitionsAt(slot).find((one) => one.seqOf(id) !== null) ?? partition;
        seq = partition.seqOf(id);
      }
      if (slots === null && partition.slot !== slot) slots = ids.map(() => slot);
      if (slots !== null) slots[index] = partition.slot;
      return seq;
    });
    return { seqs, slots };
  }

  /** Updates the load of the partition in its queue and returns the queue; `null` = no owner. */
  updateLoad(partition: Partition): LogicalQueue | null {
    const { slot, priority, readyCount: ready, held, asideCount: aside } = partition;
    const owner = this.rules.ownerAt(slot);
    const load = { ready, leased: held.size, aside };
    owner?.queue.levels.at(priority).update(owner.partition, load);
    return owner?.queue ?? null;
  }

  /** The last item sent to other shards, and the last received from each. */
  passed(shard: number): Passed {
    const others = [...this.inbound].filter(([source]) => source !== shard);
    return { sent: this.outbox.seqLast, taken: others, arrived: [...this.arrived] };
  }

  /** Records a lease of these items, at least one. */
  hold(
    partition: Partition,
    lease: Lease,
    { items, payloadBytes, holders }: HeldItems,
  ): LeaseRange {
    const run: LeaseRange = {
      lease,
      seqs: items.map(({ seq }) => seq),
      payloadBytesMean: payloadBytes / items.length,
      next: 0,
      heldCount: items.length,
    };
    const heldBefore = partition.held.size;
    let held: LeasedFields | null = null;
    for (const [index, { seq, createdAt, expireDeadline, attempts, past }] of items.entries()) {
      const holder = holders?.[index] ?? "";
      if (
        held === null ||
        held.createdAt !== createdAt ||
        held.expireDeadline !== expireDeadline ||
        held.attempts !== attempts ||
        held.past !== past ||
        held.holder !== holder
      ) {
        held = { run, createdAt, expireDeadline, attempts, past, holder };
      }
      partition.held.set(seq, held);
    }
    assert(partition.held.size === heldBefore + items.length, "two leases cover one item");
    partition.addRange(run);
    this.runs.push(run);
    return run;
  }

  /** Records a new early item. */
  addEarly(expireDeadline: number): void {
    this.earlyFloor = Math.min(this.earlyFloor, expireDeadline);
    // The present scan has passed it, so it starts again.
    if (expireDeadline <= this.earlyAfter.expireDeadline) this.earlyAfter = beforeAll;
  }

  /** Early items up to this one were checked; `null`: all that have expired. */
  scannedEarly(after: EarlyRef | null): void {
    this.earlyAfter = after ?? beforeAll;
  }

  markDamaged(items: readonly { readonly slot: number; readonly seq: number }[]): void {
    for (const { slot, seq } of items) {
      this.#damaged.getOrInsertComputed(slot, () => new Set()).add(seq);
    }
  }

  isDamaged(slot: number, seq: number): boolean {
    return this.#damaged.size > 0 && (this.#damaged.get(slot)?.has(seq) ?? false);
  }
}
