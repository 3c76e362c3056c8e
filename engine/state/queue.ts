// A queue in the memory of the engine: its definition, its partitions, their counts from the latest
// reports of the shard, and its line of waiting leases.

import type { CatalogEntry, PartitionPlace, QueueDefinition } from "../../stores/queue.ts";
import type { ItemCounts, LeaseRequest, QueueCounters, QueueGauges } from "../model/api.ts";
import { assert } from "../model/assert.ts";
import type { Clock, Timer } from "../model/clock.ts";
import type { Failure } from "../model/errors.ts";
import { type IdempotencyKey, ownerOf, type QueueName } from "../model/idempotency-key.ts";
import type { RatedWindow } from "../model/lease-rate.ts";
import { limits } from "../model/limits.ts";
import type { ItemEvents, PartitionCounts, Target } from "../model/messages.ts";
import { priorities, slotFor } from "../model/priority.ts";
import { copyOf, QueueTotals } from "../model/queue-counters.ts";
import { unknownPartition } from "../model/validate.ts";
import type { QueueReference } from "../relay/other-shard.ts";
import { LeaseLimiter } from "./lease-limiter.ts";
import { Levels } from "./levels.ts";
import { QueueActivity } from "./queue-activity.ts";
import { WaitQueue } from "./wait-queue.ts";

export interface LeaseGrant {
  readonly partition: number;
  readonly items: unknown;
  readonly count: number;
  readonly replayed: boolean;
}

/** A lease request from its arrival to its answer. */
export interface WaitingLease {
  readonly queue: LogicalQueue;
  readonly request: LeaseRequest;
  readonly key: IdempotencyKey | undefined;
  readonly since: number;
  readonly arrival: number;
  readonly deadline: number;
  /** Answers the request, once; later calls do nothing. */
  readonly settle: (outcome: Failure | LeaseGrant) => void;
  /** Ends the lease when its client disconnects. Only for waiting leases: it doubles their cost. */
  readonly listen: () => void;
  /** Answers the request if its deadline has passed and nothing was granted. */
  readonly timeUp: () => void;
  timer: Timer | null;
  hangUp: (() => void) | null;
  /** A turn that is not answered yet has granted it items or an outcome. */
  isGranted: boolean;
  /** A repetition with the same key, which gets the answer instead. */
  next: WaitingLease | null;
  /** Answered, or its client disconnected. */
  over: boolean;
}

export interface SlotOwner {
  readonly queue: LogicalQueue;
  readonly partition: number;
}

export interface InFlight {
  produce: number;
  complete: number;
  retry: number;
  extend: number;
  release: number;
  import: number;
}

type Counts = ItemCounts & Pick<PartitionCounts, "clearing">;

const noCounts: Counts = { ready: 0, leased: 0, scheduled: 0, retried: 0 };

export class LogicalQueue {
  readonly queueId: number;
  readonly shard: number;
  readonly #clock: Clock;
  #definition: QueueDefinition;
  /** The owner number of its dead queue, see `CatalogEntry`. */
  deadOwner: number;
  readonly #places = new Map<number, PartitionPlace>();
  #activePlaces: readonly PartitionPlace[] | null = null;
  /** By slot, after the last acknowledged turn; `levels` also includes the turns since. */
  readonly #counts = new Map<number, PartitionCounts>();
  readonly levels = new Levels();
  readonly leaseLimiter = new LeaseLimiter();
  /** By group, what its rate has granted. */
  readonly groupRates = new Map<string, RatedWindow>();
  readonly line = new WaitQueue<WaitingLease>();
  /** Lease requests that are not answered, by client. */
  readonly clients = new Map<string, WaitingLease>();
  readonly inFlight: InFlight = {
    produce: 0,
    complete: 0,
    retry: 0,
    extend: 0,
    release: 0,
    import: 0,
  };
  producingCount = 0;
  /** Groups with ready items that only a person opens. */
  groupsBlocked = 0;
  readonly activity: QueueActivity;
  readonly #sums = { ready: 0, leased: 0, scheduled: 0, retried: 0, clearing: 0 };
  readonly totals = new QueueTotals();
  #owner: number | null = null;
  readonly #createdAs: number | undefined;
  deleted = false;
  /** Queues whose change is being committed and makes this one their dead queue. */
  readonly namedBy = new Set<string>();
  /** A change that gives this queue a dead queue is being committed. */
  isNaming = false;
  /** Its delete is being committed: callers do not find it, but its shard continues with it. */
  isHidden = false;

  constructor(entry: CatalogEntry, shard: number, clock: Clock) {
    this.queueId = entry.queueId;
    this.#createdAs = entry.createdAs;
    this.shard = shard;
    this.#definition = entry.definition;
    this.deadOwner = entry.deadOwner;
    this.leaseLimiter.define(entry.definition);
    this.#clock = clock;
    this.activity = new QueueActivity(clock.now(), entry.definition.updatedAt);
    for (const place of entry.places) this.put(place);
  }

