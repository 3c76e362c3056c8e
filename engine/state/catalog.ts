// The queues there are, and what may become of them. It plans changes and checks
// them; `registrar.ts` has each plan committed before it takes effect here.

import type { CatalogEntry, PartitionPlace, Pause, QueueDefinition } from "../../stores/queue.ts";
import type { IsShown, QueueChange, QueueSettings } from "../model/api.ts";
import { ownerOf } from "../model/call-key.ts";
import type { Clock } from "../model/clock.ts";
import { formatDuration } from "../model/duration.ts";
import { failure, QueueError, tooMany } from "../model/errors.ts";
import { limits } from "../model/limits.ts";
import type { PartitionSettings } from "../model/messages.ts";
import { shardOf } from "../model/placement.ts";
import {
  checkDeadQueueName,
  checkLookupName,
  checkQueueName,
  checkQueueSettings,
  unknownQueue,
} from "../model/validate.ts";
import { LogicalQueue, type Owner } from "./queue.ts";

/** With what its shard decides by, as it was at a revision. */
interface Owning extends Owner {
  settings: PartitionSettings | null;
  revision: number;
}

/** A queue whose delete is certain, and may not be finished. */
export interface Deleted {
  readonly shard: number;
  readonly queueId: number;
  readonly slots: readonly number[];
}

/** A change of a queue that is to be committed. */
export interface QueuePlan {
  readonly queue: LogicalQueue;
  readonly entry: CatalogEntry;
}

export interface CatalogOptions {
  readonly clock: Clock;
  readonly shardCount: number;
  readonly isUp: (shard: number) => boolean;
}

export class Catalog {
  readonly #options: CatalogOptions;
  readonly #byName = new Map<string, LogicalQueue>();
  /** By shard, then slot; `null` where nobody owns it any more, and something may be left. */
  readonly #owners: readonly Map<number, Owning | null>[];
  readonly #byId = new Map<number, LogicalQueue>();
  readonly #byOwner = new Map<number, LogicalQueue>();
  /** Rises with each change of what shards decide by. */
  #revision = 0;
  /** Of all queues that were known since the start. */
  readonly #queueOwners = new Set<number>();
  #queueIdLast = 0;

  constructor(options: CatalogOptions) {
    this.#options = options;
    this.#owners = Array.from({ length: options.shardCount }, () => new Map());
  }

  get shardCount(): number {
    return this.#owners.length;
  }

  get queues(): Iterable<LogicalQueue> {
    return this.#byName.values();
  }

