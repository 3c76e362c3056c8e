// The queues of the shard. The catalog plans and checks changes; `catalog-changes.ts` commits each
// plan before it takes effect here.

import type {
  CatalogEntry,
  Origin,
  PartitionPlace,
  Pause,
  QueueDefinition,
} from "../../stores/queue.ts";
import type { SlotSeq } from "../../stores/store.ts";
import type { IsShown, QueueChange, QueueSettings } from "../model/api.ts";
import type { Clock } from "../model/clock.ts";
import { formatDuration, pending, pendingText } from "../model/duration.ts";
import type { Epochs } from "../model/epochs.ts";
import { failure, QueueError, tooMany, unknownShardFailure } from "../model/errors.ts";
import { ownerOf } from "../model/idempotency-key.ts";
import { limits } from "../model/limits.ts";
import type { PartitionSettings, Target } from "../model/messages.ts";
import { shardOf } from "../model/placement.ts";
import { partitionSlot, priorityOf, slotFor } from "../model/priority.ts";
import { parseBackoff } from "../model/retry-backoff.ts";
import {
  checkDeadQueueName,
  checkLookupName,
  checkQueueName,
  checkQueueSettings,
  refuse,
  unknownQueue,
} from "../model/validate.ts";
import type { Claim, QueueReference, ReferenceChange, Standing } from "../relay/other-shard.ts";
import { Directory } from "./directory.ts";
import { LogicalQueue, lastingOf, type SlotOwner } from "./queue.ts";
import type { QueueRules } from "./queue-rules.ts";

/** Caches the settings of the partition as of a revision. */
interface Owning extends SlotOwner {
  settings: PartitionSettings | null;
  revision: number;
}

/** A queue whose delete is committed; its items may still have to be removed. */
export interface Deleted {
  readonly queueId: number;
  readonly slots: readonly number[];
}

export interface QueuePlan {
  readonly queue: LogicalQueue;
  readonly entry: CatalogEntry;
}

export interface CatalogOptions {
  readonly clock: Clock;
  readonly shard: number;
  readonly shardCount: number;
}

export class Catalog implements QueueRules {
  readonly #options: CatalogOptions;
  readonly #byName = new Map<string, LogicalQueue>();
  /** By slot; `null` = the slot has no owner any more, but items may be left. */
  readonly #owners = new Map<number, Owning | null>();
  /** The present slots of partitions that a reshard moved, by their former places. */
  readonly #movedTo = new Map<string, number>();
  /**
   * The former places of such partitions, by slot, including deleted ones. Their numbers are lower
   * than those of any later partition in the slot.
   */
  readonly #origins = new Map<number, readonly Origin[]>();
  readonly directory = new Directory();
  readonly #byId = new Map<number, LogicalQueue>();
  readonly #byOwner = new Map<number, LogicalQueue>();
  /** Rises with each change of the settings of any partition. */
  #revision = 0;
  /** The owner numbers of all queues that were known since the start. */
  readonly #queueOwners = new Set<number>();
  #queueIdLast = 0;

  constructor(options: CatalogOptions) {
    this.#options = options;
  }

  get queues(): Iterable<LogicalQueue> {
    return this.#byName.values();
  }

