// All that a shard keeps in memory, rebuilt from its store at start and after a
// commit that failed. Turns change it as they decide; if their commit fails it
// is thrown away as a whole, so it never says more than the store.

import type { Lease } from "../../stores/item.ts";
import type { Image, Store, TurnRecord } from "../../stores/store.ts";
import { assert } from "../assert.ts";
import { Heap } from "../heap.ts";
import type { PartitionSettings } from "../messages.ts";
import { Partition, type Run } from "./partition.ts";

/** Rows read at a time while the leased items are found again. */
const loadPage = 10_000;

export class Memory {
  readonly tag: string;
  readonly partitions = new Map<number, Partition>();
  /** Every run that still holds items, the next to lapse on top; emptied ones leave late. */
  readonly runs = new Heap<Run>((a, b) => a.lease.leaseDeadline < b.lease.leaseDeadline);
  /** Partitions by the floor under which nothing of theirs expires; outdated entries leave late. */
  readonly floors = new Heap<{ floor: number; partition: Partition }>((a, b) => a.floor < b.floor);
  /** No early item expires before it. */
  earlyFloor = 0;
  /** No scheduled item has to be looked at before it. */
  wakeFloor = 0;
  /** Numbers of the items in the outbox; the items themselves are with the engine. */
  readonly outbound = new Set<number>();
  outboundSeqLast = 0;
  /** The last item taken from each other shard; under the shard's own number, the last it sent. */
  readonly inbound = new Map<number, number>();
  /** Leases of which no item is there, as nothing but damage explains; the next turn ends them. */
  readonly emptied: Lease[] = [];
  readonly clearing = new Set<Partition>();
  /** Partitions whose items are being counted anew. */
  readonly recounting = new Set<Partition>();
  lastTurn: TurnRecord;

  private constructor(shard: number, image: Image) {
    this.tag = image.tag;
    this.lastTurn = image.turns.at(-1) ?? { turn: 0, at: 0, opLast: 0, refused: "[]" };
    for (const tally of image.tallies) {
      const partition = new Partition(tally.slot, image.tag, tally);
      this.partitions.set(tally.slot, partition);
      if (tally.itemCount > 0) this.floors.push({ floor: 0, partition });
    }
    for (const item of image.outbound) {
      this.outbound.add(item.outboundSeq);
      this.outboundSeqLast = Math.max(this.outboundSeqLast, item.outboundSeq);
    }
    for (const { sourceShard, outboundSeq } of image.inbound) {
      this.inbound.set(sourceShard, outboundSeq);
    }
    // The outbox may be empty, but what was sent from it is known by these numbers.
    this.outboundSeqLast = Math.max(this.outboundSeqLast, this.inbound.get(shard) ?? 0);
  }

  static async load(
    shard: number,
    store: Store,
    settings: Iterable<PartitionSettings>,
  ): Promise<{ memory: Memory; image: Image }> {
    const image = await store.load();
    const memory = new Memory(shard, image);
    for (const one of settings) memory.partition(one.slot).settings = one;
    for (const lease of image.leases) await memory.#holdAgain(store, lease);
    for (const partition of memory.partitions.values()) await memory.#resumeClear(store, partition);
    return { memory, image };
  }

  /** The partition of a slot, made when it is first spoken of. */
  partition(slot: number): Partition {
    let partition = this.partitions.get(slot);
    if (partition === undefined) {
      partition = new Partition(slot, this.tag);
      this.partitions.set(slot, partition);
    }
    return partition;
  }

  /** All that is stored between a lease's ends is held by it: no ready item lies there. */
  async #holdAgain(store: Store, lease: Lease): Promise<void> {
    const partition = this.partition(lease.slot);
    const run: Run = { lease, heldCount: 0 };
    let from = lease.first;
    for (;;) {
      const page = await store.seqs(lease.slot, from, lease.last + 1, loadPage);
      for (const { seq, createdAt } of page) {
        assert(!partition.held.has(seq), "two leases cover one item");
        partition.held.set(seq, { run, createdAt });
        run.heldCount += 1;
      }
      const last = page.at(-1);
      if (last === undefined || page.length < loadPage) break;
      from = last.seq + 1;
    }
    if (run.heldCount === 0) {
      this.emptied.push(lease);
      return;
    }
    partition.runs.add(run);
    this.runs.push(run);
  }

  async #resumeClear(store: Store, partition: Partition): Promise<void> {
    if (!partition.isClearing) return;
    this.clearing.add(partition);
    // What a clear has taken is not offered again, whatever is left of it.
    partition.head = partition.clearReadyBelow;
    let from = 0;
    for (;;) {
      const page = await store.seqs(partition.slot, from, partition.clearReadyBelow, loadPage);
      for (const { seq } of page) if (!partition.held.has(seq)) partition.doomedCount += 1;
      const last = page.at(-1);
      if (last === undefined || page.length < loadPage) return;
      from = last.seq + 1;
    }
  }
}