  get definition(): QueueDefinition {
    return this.#definition;
  }

  set definition(definition: QueueDefinition) {
    // A pause of other operations, or for another reason, counts as a new pause.
    const isSame = JSON.stringify(definition.pause) === JSON.stringify(this.#definition.pause);
    if (!isSame) this.activity.pausedAt = definition.updatedAt;
    this.activity.changedAt = this.#clock.now();
    this.#definition = definition;
    this.leaseLimiter.define(definition);
  }

  /** How long an item waits for each priority that it gains; `never` = it gains none. */
  get priorityAgingMs(): number {
    return this.definition.priorityAgingMs ?? limits.priorityAgingMsDefault;
  }

  /** The dead queue was deleted. */
  cutDeadQueue(): void {
    this.definition = { ...this.definition, deadQueue: "" };
    this.deadOwner = 0;
  }

  /** Identifies the queue in items on their way between shards; no other queue ever has it. */
  get owner(): number {
    this.#owner ??= ownerOf(this.lasting);
    return this.#owner;
  }

  get target(): Target {
    return { shard: this.shard, owner: this.owner };
  }

  get reference(): QueueReference {
    const { name, deadQueue, pause } = this.definition;
    return { ...this.target, name, deadQueue, deadOwner: this.deadOwner, ...(pause && { pause }) };
  }

  /** An identity that is never reused, even if its `queueId` is. */
  get lasting(): QueueName {
    return lastingOf(this, this.#createdAs);
  }

  entry(change: Partial<CatalogEntry> = {}): CatalogEntry {
    return {
      queueId: this.queueId,
      definition: this.definition,
      places: [...this.places.values()],
      deadOwner: this.deadOwner,
      deleting: false,
      ...(this.#createdAs !== undefined && { createdAs: this.#createdAs }),
      ...change,
    };
  }

  /** Throws `invalid` if the queue has no such partition. */
  place(partition: number): PartitionPlace {
    return this.places.get(partition) ?? unknownPartition(partition);
  }

  /** Whether its leases are served by groups; a deleted queue may have no partition left. */
  get servesGroups(): boolean {
    return this.definition.grouped === true && this.places.size > 0;
  }

  /** The own slots of its partitions. */
  get slots(): number[] {
    return [...this.places.values()].map(({ slot }) => slot);
  }

  /** The partition with the fewest items of the priority. */
  placeForProduce(priority: number): PartitionPlace {
    const place = this.places.get(this.levels.at(priority).produceTo) ?? this.activePlaces[0];
    assert(place !== undefined, "a queue has no partition that takes items");
    return place;
  }

  /** The partition of items with a unique key: the only one that never drains. */
  get uniqueHome(): PartitionPlace {
    return this.place(0);
  }

  /** How many more items may be leased; 0 or less: none. */
  itemsAllowed(now: number): number {
    return this.leaseLimiter.items(this.levels.leasedCount, now);
  }

  /** Whether a lease that arrives now may find an item. */
  mayLease(now: number, priorityMin: number): boolean {
    const { highestReady } = this.levels;
    if (highestReady < priorityMin || this.itemsAllowed(now) <= 0) return false;
    // An urgent item may be behind others of its group, so a lease that waits for one says nothing.
    if (this.servesGroups) return true;
    // Waiting leases with a higher `priorityMin` leave these items to the new lease.
    for (const { request } of this.line) {
      if ((request.priorityMin ?? 0) <= highestReady) return false;
    }
    return true;
  }

  /** By partition number; drained partitions are absent. */
  get places(): ReadonlyMap<number, PartitionPlace> {
    return this.#places;
  }

  isActive(partition: number): boolean {
    return this.#places.get(partition)?.state === "active";
  }

  get activePlaces(): readonly PartitionPlace[] {
    this.#activePlaces ??= [...this.places.values()].filter(isActive);
    return this.#activePlaces;
  }

  put(place: PartitionPlace): void {
    this.#places.set(place.partition, place);
    this.#activePlaces = null;
  }

  drop(partition: number): void {
    this.#places.delete(partition);
    this.#activePlaces = null;
  }

  /** A call with `itemCount` new items is sent to the shard. */
  entered(verb: keyof InFlight, itemCount: number): void {
    this.inFlight[verb] += 1;
    this.producingCount += itemCount;
  }

  left(verb: keyof InFlight, itemCount: number): void {
    this.inFlight[verb] -= 1;
    this.producingCount -= itemCount;
  }

  /** Whether calls that may add items are in flight. */
  get isAdding(): boolean {
    return this.inFlight.produce + this.inFlight.import > 0;
  }

  count(counts: PartitionCounts, now: number): void {
    const { activity } = this;
    const sums = this.#sums;
    activity.backlog.roll(now, sums.ready);
    const before = this.#counts.get(counts.slot);
    this.#counts.set(counts.slot, counts);
    this.groupsBlocked = counts.groupsBlocked ?? 0;
    if (sums.ready === 0) activity.readyAt = now;
    this.#add(counts, before);
    activity.changedAt = now;
    activity.clearingMost =
      sums.clearing === 0 ? 0 : Math.max(activity.clearingMost, sums.clearing);
  }

  /** The partition does not belong to this queue any more. */
  uncount({ slot }: PartitionPlace): void {
    for (const priority of priorities) {
      const before = this.#counts.get(slotFor(slot, priority));
      this.#counts.delete(slotFor(slot, priority));
      if (before !== undefined) this.#add(noCounts, before);
    }
  }

  /** The counts of a partition, by priority. */
  countsOf({ slot }: PartitionPlace): PartitionCounts[] {
    return priorities.flatMap((priority) => this.#counts.get(slotFor(slot, priority)) ?? []);
  }

  #add(counts: Counts, before: Counts = noCounts): void {
    const sums = this.#sums;
    sums.ready += counts.ready - before.ready;
    sums.leased += counts.leased - before.leased;
    sums.scheduled += counts.scheduled - before.scheduled;
    sums.retried += counts.retried - before.retried;
    sums.clearing += (counts.clearing ?? 0) - (before.clearing ?? 0);
  }

  happened(events: ItemEvents, now: number): void {
    const {
      leased,
      completed,
      retried,
      released,
      lapsed = 0,
      dead = 0,
      discarded = 0,
    } = events.counts;
    this.activity.changedAt = now;
    this.activity.lapses.add(lapsed, now);
    this.activity.deaths.add(dead + discarded, now);
    if (events.lapsedOf !== undefined) this.activity.lapsedOf.add(events.lapsedOf, now);
    if (events.diedOf !== undefined) this.activity.diedOf.add(events.diedOf, now);
    if (leased || completed || retried || released || lapsed) this.activity.movedAt = now;
    this.totals.add(events);
  }

  /** The sums over all partitions. */
  get counters(): QueueCounters {
    return this.totals.counters;
  }

  /** Since when the oldest ready item has been ready; `null` = no item is ready. */
  get oldestReadyAt(): number | null {
    return this.#earliest("oldestReadyAt");
  }

  /** The instant at which the next scheduled item is due; `null` = no item is scheduled. */
  get nextDueAt(): number | null {
    return this.#earliest("nextDueAt");
  }

  #earliest(name: "oldestReadyAt" | "nextDueAt" | "nextLapseAt"): number | null {
    return earliest(this.#counts.values().map((counts) => counts[name]));
  }

  /** Items in any state, by the latest reports. */
  get itemCount(): number {
    return itemsIn(this.#sums);
  }

  /** Items that clears still have to remove. */
  get clearingCount(): number {
    return this.#sums.clearing;
  }

  /** When its next lease lapses; `null` = no item is leased. */
  get nextLapseAt(): number | null {
    return this.#earliest("nextLapseAt");
  }

  /** By the latest reports. */
  get itemCounts(): ItemCounts {
    return this.#sums;
  }

  gauges(): QueueGauges {
    const { ready: queued, leased, scheduled, retried } = this.itemCounts;
    const { name, pause, leasedMax = 0 } = this.definition;
    return {
      queue: name,
      queued,
      leased,
      scheduled,
      retried,
      waitingLeases: this.line.size,
      leasePaused: pause?.lease ?? false,
      producePaused: pause?.produce ?? false,
      leasedMax,
      leaseRate: this.leaseLimiter.itemsPerSecond,
      oldestReadyAt: this.oldestReadyAt,
      nextDueAt: this.nextDueAt,
      counters: { ...this.counters },
      waited: copyOf(this.totals.waited),
      held: copyOf(this.totals.held),
    };
  }
}

export function lastingOf(
  { queueId, definition }: Pick<CatalogEntry, "queueId" | "definition">,
  createdAs?: number,
): QueueName {
  return { queueId: createdAs ?? queueId, createdAt: definition.createdAt };
}

function isActive({ state }: PartitionPlace): boolean {
  return state === "active";
}

export function earliest(instants: Iterable<number | null>): number | null {
  let first: number | null = null;
  for (const instant of instants) {
    if (instant !== null && (first === null || instant < first)) first = instant;
  }
  return first;
}

export function sumOf(all: readonly ItemCounts[]): ItemCounts {
  const sum = { ready: 0, leased: 0, scheduled: 0, retried: 0 };
  for (const { ready, leased, scheduled, retried } of all) {
    sum.ready += ready;
    sum.leased += leased;
    sum.scheduled += scheduled;
    sum.retried += retried;
  }
  return sum;
}

export function itemsIn(counts: ItemCounts): number {
  return counts.ready + counts.leased + counts.scheduled + counts.retried;
}