  /** Loads the stored queues; returns those whose delete has to be finished. */
  adopt(stored: readonly CatalogEntry[]): Deleted[] {
    const deleted = stored.flatMap((entry) => this.#adoptOne(entry) ?? []);
    for (const queue of this.queues) this.cutLost(queue);
    return deleted;
  }

  /** Takes the report of another shard about its queues. */
  meet(standing: Standing): void {
    if (this.directory.meet(standing)) this.#claimAll(standing);
    for (const queue of this.queues) this.cutLost(queue);
  }

  /** Takes changes of queues of another shard; returns `false` if earlier ones are missing. */
  receiveChange(change: ReferenceChange): boolean {
    if (!this.directory.receiveChange(change)) return false;
    const removed = new Set(change.removed.map(({ name }) => name));
    if (removed.size === 0) return true;
    for (const queue of this.queues) {
      if (removed.has(queue.definition.deadQueue)) this.cutLost(queue);
    }
    return true;
  }

  /** Replaces the claims of that shard: the queues here that its queues are about to name. */
  #claimAll({ shard, claims }: Standing): void {
    for (const { namedBy } of this.queues) {
      for (const name of namedBy) if (this.#shardOf(name) === shard) namedBy.delete(name);
    }
    for (const { deadQueue, by } of claims) this.#byName.get(deadQueue)?.namedBy.add(by);
  }

  #shardOf(name: string): number {
    return shardOf(name, this.#options.shardCount);
  }

  /** Whether it is certain that such a queue exists or does not. */
  isKnown(name: string): boolean {
    const shard = this.#shardOf(name);
    return shard === this.#options.shard || this.directory.knows(shard);
  }

  /** Throws `not_ready` if the shard of the name has not reported its queues. */
  requireKnown(name: string): void {
    if (!this.isKnown(name)) throw QueueError.from(unknownShardFailure);
  }

  /** All queues of the shard, in the form that is sent to other shards. */
  get references(): QueueReference[] {
    return [...this.#byName.values()].map((queue) => queue.reference);
  }

  /** Whether all other shards have reported their queues. */
  get isAllKnown(): boolean {
    return this.directory.knownCount === this.#options.shardCount - 1;
  }

  /** Throws `not_ready` unless all other shards have reported their queues. */
  requireAllKnown(): void {
    if (!this.isAllKnown) throw QueueError.from(unknownShardFailure);
  }

  /** Removes the reference to a deleted dead queue, even if another queue has its name now. */
  cutLost(queue: LogicalQueue): void {
    const { deadQueue } = queue.definition;
    if (!this.isKnown(deadQueue)) return;
    const dead = this.targetOf(deadQueue)?.owner ?? 0;
    if (dead === queue.deadOwner) return;
    queue.cutDeadQueue();
    this.#revision += 1;
  }

  apply(queue: LogicalQueue, entry: CatalogEntry): void {
    queue.definition = entry.definition;
    queue.deadOwner = entry.deadOwner;
    for (const place of entry.places) this.own(queue, place);
    this.cutLost(queue);
  }

  #adoptOne(entry: CatalogEntry): Deleted | null {
    const { queueId, places, deleting } = entry;
    this.#queueIdLast = Math.max(this.#queueIdLast, queueId);
    this.#queueOwners.add(ownerOf(lastingOf(entry, entry.createdAs)));
    if (!deleting) {
      this.add(entry);
      return null;
    }
    const slots = places.map(({ slot }) => slot);
    for (const place of places) this.#noteOrigins(place);
    for (const slot of slots) this.#owners.set(slot, null);
    return { queueId, slots };
  }

  #noteOrigins({ slot, origins }: PartitionPlace): void {
    if (origins === undefined) return;
    this.#origins.set(slot, origins);
    for (const origin of origins) this.#movedTo.set(formerPlace(origin), slot);
  }

  add(entry: CatalogEntry): LogicalQueue {
    const { shard, clock } = this.#options;
    const queue = new LogicalQueue(entry, shard, clock);
    this.#byName.set(entry.definition.name, queue);
    this.#byId.set(queue.queueId, queue);
    this.#byOwner.set(queue.owner, queue);
    this.#queueOwners.add(queue.owner);
    for (const place of entry.places) this.own(queue, place);
    return queue;
  }

  /** Adds a queue whose create is committed; its dead queue may be deleted by now. */
  create(entry: CatalogEntry): LogicalQueue {
    const queue = this.add(entry);
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
    this.#noteOrigins(place);
    this.#owners.set(place.slot, { queue, partition, settings: null, revision: 0 });
    queue.levels.put(place.partition, place.state === "active");
  }

  /** The slot stays in use until `free`. */
  disown(queue: LogicalQueue, place: PartitionPlace): void {
    queue.drop(place.partition);
    queue.uncount(place);
    queue.levels.remove(place.partition);
    this.#revision += 1;
    this.#owners.set(place.slot, null);
  }

