// Checks that a history is linearizable, with the order of queueing as the witness. An id contains
// the number under which its item was queued in its partition, so the history itself records the
// order of each priority in a partition. The check does not trust that order: it gives each call the earliest
// instant that the order allows, and refuses the history if an instant is outside its call. These
// instants are a linearization of any history that passes:
//
//   queued in the order of the numbers (I4) · leased in that order (I4)
//   queued before leased · a produce as one, in its own order (I7)
//
// Linear in the size of the history, after sorting.

import { placeOf } from "../../engine/model/ids.ts";
import { partitionSlot, priorityOf } from "../../engine/model/priority.ts";
import {
  type Entry,
  type LeaseCall,
  type Offer,
  type Outcome,
  type ProduceCall,
  type ReleaseCall,
  type RetryCall,
  type SingleCall,
  singleCalls,
} from "../histories/history.ts";
import { Faults } from "../result.ts";

interface Instance {
  readonly seq: number;
  readonly offer: Offer;
  readonly lease: LeaseCall;
}

/** The call that queued an item; the item was queued at some instant within it. */
interface Queueing {
  readonly from: number;
  readonly to: number;
  readonly by: SingleCall | null;
}

export interface OrderChecked {
  /** Operations on single items to which an instant was assigned. */
  readonly operations: number;
  readonly partitions: number;
  /** Places in the order explained by a lease whose answer was lost. */
  readonly excused: number;
  readonly faults: Faults;
}

/** Leases whose answer was lost, and whose items may have been requeued at the tail. */
export interface UnseenLeases {
  readonly outcomes: readonly Outcome[];
  /**
   * Also includes answered leases that took at least this long: a node waits before it forwards a
   * lease again.
   */
  readonly answeredMsMin?: number;
}

export function checkOrder(
  entries: readonly Entry[],
  unseen: UnseenLeases = { outcomes: ["empty"] },
): OrderChecked {
  const faults = new Faults();
  const calls = entries.flatMap(singleCalls);
  const scene = sceneOf(calls, { unseen, faults });
  let operations = 0;
  let excused = 0;
  for (const [name, instances] of scene.lanes) {
    const sorted = [...instances.values()].sort((a, b) => a.seq - b.seq);
    const placed = placeQueueing(sorted, { scene, name, faults });
    excused += placed.excused;
    placeLeases(sorted, placed.instants, { name, faults });
    excused += checkProduces(sorted, { scene, name, faults });
    checkPriorities(sorted, scene, faults);
    operations += 2 * sorted.length;
  }
  for (const call of calls) {
    if (call.verb === "produce" || call.verb === "lease") continue;
    for (const id of call.ids) {
      const lease = scene.leaseOf.get(id);
      if (lease !== undefined && lease.call > call.end) {
        faults.add("I2: finished or extended before it was leased", `id ${id}`);
      }
    }
    operations += call.ids.length;
  }
  return { operations, partitions: scene.partitionCount, excused, faults };
}

interface Scene {
  /** The items of one priority in a partition, by number. */
  readonly lanes: ReadonlyMap<string, ReadonlyMap<number, Instance>>;
  readonly partitionCount: number;
  readonly produceOf: ReadonlyMap<number, ProduceCall>;
  readonly leaseOf: ReadonlyMap<string, LeaseCall>;
  /** By the id of the lease that was released or retried. */
  readonly requeueOf: ReadonlyMap<string, RetryCall | ReleaseCall>;
  /** The previous instance of the same item, by instance. */
  readonly lastOf: ReadonlyMap<Instance, Instance>;
  /**
   * Leases that were too late, or whose connection broke. Items granted to them are requeued at the
   * tail.
   */
  readonly unseen: readonly LeaseCall[];
}

