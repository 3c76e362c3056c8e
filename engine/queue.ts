// A queue as the engine knows it while it runs: its definition, where its
// partitions are, what they hold by the shards' latest reports, and the line of
// leases that wait for them.

import type {
  CatalogEntry,
  FormerPlaces,
  PartitionPlace,
  QueueDefinition,
} from "../stores/queue.ts";
import { Allowance } from "./allowance.ts";
import type { QueueGauges } from "./api.ts";
import { assert } from "./assert.ts";
import { Balance } from "./balance.ts";
import { type CallKey, homeOf, type QueueName } from "./call-key.ts";
import type { Clock } from "./clock.ts";
import type { Events, PartitionCounts } from "./messages.ts";
import { unknownPartition } from "./validate.ts";
import { Line, type WaitingLease } from "./waiting.ts";

/** Calls that are inside the engine, by what they do. */
export interface InFlight {
  produce: number;
  lease: number;
  complete: number;
  retry: number;
  extend: number;
  release: number;
  import: number;
}

type Totals = { -readonly [name in Exclude<keyof Events, "slot" | "discardedIds">]: number };

export class LogicalQueue {
  readonly queueId: number;
  #definition: QueueDefinition;
  /** By partition number; a hole where a drained partition was. */
  readonly places = new Map<number, PartitionPlace>();
  readonly counts = new Map<number, PartitionCounts>();
  readonly balance = new Balance();
  readonly allowance = new Allowance();
  readonly line: Line;
  /** Lease requests that are not answered, by their client. */
  readonly clients = new Map<string, WaitingLease>();
  readonly inFlight: InFlight = {
    produce: 0,
    lease: 0,
    complete: 0,
    retry: 0,
    extend: 0,
    release: 0,
    import: 0,
  };
  readonly totals: Totals = { lapsed: 0, expired: 0, deadLettered: 0, discarded: 0 };
  /** Which partitions were active until lately. */
  former: readonly FormerPlaces[];
  deleted = false;
  /** While its delete is being committed, callers do not find it; its shards go on with it. */
  isHidden = false;

  constructor(entry: CatalogEntry, clock: Clock) {
    this.queueId = entry.queueId;
    this.#definition = entry.definition;
    this.allowance.define(entry.definition);
    this.former = entry.former;
    this.line = new Line(clock.machine);
    for (const place of entry.places) this.places.set(place.partition, place);
  }

  get definition(): QueueDefinition {
    return this.#definition;
  }

  set definition(definition: QueueDefinition) {
    this.#definition = definition;
    this.allowance.define(definition);
  }

  /** What no queue before or after it has, also where its number is given again. */
  get lasting(): QueueName {
    return { queueId: this.queueId, createdAt: this.definition.createdAt };
  }

  entry(change: Partial<CatalogEntry> = {}): CatalogEntry {
    return {
      queueId: this.queueId,
      definition: this.definition,
      places: [...this.places.values()],
      former: this.former,
      deleting: false,
      ...change,
    };
  }

  /** Throws `invalid` where the queue has no such partition. */
  place(partition: number): PartitionPlace {
    return this.places.get(partition) ?? unknownPartition(partition);
  }

  /** The partition that is there; `undefined` = none of this queue is any more. */
  partitionAt({ shard, slot }: Pick<PartitionPlace, "shard" | "slot">): number | undefined {
    const places = [...this.places.values()];
    return places.find((place) => place.shard === shard && place.slot === slot)?.partition;
  }

  /** Where new items go: with a key there, else where the fewest are. With no shard up they wait for the one of the first partition. */
  placeForProduce(key?: CallKey): PartitionPlace {
    if (key !== undefined) return this.homeOf(key);
    const place = this.places.get(this.balance.produceTo) ?? this.activePlaces[0];
    assert(place !== undefined, "a queue has no partition that takes items");
    return place;
  }

  /** The same among those of one shard; `undefined` = none of them takes items. */
  placeForProduceIn(shard: number): PartitionPlace | undefined {
    const places = this.activePlaces.filter((place) => place.shard === shard);
    const loads = places.map((place) => {
      const { ready = 0, producing = 0 } = this.balance.load(place.partition) ?? {};
      return { place, items: ready + producing };
    });
    return loads.reduce<(typeof loads)[number] | undefined>(
      (least, one) => (least === undefined || one.items < least.items ? one : least),
      undefined,
    )?.place;
  }

