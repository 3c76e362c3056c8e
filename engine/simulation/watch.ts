// Records the situations of a world, from the commits of its stores and the endings of its calls.
// It checks nothing.

import type { OutboundItem } from "../../stores/item.ts";
import type { MemoryImage } from "../../stores/memory/store.ts";
import type { CatalogEntry } from "../../stores/queue.ts";
import type { Changes } from "../../stores/store.ts";
import type { EngineStatus } from "../model/api.ts";
import type { Ending, Leased } from "./bundle.ts";
import type { Situations } from "./situations.ts";

export class Watch {
  readonly #situations: Situations;
  /** The number of partitions by queue. */
  readonly #places = new Map<number, number>();
  /** Expire deadlines of early items, by shard, slot and number. */
  readonly #early = new Map<string, number>();
  /** By shard, the items that have been in its outbox since the last kill. */
  readonly #left = new Map<number, Set<OutboundItem>>();
  #wasFull = false;

  readonly #sweepItemsMax: number;

  constructor(situations: Situations, sweepItemsMax: number) {
    this.#situations = situations;
    this.#sweepItemsMax = sweepItemsMax;
  }

  committed(shard: number, changes: Changes): void {
    const { insert, move, lease, remove, quarantine } = changes;
    const leads = (into: "items" | "scheduled" | "outbox"): boolean =>
      move.some(({ to }) => to?.into === into);
    if (
      lease.some((one) =>
        insert.some(
          (item) => item.slot === one.slot && item.seq >= one.first && item.seq <= one.last,
        ),
      )
    ) {
      this.#situations.reached("a lease is served in the turn that writes its items");
    }
    if (lease.length > 1) this.#situations.reached("two leases share a turn");
    if (quarantine.length > 0) this.#situations.reached("a damaged item is set aside");
    if (move.some(({ from, to }) => from === "scheduled" && to?.into === "items"))
      this.#situations.reached("a scheduled item becomes due");
    if (leads("scheduled")) this.#situations.reached("a retry schedules an item");
    if (leads("outbox")) this.#situations.reached("an item is dead-lettered to another shard");
    else if (move.some(({ to }) => to?.into === "items" && to.item.sourceId !== null)) {
      this.#situations.reached("an item is dead-lettered within a shard");
    }
    this.#watchLeft(shard, changes);
    for (const entry of changes.queue) this.#watchPlaces(entry);
    const removed = remove.reduce((sum, { seqs }) => sum + seqs.length, 0);
    if (removed >= this.#sweepItemsMax && changes.unlease.length > 0) {
      this.#situations.reached("a sweep takes more than one turn");
    }
    this.#watchEarly(shard, changes);
  }

  #watchEarly(shard: number, { insert, move, remove, turn }: Changes): void {
    for (const { slot, seqs } of remove) {
      for (const seq of seqs) {
        const deadline = this.#early.get(`${shard}:${slot}/${seq}`);
        if (deadline !== undefined && deadline <= turn.at) {
          this.#situations.reached("an item expires out of queue order");
        }
      }
    }
    const moved = move.flatMap(({ to }) => (to?.into === "items" ? to.item : []));
    for (const item of [...insert, ...moved]) {
      if (item.early) this.#early.set(`${shard}:${item.slot}/${item.seq}`, item.expireDeadline);
    }
  }

  #watchLeft(shard: number, { move, unsend }: Changes): void {
    const send = move.flatMap(({ to }) => (to?.into === "outbox" ? to.item : []));
    const left = [...(this.#left.get(shard) ?? [])];
    if (left.some((one) => send.some(({ targetShard }) => targetShard === one.targetShard))) {
      this.#situations.reached(
        "an item dies at a start, behind others in transit to the same shard",
      );
    }
    for (const one of left) {
      if (unsend.includes(one.outboundSeq)) this.#left.get(shard)?.delete(one);
    }
  }

  #watchPlaces({ queueId, places, deleting }: CatalogEntry): void {
    if (deleting) return;
    const before = this.#places.get(queueId) ?? places.length;
    if (places.length > before) this.#situations.reached("partitions are added");
    if (places.length < before) this.#situations.reached("a partition is drained and removed");
    this.#places.set(queueId, places.length);
  }

  /** `outlived`: a shard died while the call was open. */
  ended(
    verb: "produce" | "complete" | "retry",
    ending: Ending<unknown> | null,
    outlived: boolean,
  ): void {
    if (ending === null) return;
    if (!ending.ok) {
      if (ending.message.includes("no space")) {
        this.#wasFull = true;
        if (verb === "produce") {
          this.#situations.reached("a produce is refused, because the store is full");
        }
      }
      if (ending.message.includes("is paused")) {
        this.#situations.reached("a produce is refused, because its queue is paused");
      }
      if (ending.message.includes("does not exist") || ending.message.includes("deleted")) {
        this.#situations.reached("a call is refused, because its queue does not exist");
      }
      return;
    }
    if (verb === "produce" && this.#wasFull) {
      this.#wasFull = false;
      this.#situations.reached("a store has room again");
    }
    if (outlived && verb === "produce") {
      this.#situations.reached("a produce is answered after its shard restarted");
    } else if (outlived && verb === "complete") {
      this.#situations.reached("a complete is answered after its shard restarted");
    }
  }

  leaseEnded(ending: Ending<Leased> | null, hadToWait: boolean): void {
    if (ending === null) return;
    if (ending.ok) {
      this.#situations.reached(
        hadToWait ? "a waiting lease is served" : "a lease is served at once",
      );
    } else if (ending.code === "empty" && ending.message.includes("timeout")) {
      this.#situations.reached("a lease times out");
    } else if (ending.message.includes("is paused")) {
      this.#situations.reached("a lease waits until its deadline while its queue is paused");
    } else if (ending.message.includes("duplicate client id")) {
      this.#situations.reached("a second lease request under one client id is refused");
    }
  }

  /** Takes the counters of the engine. */
  counted({ queues }: EngineStatus): void {
    for (const { counters } of queues) {
      const { lapsed, expired, discarded } = counters;
      if (lapsed > 0) this.#situations.reached("a lease lapses");
      if (expired > 0) this.#situations.reached("an item expires in the queue");
      if (discarded > 0) this.#situations.reached("an item is discarded, for lack of a dead queue");
    }
  }

  /** Takes the stored state of a process that was just killed. */
  killed(images: readonly MemoryImage[]): void {
    for (const [shard, { outbound, tallies }] of images.entries()) {
      this.#left.set(shard, new Set(outbound.values()));
      for (const { targetShard, outboundSeq, sourceId } of outbound.values()) {
        this.#situations.reached(
          sourceId === ""
            ? "an output in transit survives a crash"
            : "an item in transit to a dead queue survives a crash",
        );
        if ((images[targetShard]?.inbound.get(shard) ?? 0) >= outboundSeq) {
          this.#situations.reached("an item in transit arrives twice and is accepted once");
        }
      }
      for (const tally of tallies.values()) {
        if (tally.clearReadyBelow + tally.clearScheduledBelow + tally.clearRetriedBelow > 0) {
          this.#situations.reached("a clear continues after a crash");
        }
      }
    }
  }
}