function sceneOf(
  calls: readonly SingleCall[],
  { unseen: which, faults }: { readonly unseen: UnseenLeases; readonly faults: Faults },
): Scene {
  const lanes = new Map<string, Map<number, Instance>>();
  const produceOf = new Map<number, ProduceCall>();
  const leaseOf = new Map<string, LeaseCall>();
  const requeueOf = new Map<string, RetryCall | ReleaseCall>();
  const instancesOf = new Map<number, Instance[]>();
  const slots = new Map<string, number>();
  for (const call of calls) {
    if (call.verb === "produce") for (const number of call.numbers) produceOf.set(number, call);
    if ((call.verb === "retry" || call.verb === "release") && call.outcome !== "refused") {
      for (const id of call.ids) requeueOf.set(id, call);
    }
    if (call.verb !== "lease") continue;
    const partition = `partition ${call.partition} of ${call.queue}`;
    const priorities = new Set<number>();
    for (const offer of call.offers) {
      const place = placeOf(offer.id);
      const slot = place === null ? null : partitionSlot(place.slot);
      if (place === null || slot === null || slot !== (slots.get(partition) ?? slot)) {
        faults.add("an id is not of its partition", `id ${offer.id}`);
        continue;
      }
      slots.set(partition, slot);
      const priority = priorityOf(place.slot);
      if (priorities.add(priority).size > 1) {
        faults.add("a lease has items of several priorities", `id ${offer.id}`);
      }
      const lane = `${partition}, priority ${priority}`;
      const instances = lanes.getOrInsertComputed(lane, () => new Map());
      const { seq } = place;
      const instance = { seq, offer, lease: call };
      if (instances.has(seq)) faults.add("I2: an id was leased twice", offer.id);
      instances.set(seq, instance);
      leaseOf.set(offer.id, call);
      instancesOf.getOrInsertComputed(offer.number, () => []).push(instance);
    }
  }
  const unseen = calls.filter(
    (call): call is LeaseCall => call.verb === "lease" && mayBeUnseen(call, which),
  );
  return {
    lanes,
    partitionCount: slots.size,
    produceOf,
    leaseOf,
    requeueOf,
    lastOf: lastOf(instancesOf.values()),
    unseen,
  };
}

function mayBeUnseen(
  { outcome, isRepeated = false, call, end }: LeaseCall,
  { outcomes, answeredMsMin = Number.POSITIVE_INFINITY }: UnseenLeases,
): boolean {
  return outcomes.includes(outcome) || isRepeated || end - call >= answeredMsMin;
}

/** A release keeps the attempts. Its client had received the lease before. */
function lastOf(items: Iterable<Instance[]>): Map<Instance, Instance> {
  const last = new Map<Instance, Instance>();
  for (const instances of items) {
    instances.sort((a, b) => a.offer.attempts - b.offer.attempts || a.lease.end - b.lease.end);
    for (const [index, instance] of instances.entries()) {
      const before = instances[index - 1];
      if (before !== undefined) last.set(instance, before);
    }
  }
  return last;
}

function queueingOf(instance: Instance, { produceOf, requeueOf, lastOf: before }: Scene): Queueing {
  const { offer } = instance;
  const produce = produceOf.get(offer.number);
  const last = before.get(instance);
  if (last === undefined && offer.attempts === 1) {
    if (produce === undefined) return { from: 0, to: Number.POSITIVE_INFINITY, by: null };
    const isThere = produce.outcome === "ok" && !produce.isDelayed;
    const to = isThere ? produce.end : Number.POSITIVE_INFINITY;
    return { from: produce.call, to, by: produce };
  }
  if (last === undefined) {
    return { from: produce?.call ?? 0, to: Number.POSITIVE_INFINITY, by: null };
  }
  const requeue = requeueOf.get(last.offer.id);
  const attempts = last.offer.attempts + (requeue?.verb === "release" ? 0 : 1);
  // If the answer was lost, the lease may have lapsed before the call arrived.
  if (requeue?.outcome !== "ok") {
    return { from: last.lease.call, to: Number.POSITIVE_INFINITY, by: null };
  }
  // In between it was leased by a call whose answer was lost.
  if (offer.attempts !== attempts) {
    return { from: requeue.call, to: Number.POSITIVE_INFINITY, by: null };
  }
  return { from: requeue.call, to: requeue.end, by: requeue };
}

interface PlaceOptions {
  readonly scene: Scene;
  readonly name: string;
  readonly faults: Faults;
}

