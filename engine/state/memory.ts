// All that a shard keeps in memory, rebuilt from its store at start and after a
// commit that failed. Turns change it as they decide; if their commit fails it
// is thrown away as a whole, so it never says more than the store.

import { type Lease, wakeAt } from "../../stores/item.ts";
import {
  type EarlyRef,
  type Image,
  type Mark,
  noWants,
  type Store,
  type TurnRecord,
} from "../../stores/store.ts";
import { assert } from "../model/assert.ts";
import type { Epochs } from "../model/epochs.ts";
import { Heap } from "../model/heap.ts";
import type { Passed, QueueRules } from "../model/messages.ts";
import type { Random } from "../model/random.ts";
import { arrivedKey, Outbox } from "../relay/outbox.ts";
import type { Draft } from "../turn/draft.ts";
import { epochsIn } from "../turn/label.ts";
import { byLapse, type Held, Partition, type Run } from "./partition.ts";
import type { LogicalQueue } from "./queue.ts";
import { decodeReceipts, Receipts } from "./receipts.ts";

/** An imported item may have expired before 1970, which is below 0. */
const beforeAll: EarlyRef = { expireDeadline: Number.MIN_SAFE_INTEGER, slot: 0, seq: 0 };

/** Scheduled items that a start reads, for when they are due. */
const dueTimesRead = 4_096;

/** What is kept of an item that is held. */
type Known = Pick<Mark, "seq" | "createdAt" | "expireDeadline" | "attempts" | "past">;

/** What is not in the store, or need not be read. */
interface Kept {
  readonly rules: QueueRules;
  /** Those of the store; they may be many. */
  readonly receipts?: Receipts;
  /**
   * Knows who holds what: a number that is held was never held by another. It also knows up to
   * where nothing is left to lease, except in partitions whose heads the void turn has moved.
   */
  readonly former?: Pick<Memory, "partitions" | "outbox"> & Pick<Draft, "headsBefore">;
  /** Those of this opening. */
  readonly epochs?: Epochs;
  /** Begins an epoch, as each opening has to. */
  readonly random?: Random;
}

/** What a lease holds. */
export interface Holding {
  readonly items: readonly Known[];
  /** Of all of them. */
  readonly payloadBytes: number;
  /** By item, who leased it; absent = nobody knows. */
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
  /** The store does not have the latest epoch yet: the first commit writes it. */
  isEpochNew: boolean;
  readonly partitions = new Map<number, Partition>();
  /** Every run that still holds items, the next to lapse on top. */
  readonly runs = new Heap<Run>(byLapse);
  /** Partitions by the floor under which nothing of theirs expires. */
  readonly floors = new Heap<{ readonly floor: number; readonly partition: Partition }>({
    less: (a, b) => a.floor < b.floor,
    isLive: ({ floor, partition }) => floor === partition.expireFloor,
  });
  /** Partitions whose floor was passed, and whose heads are looked through for what has expired. */
  readonly expiring = new Set<Partition>();
  /** No early item expires before it. */
  earlyFloor = 0;
  /** Where the walk over early items that have expired goes on. */
  earlyAfter = beforeAll;
  /** No scheduled item has to be looked at before it. */
  wakeFloor = 0;
  /** No unique key has to be looked at before it, to be forgotten. */
  uniqueFloor = 0;
  readonly outbox: Outbox;
  /** The last item taken from each other shard; under the shard's own number, the last it sent. */
  readonly inbound = new Map<number, number>();
  /** The last item that each other shard was known to have of this one. */
  readonly arrived = new Map<number, number>();
  /** Leases of which no item is there, as nothing but damage explains; the next turn ends them. */
  readonly emptied: Lease[] = [];
  readonly clearing = new Set<Partition>();
  /** Partitions whose items are being counted anew. */
  readonly recounting = new Set<Partition>();
  /** Items that were found damaged when they were to move, by slot; they are set aside instead. */
  readonly #spoilt = new Map<number, Set<number>>();
  /** How far tasks have come, as it is stored, by their ids. */
  readonly tasks: Map<string, string>;
  readonly receipts: Receipts;
  lastTurn: TurnRecord;

  private constructor(
    shard: number,
    image: Image,
    { rules, receipts, former, epochs, random }: Kept,
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
      // What a clear has taken is not offered again, whatever is left of it.
      const before = former?.headsBefore.get(slot) ?? former?.partitions.get(slot)?.head ?? 0;
      partition.head = Math.max(partition.clearReadyBelow, before);
    }
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
      }
    }
  }

  static async load(
    shard: number,
    store: Store,
    kept: Kept,
  ): Promise<{ memory: Memory; image: Image }> {
    const image = await store.load({ receipts: kept.receipts === undefined });
    const memory = new Memory(shard, image, kept);
    await memory.#readDueTimes(store);
    return { memory, image };
  }

  /** Of the items that are due first; of the others only that they are due later. */
  async #readDueTimes(store: Store): Promise<void> {
    const aside = this.partitions.values().reduce((sum, one) => sum + one.asideCount, 0);
    if (aside === 0) return;
    const waking = { until: Number.MAX_SAFE_INTEGER, items: dueTimesRead };
    const { found } = (await store.read({ ...noWants, waking })).waking;
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

  /** The partition of a slot, made when it is first spoken of. */
  partition(slot: number): Partition {
    // Several times a call: a function made for what is missing would cost more than the look.
    return this.partitions.get(slot) ?? this.#newPartition(slot);
  }

  #newPartition(slot: number): Partition {
    const partition = new Partition(slot, this);
    this.partitions.set(slot, partition);
    return partition;
  }

  /** Has its queue know what the partition holds now; `null` = no queue owns it. */
  tellQueue({ slot, readyCount: ready, held, asideCount: aside }: Partition): LogicalQueue | null {
    const owner = this.rules.ownerAt(slot);
    owner?.queue.balance.update(owner.partition, { ready, leased: held.size, aside });
    return owner?.queue ?? null;
  }

  /** What it has passed on to other shards, and taken from them. */
  passed(shard: number): Passed {
    const others = [...this.inbound].filter(([source]) => source !== shard);
    return { sent: this.outbox.seqLast, taken: others, arrived: [...this.arrived] };
  }

  /** Notes that a lease holds these items, at least one. */
  hold(partition: Partition, lease: Lease, { items, payloadBytes, holders }: Holding): Run {
    const run: Run = {
      lease,
      seqs: items.map(({ seq }) => seq),
      payloadBytesMean: payloadBytes / items.length,
      next: 0,
      heldCount: items.length,
    };
    const heldBefore = partition.held.size;
    let held: Held | null = null;
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
    partition.began(run);
    this.runs.push(run);
    return run;
  }

  /** An early item was written that expires then. */
  cameEarly(expireDeadline: number): void {
    this.earlyFloor = Math.min(this.earlyFloor, expireDeadline);
    // The walk that is under way has passed it.
    if (expireDeadline <= this.earlyAfter.expireDeadline) this.earlyAfter = beforeAll;
  }

  /** Takes note that early items up to this one were looked at; `null`: all that have expired. */
  lookedEarly(after: EarlyRef | null): void {
    this.earlyAfter = after ?? beforeAll;
  }

  spoil(items: readonly { readonly slot: number; readonly seq: number }[]): void {
    for (const { slot, seq } of items) {
      this.#spoilt.getOrInsertComputed(slot, () => new Set()).add(seq);
    }
  }

  isSpoilt(slot: number, seq: number): boolean {
    return this.#spoilt.size > 0 && (this.#spoilt.get(slot)?.has(seq) ?? false);
  }
}