  /** Where a produce with this key goes, whatever the partitions hold: a repetition has to find it. */
  homeOf(key: CallKey): PartitionPlace {
    const home = homeOf(key, this.places.values().filter(isActive));
    assert(home !== undefined, "a queue has no partition that takes items");
    return home;
  }

  /**
   * Where items with a unique key go, so that one shard decides: the one partition that never
   * drains.
   */
  get uniqueHome(): PartitionPlace {
    return this.place(0);
  }

  /** The shards of the places where it would have gone, as long as receipts are kept there. */
  formerShardsOf(key: CallKey, now: number): number[] {
    const former = this.former.filter(({ keptUntil }) => keptUntil > now);
    return former.flatMap(({ places }) => homeOf(key, places)?.shard ?? []);
  }

  /** Where a lease finds an item; -1 = nowhere now. */
  leaseFrom(now: number): number {
    return this.allowance.items(now) > 0 ? this.balance.leaseFrom : -1;
  }

  get activePlaces(): PartitionPlace[] {
    return [...this.places.values()].filter(isActive);
  }

  /** A call is on its way to a partition, with so many new items, or for so many. */
  entered(verb: keyof InFlight, partition: number, itemCount: number): void {
    this.#count(verb, partition, { calls: 1, items: itemCount });
  }

  left(verb: keyof InFlight, partition: number, itemCount: number): void {
    this.#count(verb, partition, { calls: -1, items: -itemCount });
  }

  #count(verb: keyof InFlight, partition: number, by: { calls: number; items: number }): void {
    this.inFlight[verb] += by.calls;
    const load = this.balance.load(partition);
    if (load === undefined) return;
    const { producing, leases, wanted } = load;
    if (verb === "produce") this.balance.update(partition, { producing: producing + by.items });
    if (verb !== "lease") return;
    this.balance.update(partition, { leases: leases + by.calls, wanted: wanted + by.items });
  }

  /** Whether calls are inside that may add items. */
  get isAdding(): boolean {
    return this.inFlight.produce + this.inFlight.import > 0;
  }

  count(partition: number, counts: PartitionCounts): void {
    this.allowance.counted(counts.leased - (this.counts.get(partition)?.leased ?? 0));
    this.counts.set(partition, counts);
    this.balance.update(partition, { ready: counts.ready });
  }

  happened(events: Events): void {
    this.totals.lapsed += events.lapsed;
    this.totals.expired += events.expired;
    this.totals.deadLettered += events.deadLettered;
    this.totals.discarded += events.discarded;
  }

  /** Items of whatever state, by the latest reports. */
  get itemCount(): number {
    return this.counts.values().reduce((sum, counts) => sum + itemsIn(counts), 0);
  }

  gauges(): QueueGauges {
    const sum = { queued: 0, leased: 0, scheduled: 0, retried: 0 };
    for (const counts of this.counts.values()) {
      sum.queued += counts.ready;
      sum.leased += counts.leased;
      sum.scheduled += counts.scheduled;
      sum.retried += counts.retried;
    }
    const { name, pause, leasedMax = 0 } = this.definition;
    return {
      queue: name,
      ...sum,
      waitingLeases: this.line.size,
      leasePaused: pause?.lease ?? false,
      producePaused: pause?.produce ?? false,
      leasedMax,
      leaseRate: this.allowance.itemsPerSecond,
      ...this.totals,
    };
  }
}

function isActive({ state }: PartitionPlace): boolean {
  return state === "active";
}

export function itemsIn(counts: PartitionCounts): number {
  return counts.ready + counts.leased + counts.scheduled + counts.retried;
}

/** Does the work once for each shard that has any of the places, with the slots that it has. */
export async function eachShard(
  places: Iterable<PartitionPlace>,
  work: (shard: number, slots: readonly number[]) => Promise<unknown>,
): Promise<void> {
  const works = [...Map.groupBy(places, ({ shard }) => shard)].map(([shard, here]) => {
    const slots = here.map(({ slot }) => slot);
    return work(shard, slots);
  });
  // All of them, also when one fails: a call that is answered has no effect any more.
  const ended = await Promise.allSettled(works);
  for (const one of ended) if (one.status === "rejected") throw one.reason;
}