function placeQueueing(
  sorted: readonly Instance[],
  { scene, name, faults }: PlaceOptions,
): { instants: readonly number[]; excused: number } {
  const instants: number[] = [];
  let excused = 0;
  let now = Number.NEGATIVE_INFINITY;
  for (const instance of sorted) {
    const { from, to } = queueingOf(instance, scene);
    const at = Math.max(now, from);
    if (at > to) {
      const { queue, end: offered } = instance.lease;
      if (mayBeGivenBack(scene, { queue, from, at, offered })) excused += 1;
      else {
        const late = (at - to).toFixed(3);
        faults.add("I4: queued out of order", `${name}, id ${instance.offer.id}, by ${late} ms`);
      }
    } else {
      now = at;
    }
    instants.push(Math.min(at, to));
  }
  return { instants, excused };
}

/** The longest time between the end of such a lease and the return of its items to the tail. */
const backMsMax = 5_000;

interface Chance {
  readonly queue: string;
  readonly from: number;
  readonly at: number;
  readonly offered: number;
}

/**
 * Whether an item queued from `from` on may have been requeued unchanged at the tail, at `at` or
 * later and before it was offered, because it was granted to a lease too late.
 */
function mayBeGivenBack({ unseen }: Scene, { queue, from, at, offered }: Chance): boolean {
  return unseen.some(
    (lease) =>
      lease.queue === queue &&
      lease.end >= from &&
      lease.call <= offered &&
      lease.end + backMsMax >= at,
  );
}

function placeLeases(
  sorted: readonly Instance[],
  queuedAt: readonly number[],
  { name, faults }: Omit<PlaceOptions, "scene">,
): void {
  let now = Number.NEGATIVE_INFINITY;
  for (const [index, { offer, lease }] of sorted.entries()) {
    const queued = queuedAt[index] ?? 0;
    if (queued > lease.end) {
      faults.add("leased before it was queued", `${name}, id ${offer.id}`);
      continue;
    }
    const at = Math.max(now, lease.call, queued);
    if (at > lease.end) {
      const late = (at - lease.end).toFixed(3);
      faults.add("I4: leased out of order", `${name}, id ${offer.id}, by ${late} ms`);
    } else {
      now = at;
    }
  }
  for (const lease of new Set(sorted.map((one) => one.lease))) {
    const isRising = lease.offers.every(
      ({ id }, at) => at === 0 || (lease.offers[at - 1]?.id ?? "") < id,
    );
    if (!isRising) faults.add("I4: a batch is not in queue order", `${name}, ${lease.client}`);
  }
}

function checkPriorities(lane: readonly Instance[], { produceOf }: Scene, faults: Faults): void {
  for (const { offer } of lane) {
    const priority = priorityOf(placeOf(offer.id)?.slot ?? 0);
    if (priority === (produceOf.get(offer.number)?.priority ?? 0)) continue;
    faults.add("an item has another priority than it was produced with", `id ${offer.id}`);
  }
}

/**
 * The items of a produce are queued in the given order. Outputs sent to another shard keep their
 * order, but other items may come in between.
 */
function checkProduces(sorted: readonly Instance[], { scene, name, faults }: PlaceOptions): number {
  let excused = 0;
  const first = new Map<ProduceCall, { seq: number; index: number }>();
  const indexOf = new Map<number, number>();
  for (const instance of sorted) {
    const { seq, offer } = instance;
    const produce = scene.produceOf.get(offer.number);
    const isFirst = offer.attempts === 1 && !scene.lastOf.has(instance);
    if (!isFirst || produce === undefined) continue;
    if (!first.has(produce)) {
      for (const [index, number] of produce.numbers.entries()) indexOf.set(number, index);
    }
    const index = indexOf.get(offer.number) ?? 0;
    const start = first.get(produce);
    const { isDelayed } = produce;
    if (start === undefined) {
      first.set(produce, { seq, index });
    } else if (isDelayed && index > start.index) {
      first.set(produce, { seq, index });
    } else if (seq - start.seq !== index - start.index) {
      const { call: at, queue } = produce;
      const whole = { queue, from: at, at, offered: Number.POSITIVE_INFINITY };
      if (mayBeGivenBack(scene, whole)) excused += 1;
      else faults.add("I7: a produce is not in one piece", `${name}, item ${offer.number}`);
    }
  }
  return excused;
}