  /** The slots can be reused: items on their way name their queue, not the slot. */
  free(slots: readonly number[]): void {
    for (const slot of slots) this.#owners.delete(slot);
  }

  /** Removes the queue; its slots stay in use until `free`. */
  remove(queue: LogicalQueue): Deleted {
    const { queueId, slots } = queue;
    this.#byName.delete(queue.definition.name);
    this.#byId.delete(queueId);
    this.#byOwner.delete(queue.owner);
    queue.deleted = true;
    const places = [...queue.places.values()];
    for (const place of places) this.disown(queue, place);
    return { queueId, slots };
  }

  ownerAt(slot: number): SlotOwner | undefined {
    return this.#owners.get(partitionSlot(slot)) ?? undefined;
  }

  /** See `QueueRules`. */
  originsAt(slot: number): readonly Origin[] {
    const origins = this.#origins.get(partitionSlot(slot)) ?? neverMoved;
    const priority = priorityOf(slot);
    if (priority === 0) return origins;
    return origins.map((origin) => ({ ...origin, slot: slotFor(origin.slot, priority) }));
  }

  /** The place of the item; `null` = no partition here has the id, or the store went back since. */
  placeOf(id: string, epochs: Epochs | null): SlotSeq | null {
    const issued = epochs?.placeOf(id) ?? null;
    if (issued === null) return null;
    const { slot, seq } = issued;
    if (issued.epochs === null) return { slot, seq };
    const former = { epochs: issued.epochs, slot: partitionSlot(slot) };
    const present = this.#movedTo.get(formerPlace(former));
    // The partition was deleted before, or the reshard moved it to another shard.
    if (present === undefined) return null;
    return { slot: slotFor(present, priorityOf(slot)), seq };
  }

  /** The place of an item of the queue; `null` = no item of it has this id. */
  placeIn(queue: LogicalQueue, id: string, epochs: Epochs | null): SlotSeq | null {
    const place = this.placeOf(id, epochs);
    return place !== null && this.ownerAt(place.slot)?.queue === queue ? place : null;
  }

  /** The queue of this name, unless its delete is being committed. */
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

  /** Queues in the order of UTF-16 code units of their names, from the pivot on, inclusive. */
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
    if (this.#byName.size + this.directory.size >= limits.queuesMax)
      throw tooMany("too_many", "queues", limits.queuesMax);
    const queueId = this.#newQueueId();
    const places = this.#newPlaces(upTo(settings.requestedPartitions));
    const definition = { ...definitionOf(settings), createdAt: now, updatedAt: now };
    const deadOwner = this.targetOf(definition.deadQueue)?.owner ?? 0;
    return { queueId, definition, places, deleting: false, deadOwner };
  }