  /** Takes what stands in the stores, by shard; returns the queues whose delete has to be finished. */
  adopt(stored: readonly (readonly CatalogEntry[])[]): Deleted[] {
    const deleted = stored.flatMap((entries, shard) =>
      entries.flatMap((entry) => this.#adoptOne(entry, shard) ?? []),
    );
    for (const queue of this.queues) this.cutLost(queue);
    return deleted;
  }

  /** Removes the reference to a dead queue that is gone, even if another queue has its name now. */
  cutLost(queue: LogicalQueue): void {
    if (this.#ownerOf(queue.definition.deadQueue) === queue.deadOwner) return;
    queue.cutDeadQueue();
    this.#revision += 1;
  }

  /** What was committed of a change. */
  apply(queue: LogicalQueue, entry: CatalogEntry): void {
    queue.definition = entry.definition;
    queue.deadOwner = entry.deadOwner;
    for (const place of entry.places) this.own(queue, place);
    this.cutLost(queue);
  }

  #adoptOne(entry: CatalogEntry, shard: number): Deleted | null {
    const { queueId, definition, places, deleting } = entry;
    this.#queueIdLast = Math.max(this.#queueIdLast, queueId);
    this.#queueOwners.add(ownerOf({ queueId, createdAt: definition.createdAt }));
    if (!deleting) {
      this.add(entry, shard);
      return null;
    }
    const slots = places.map(({ slot }) => slot);
    for (const slot of slots) this.#owners[shard]?.set(slot, null);
    return { shard, queueId, slots };
  }

  add(entry: CatalogEntry, shard: number): LogicalQueue {
    const queue = new LogicalQueue(entry, shard, this.#options.clock);
    this.#byName.set(entry.definition.name, queue);
    this.#byId.set(queue.queueId, queue);
    this.#byOwner.set(queue.owner, queue);
    this.#queueOwners.add(queue.owner);
    for (const place of entry.places) this.own(queue, place);
    return queue;
  }

  /** A queue whose create is committed; its dead queue may be gone by now. */
  create(entry: CatalogEntry, shard: number): LogicalQueue {
    const queue = this.add(entry, shard);
    this.cutLost(queue);
    return queue;
  }

  /** See `QueueRules`. */
  isLost(owner: number): boolean {
    return !this.#queueOwners.has(owner);
  }

  own(queue: LogicalQueue, place: PartitionPlace): void {
    queue.put(place);
    const { partition } = place;
    this.#revision += 1;
    this.#owners[queue.shard]?.set(place.slot, { queue, partition, settings: null, revision: 0 });
    const up = this.#options.isUp(queue.shard);
    queue.balance.update(place.partition, { open: place.state === "active", up });
  }

  /** The slot stays taken until it is free. */
  disown(queue: LogicalQueue, place: PartitionPlace): void {
    queue.drop(place.partition);
    queue.uncount(place.partition);
    queue.balance.remove(place.partition);
    this.#revision += 1;
    this.#owners[queue.shard]?.set(place.slot, null);
  }

  /** The slots may be given to other partitions: items on their way say which queue they are for. */
  free(shard: number, slots: readonly number[]): void {
    for (const slot of slots) this.#owners[shard]?.delete(slot);
  }

  /** Takes the queue out; its slots stay taken until they are free. */
  remove(queue: LogicalQueue): Deleted {
    const { shard, queueId, slots } = queue;
    this.#byName.delete(queue.definition.name);
    this.#byId.delete(queueId);
    this.#byOwner.delete(queue.owner);
    queue.deleted = true;
    const places = [...queue.places.values()];
    for (const place of places) this.disown(queue, place);
    return { shard, queueId, slots };
  }

  owner(shard: number, slot: number): Owner | undefined {
    return this.#owners[shard]?.get(slot) ?? undefined;
  }

  owners(shard: number): Owner[] {
    return [...(this.#owners[shard]?.values() ?? [])].filter((owner) => owner !== null);
  }

  /** The one of this name, if there is one that callers find. */
  named(name: string): LogicalQueue | undefined {
    const queue = this.#byName.get(name);
    return queue?.isHidden === true ? undefined : queue;
  }

  find(name: string): LogicalQueue {
    const queue = this.named(name);
    if (queue !== undefined) return queue;
    checkLookupName(name);
    return unknownQueue(name);
  }

  /** Queues by name in the order of their characters' codes, from the pivot on, itself included. */
  list(pivot: string, limit: number): QueueDefinition[] {
    const shown = [...this.#byName].filter(([name, queue]) => name >= pivot && !queue.isHidden);
    const sorted = shown.sort(([a], [b]) => (a < b ? -1 : 1));
    return sorted.slice(0, limit).map(([, { definition }]) => definition);
  }

  planCreate(settings: QueueSettings, now: number, isShown?: IsShown): CatalogEntry {
    checkQueueName(settings.name);
    if (this.#byName.has(settings.name)) {
      const message = `invalid queue; '${settings.name}' already exists`;
      throw QueueError.from(failure("queue_exists", message));
    }
    this.#checkDeadQueue(settings, isShown);
    checkQueueSettings(settings);
    if (this.#byName.size >= limits.queuesMax)
      throw tooMany("too_many", "queues", limits.queuesMax);
    const shard = shardOf(settings.name, this.shardCount);
    const queueId = this.#newQueueId(shard);
    const places = this.#newPlaces(shard, upTo(settings.requestedPartitions));
    const definition = { ...definitionOf(settings), createdAt: now, updatedAt: now };
    const deadOwner = this.#ownerOf(definition.deadQueue);
    return { queueId, definition, places, deleting: false, deadOwner };
  }

  /** What the queue becomes; surplus partitions are told to drain, missing ones are added. */
  planUpdate(change: QueueChange, now: number, isShown?: IsShown): QueuePlan {
    checkQueueName(change.name);
    const queue = this.find(change.name);
    const { createdAt, pause } = queue.definition;
    const settings: QueueSettings = merge(queue.definition, change);
    if (settings.deadQueue !== queue.definition.deadQueue) this.#checkDeadQueue(settings, isShown);
    checkQueueSettings(settings);
    const updatedAt = laterThan(queue, now);
    const definition = { ...definitionOf(settings), ...(pause && { pause }), createdAt, updatedAt };
    const wanted = settings.requestedPartitions;
    const kept = [...queue.places.values()].map((place): PartitionPlace => {
      return { ...place, state: place.partition < wanted ? "active" : "draining" };
    });
    const missing = upTo(wanted).filter((partition) => !queue.places.has(partition));
    const places = [...kept, ...this.#newPlaces(queue.shard, missing)];
    const deadOwner = this.#ownerOf(definition.deadQueue);
    return { queue, entry: queue.entry({ definition, places, deadOwner }) };
  }

  /** No two shards give the same one, also where one of them has gone back. */
  #newQueueId(shard: number): number {
    const rounds = Math.floor(this.#queueIdLast / this.shardCount) + 1;
    this.#queueIdLast = rounds * this.shardCount + shard;
    return this.#queueIdLast;
  }

  #ownerOf(deadQueue: string): number {
    return this.#byName.get(deadQueue)?.owner ?? 0;
  }

  /** `pause`: `null` = nothing of it is paused any more. Returns `null` where nothing was. */
  planPause(name: string, pause: Pause | null, now: number): QueuePlan | null {
    const queue = this.find(name);
    if (pause === null && queue.definition.pause === undefined) return null;
    const { pause: _, ...rest } = queue.definition;
    const definition = { ...rest, ...(pause && { pause }), updatedAt: laterThan(queue, now) };
    return { queue, entry: queue.entry({ definition }) };
  }

  /** Also while it is hidden. */
  deadQueueOf({ definition }: LogicalQueue): LogicalQueue | undefined {
    return this.#byName.get(definition.deadQueue);
  }

  /** Queues that send their dead items to this one. */
  dependents(name: string): LogicalQueue[] {
    return [...this.#byName.values()].filter(({ definition }) => definition.deadQueue === name);
  }

  /** Those that queues have. */
  slots(shard: number): number[] {
    return [...(this.#owners[shard] ?? [])].flatMap(([slot, owner]) =>
      owner === null ? [] : [slot],
    );
  }

  /** See `QueueRules`; asked for each item, and so remembered. */
  settingsAt(shard: number, slot: number): PartitionSettings | null {
    const owner = this.#owners[shard]?.get(slot) ?? null;
    if (owner === null) return null;
    if (owner.revision < this.#revision) {
      owner.settings = this.settingsOf(owner);
      owner.revision = this.#revision;
    }
    return owner.settings;
  }

  /** See `QueueRules`. */
  homeOf(shard: number, owner: number): number | null {
    const queue = this.#byOwner.get(owner);
    return queue?.shard === shard ? queue.placeForProduce().slot : null;
  }

  queueOf(queueId: number): LogicalQueue | undefined {
    return this.#byId.get(queueId);
  }

  settingsOf({ queue, partition }: Owner): PartitionSettings | null {
    const place = queue.places.get(partition);
    if (place === undefined) return null;
    const { leaseTimeoutMs, expireTimeoutMs, maxAttempts, pause, uniqueForMs } = queue.definition;
    const rules = { leaseTimeoutMs, expireTimeoutMs, maxAttempts };
    const dead = this.deadQueueOf(queue)?.target ?? null;
    const uniques = uniqueForMs !== undefined && { uniqueForMs };
    const named = { slot: place.slot, queue: queue.definition.name, owner: queue.owner };
    return { ...named, ...rules, dead, ...(pause && { pause }), ...uniques };
  }

  #checkDeadQueue({ name, deadQueue }: QueueSettings, isShown?: IsShown): void {
    if (deadQueue === "") return;
    checkDeadQueueName(deadQueue);
    if (deadQueue === name) refuseDeadQueue("dead_queue cannot reference itself");
    const dead = this.named(deadQueue);
    if (dead === undefined) {
      refuseDeadQueue(`dead_queue does not exist; '${deadQueue}' was not found, create it first`);
    }
    if (dead.definition.deadQueue !== "" || dead.isNaming) {
      refuseDeadQueue(
        `dead_queue is invalid; '${deadQueue}' already has its own dead_queue configured`,
      );
    }
    const named = this.dependents(name).map(({ definition }) => definition.name);
    const [dependent] = [...named, ...(this.named(name)?.namedBy ?? [])];
    if (dependent === undefined) return;
    const other = quotedIf(dependent, isShown);
    refuseDeadQueue(`dead_queue is invalid; '${name}' is itself the dead_queue of ${other}`);
  }

  #newPlaces(shard: number, partitions: readonly number[]): PartitionPlace[] {
    let next = 0;
    return partitions.map((partition) => {
      const slot = this.#freeSlot(shard, next);
      next = slot + 1;
      return { partition, slot, state: "active" };
    });
  }

  #freeSlot(shard: number, from: number): number {
    const owned = this.#owners[shard];
    for (let slot = from; slot < limits.slotsMax; slot += 1) {
      if (!owned?.has(slot)) return slot;
    }
    throw tooMany("too_many", "partitions of a shard", limits.slotsMax);
  }
}

function refuseDeadQueue(message: string): never {
  throw QueueError.from(failure("bad_dead_queue", message));
}

/** A queue's name in a refusal. */
export function quotedIf(name: string, isShown: IsShown = () => true): string {
  return isShown(name) ? `'${name}'` : "another queue";
}

/** Later than every instant that was answered before, however coarse the clock. */
function laterThan({ definition }: LogicalQueue, now: number): number {
  return Math.max(now, definition.updatedAt + 1);
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** Field by field: what a caller of the library hands in beyond them is not stored. */
function definitionOf(settings: QueueSettings): Omit<QueueDefinition, "createdAt" | "updatedAt"> {
  const { name, deadQueue, reference, leaseTimeoutMs, expireTimeoutMs } = settings;
  const { maxAttempts, requestedPartitions, leasedMax = 0, leaseRate = "" } = settings;
  const leaseTimeoutText = settings.leaseTimeoutText ?? formatDuration(leaseTimeoutMs);
  const expireTimeoutText = settings.expireTimeoutText ?? formatDuration(expireTimeoutMs);
  const timeouts = { leaseTimeoutMs, expireTimeoutMs, leaseTimeoutText, expireTimeoutText };
  const counts = { maxAttempts, requestedPartitions };
  const max = leasedMax > 0 && { leasedMax };
  const rate = leaseRate !== "" && { leaseRate };
  const { uniqueForMs = 0, uniqueForText = formatDuration(uniqueForMs) } = settings;
  const uniques = uniqueForMs > 0 && { uniqueForMs, uniqueForText };
  return { name, deadQueue, reference, ...timeouts, ...counts, ...max, ...rate, ...uniques };
}

/** Absent keys keep their value; a new duration brings its own text, or loses the old one. */
function merge(old: QueueDefinition, change: QueueChange): QueueSettings {
  const { leaseTimeoutText, expireTimeoutText, uniqueForText, ...rest } = old;
  const texts: { -readonly [name in keyof QueueSettings]?: QueueSettings[name] } = {};
  if (change.leaseTimeoutMs === undefined) texts.leaseTimeoutText = leaseTimeoutText;
  if (change.expireTimeoutMs === undefined) texts.expireTimeoutText = expireTimeoutText;
  if (change.uniqueForMs === undefined && uniqueForText !== undefined) {
    texts.uniqueForText = uniqueForText;
  }
  return { ...rest, ...texts, ...change };
}