  /** Plans an update: surplus partitions drain, missing ones are added. */
  planUpdate(change: QueueChange, now: number, isShown?: IsShown): QueuePlan {
    checkQueueName(change.name);
    const queue = this.find(change.name);
    const { createdAt, pause } = queue.definition;
    const settings: QueueSettings = merge(queue.definition, change);
    const isSame = settings.deadQueue === queue.definition.deadQueue;
    if (!isSame) this.#checkDeadQueue(settings, isShown);
    checkGrouped(queue, settings);
    checkQueueSettings(settings);
    checkUniqueFor(queue, settings);
    const updatedAt = laterThan(queue, now);
    const definition = { ...definitionOf(settings), ...(pause && { pause }), createdAt, updatedAt };
    const wanted = settings.requestedPartitions;
    const kept = [...queue.places.values()].map((place): PartitionPlace => {
      return { ...place, state: place.partition < wanted ? "active" : "draining" };
    });
    const missing = upTo(wanted).filter((partition) => !queue.places.has(partition));
    const places = [...kept, ...this.#newPlaces(missing)];
    const named = isSame ? queue.deadOwner : this.targetOf(definition.deadQueue)?.owner;
    const deadOwner = named ?? 0;
    return { queue, entry: queue.entry({ definition, places, deadOwner }) };
  }

  /** Unique over all shards, even if the store of one went back: each has its own remainder. */
  #newQueueId(): number {
    const { shard, shardCount } = this.#options;
    const rounds = Math.floor(this.#queueIdLast / shardCount) + 1;
    this.#queueIdLast = rounds * shardCount + shard;
    return this.#queueIdLast;
  }

  /** See `QueueRules`. */
  targetOf(name: string): Target | null {
    return this.#byName.get(name)?.target ?? this.directory.named(name) ?? null;
  }

  /** `pause`: `null` = end the pause. Returns `null` if there was none. */
  planPause(name: string, pause: Pause | null, now: number): QueuePlan | null {
    const queue = this.find(name);
    if (pause === null && queue.definition.pause === undefined) return null;
    const { pause: _, ...rest } = queue.definition;
    const definition = { ...rest, ...(pause && { pause }), updatedAt: laterThan(queue, now) };
    return { queue, entry: queue.entry({ definition }) };
  }

  /** Includes a queue whose delete is being committed; 0 if the queue does not exist. */
  itemCountOf(name: string): number {
    return this.#byName.get(name)?.itemCount ?? 0;
  }

  /** Queues of this shard that send their dead items to this queue. */
  dependents(name: string): LogicalQueue[] {
    return [...this.#byName.values()].filter(({ definition }) => definition.deadQueue === name);
  }

  /** Queues of any shard that send their dead items to this queue, or are about to. */
  dependentNames(name: string): string[] {
    const here = this.dependents(name).map(({ definition }) => definition.name);
    const elsewhere = [...this.directory.all].filter((one) => this.#deadQueueOf(one) === name);
    const claims = this.named(name)?.namedBy ?? [];
    return [...new Set([...here, ...elsewhere.map((one) => one.name), ...claims])];
  }

  /** `""` = it has none, or that was deleted. */
  #deadQueueOf({ deadQueue, deadOwner }: QueueReference): string {
    return this.targetOf(deadQueue)?.owner === deadOwner ? deadQueue : "";
  }

  /** Names of the dead queues of all queues, of any shard. */
  get deadQueueNames(): Set<string> {
    const here = this.#byName.values().map(({ definition }) => definition.deadQueue);
    const elsewhere = Iterator.from(this.directory.all).map((one) => this.#deadQueueOf(one));
    return new Set([...here, ...elsewhere]);
  }

  get slots(): number[] {
    return [...this.#owners].flatMap(([slot, owner]) => (owner === null ? [] : [slot]));
  }

  /** See `QueueRules`. Cached, because it is called for each item. */
  settingsAt(slot: number): PartitionSettings | null {
    const owner = this.#owners.get(partitionSlot(slot)) ?? null;
    if (owner === null) return null;
    if (owner.revision < this.#revision) {
      owner.settings = this.settingsOf(owner);
      owner.revision = this.#revision;
    }
    return owner.settings;
  }

  /** See `QueueRules`. */
  homeOf(owner: number, priority: number): number | null {
    const place = this.#byOwner.get(owner)?.placeForProduce(priority);
    return place === undefined ? null : slotFor(place.slot, priority);
  }

  /** See `QueueRules`. */
  isOpen(owner: number): boolean {
    const here = this.#byOwner.get(owner);
    return here === undefined ? this.directory.isOpen(owner) : !here.isHidden;
  }

  /** Ends the claim of a queue of another shard to name this one; also while it is hidden. */
  unclaim({ deadQueue, by }: Claim): void {
    this.#byName.get(deadQueue)?.namedBy.delete(by);
  }

  /** See `QueueRules`. */
  pauseOf(owner: number): Pause | undefined {
    const here = this.#byOwner.get(owner)?.definition;
    return here === undefined ? this.directory.withOwner(owner)?.pause : here.pause;
  }

  queueOf(queueId: number): LogicalQueue | undefined {
    return this.#byId.get(queueId);
  }

  settingsOf({ queue, partition }: SlotOwner): PartitionSettings | null {
    const place = queue.places.get(partition);
    if (place === undefined) return null;
    const { leaseTimeoutMs, expireTimeoutMs, maxAttempts, pause, uniqueForMs } = queue.definition;
    const rules = { leaseTimeoutMs, expireTimeoutMs, maxAttempts };
    const { deadOwner } = queue;
    const dead =
      deadOwner === 0
        ? null
        : { shard: this.#shardOf(queue.definition.deadQueue), owner: deadOwner };
    const uniques = uniqueForMs !== undefined && { uniqueForMs };
    const backoff = parseBackoff(queue.definition.retryBackoff ?? "");
    const named = { slot: place.slot, queue: queue.definition.name, owner: queue.owner };
    const { grouped, groupOrder, groupOnDead } = queue.definition;
    const isStrict = groupOrder === "strict";
    const groups = grouped === true && {
      groups: { isStrict, isBlockedByDead: groupOnDead === "block" },
    };
    return {
      ...named,
      ...rules,
      dead,
      ...(pause && { pause }),
      ...uniques,
      ...(backoff && { backoff }),
      ...groups,
    };
  }

  #checkDeadQueue({ name, deadQueue }: QueueSettings, isShown?: IsShown): void {
    if (deadQueue === "") return;
    checkDeadQueueName(deadQueue);
    if (deadQueue === name) refuseDeadQueue("dead_queue cannot reference itself");
    // A queue of any shard may name this one.
    this.requireAllKnown();
    const elsewhere = this.directory.named(deadQueue);
    if (elsewhere === undefined) this.nameable(deadQueue);
    else if (this.#deadQueueOf(elsewhere) !== "") refuseChain(deadQueue);
    const [dependent] = this.dependentNames(name);
    if (dependent === undefined) return;
    const other = quotedIf(dependent, isShown);
    refuseDeadQueue(`dead_queue is invalid; '${name}' is itself the dead_queue of ${other}`);
  }

  /** The queue of this name; throws `bad_dead_queue` if it cannot become a dead queue. */
  nameable(deadQueue: string): LogicalQueue {
    const dead = this.named(deadQueue);
    if (dead === undefined) {
      refuseDeadQueue(`dead_queue does not exist; '${deadQueue}' was not found, create it first`);
    }
    if (dead.definition.deadQueue !== "" || dead.isNaming) refuseChain(deadQueue);
    return dead;
  }

  #newPlaces(partitions: readonly number[]): PartitionPlace[] {
    let next = 0;
    return partitions.map((partition) => {
      const slot = this.#freeSlot(next);
      next = slot + 1;
      return { partition, slot, state: "active" };
    });
  }

  #freeSlot(from: number): number {
    for (let slot = from; slot < limits.slotsMax; slot += 1) {
      if (!this.#owners.has(slot)) return slot;
    }
    throw tooMany("too_many", "partitions of a shard", limits.slotsMax);
  }
}

const neverMoved: readonly Origin[] = [];

function formerPlace({ epochs, slot }: Origin): string {
  return `${epochs}/${slot}`;
}

function refuseChain(deadQueue: string): never {
  refuseDeadQueue(
    `dead_queue is invalid; '${deadQueue}' already has its own dead_queue configured`,
  );
}

function refuseDeadQueue(message: string): never {
  throw QueueError.from(failure("bad_dead_queue", message));
}

/** The name of a queue in a refusal, or a text without it if the caller may not see the queue. */
export function quotedIf(name: string, isShown: IsShown = () => true): string {
  return isShown(name) ? `'${name}'` : "another queue";
}

/** Later than the last update, even if the clock has not moved. */
function laterThan({ definition }: LogicalQueue, now: number): number {
  return Math.max(now, definition.updatedAt + 1);
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** Field by field, so that unknown fields from a caller of the library are not stored. */
function definitionOf(settings: QueueSettings): Omit<QueueDefinition, "createdAt" | "updatedAt"> {
  const { name, deadQueue, reference, leaseTimeoutMs, expireTimeoutMs } = settings;
  const { maxAttempts, requestedPartitions, leasedMax = 0, leaseRate = "" } = settings;
  const leaseTimeoutText = settings.leaseTimeoutText ?? formatDuration(leaseTimeoutMs);
  const expireTimeoutText = settings.expireTimeoutText ?? formatDuration(expireTimeoutMs);
  const timeouts = { leaseTimeoutMs, expireTimeoutMs, leaseTimeoutText, expireTimeoutText };
  const counts = { maxAttempts, requestedPartitions };
  const { waitingMax = 0, retryBackoff = "" } = settings;
  const max = { ...(leasedMax > 0 && { leasedMax }), ...(waitingMax > 0 && { waitingMax }) };
  const rate = leaseRate !== "" && { leaseRate };
  const backoff = retryBackoff !== "" && { retryBackoff };
  const { uniqueForMs = 0 } = settings;
  const uniqueText = uniqueForMs === pending ? pendingText : formatDuration(uniqueForMs);
  const { uniqueForText = uniqueText } = settings;
  const uniques = uniqueForMs > 0 && { uniqueForMs, uniqueForText };
  const limited = { ...counts, ...max, ...rate, ...backoff, ...uniques };
  const rules = { ...limited, ...agingOf(settings), ...groupsOf(settings) };
  return { name, deadQueue, reference, ...timeouts, ...rules };
}

/** The keys of the items in a queue are either all freed by their ends or by none. */
function checkUniqueFor(queue: LogicalQueue, { name, uniqueForMs }: QueueSettings): void {
  const { uniqueForMs: before } = queue.definition;
  if ((before === pending) === (uniqueForMs === pending)) return;
  if (queue.itemCount === 0 && !queue.isAdding) return;
  const why = `unique_for of '${name}' can change from or to 'pending' only while it holds no items`;
  const text = `queue is not empty; ${why}; let them finish, or clear the queue`;
  throw QueueError.from(failure("queue_not_empty", text));
}

/** The index of groups has all items of a queue or none, also those that are on their way to it. */
function checkGrouped({ definition }: LogicalQueue, { name, grouped }: QueueSettings): void {
  if (Boolean(grouped) === Boolean(definition.grouped)) return;
  const how = definition.grouped ? "with" : "without";
  refuse(`grouped is invalid; '${name}' was created ${how} groups, which cannot change`);
}

function groupsOf(settings: QueueSettings) {
  const { groupLeasedMax = 0, groupRate = "", groupWaitingMax = 0 } = settings;
  const { groupOrder, groupOnDead } = settings;
  if (!settings.grouped) return {};
  return {
    grouped: true as const,
    ...(groupLeasedMax > 0 && { groupLeasedMax }),
    ...(groupRate !== "" && { groupRate }),
    ...(groupWaitingMax > 0 && { groupWaitingMax }),
    ...(groupOrder === "strict" && { groupOrder }),
    ...(groupOnDead === "block" && { groupOnDead }),
  };
}

function agingOf({ priorityAgingMs, priorityAgingText }: QueueSettings) {
  if (priorityAgingMs === undefined) return {};
  const text = priorityAgingText ?? formatDuration(priorityAgingMs);
  return { priorityAgingMs, priorityAgingText: text };
}

/** Absent fields keep their value; a new duration replaces the text of the old one. */
function merge(old: QueueDefinition, change: QueueChange): QueueSettings {
  const { leaseTimeoutText, expireTimeoutText, uniqueForText, priorityAgingText, ...rest } = old;
  const texts: { -readonly [name in keyof QueueSettings]?: QueueSettings[name] } = {};
  if (change.leaseTimeoutMs === undefined) texts.leaseTimeoutText = leaseTimeoutText;
  if (change.expireTimeoutMs === undefined) texts.expireTimeoutText = expireTimeoutText;
  if (change.uniqueForMs === undefined && uniqueForText !== undefined) {
    texts.uniqueForText = uniqueForText;
  }
  if (change.priorityAgingMs === undefined && priorityAgingText !== undefined) {
    texts.priorityAgingText = priorityAgingText;
  }
  return { ...rest, ...texts, ...change };
}
