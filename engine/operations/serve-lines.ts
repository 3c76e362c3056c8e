// Grants ready items to the lines of waiting leases, queue by queue and in order of arrival,
// including items that this turn made ready. A turn reads the head of a partition only once.

import { never } from "../model/duration.ts";
import { slotFor } from "../model/priority.ts";
import { Lanes } from "../state/lanes.ts";
import type { Partition } from "../state/partition.ts";
import type { LogicalQueue, WaitingLease } from "../state/queue.ts";
import { receiptOf, refusedKey } from "../turn/idempotency.ts";
import type { ReadPlanner, Turn } from "../turn/turn-context.ts";
import { grantAgain, planGrant, type ServedLease, shareOut, takeHead, wantedBy } from "./lease.ts";
import { groupsOf, planGroups, serveGroups } from "./serve-groups.ts";

/** Reads the heads of partitions that will serve a lease, and earlier grants of repeated leases. */
export function planLeases(planner: ReadPlanner): void {
  const { now, machineNow, linesToServe } = planner;
  for (const { key } of linesToServe.repeated) {
    const values = key && receiptOf(planner, key)?.values;
    if (key && values) planGrant(planner, key, values);
  }
  let itemsMax = planner.limits.turnWeightMax;
  for (const queue of linesToServe.queues) {
    // The next turn serves the remaining queues.
    if (itemsMax <= 0) break;
    const waiting = inTime(queue, machineNow);
    if (queue.servesGroups) {
      itemsMax -= planGroups(planner, queue, { waiting, itemsMax });
      continue;
    }
    const { isFlat } = queue.levels;
    const lender = isFlat ? new FlatLender(queue) : lanesOf(queue, planner, () => true);
    const served = share(queue, waiting, lender, { now, itemsMax });
    for (const [slot, asked] of served) {
      const items = wantedBy(asked);
      itemsMax -= items;
      // The item behind the last shows how long the rest of the lane has waited.
      planHead(planner, slot, isFlat ? items : items + 1);
    }
    if (lender instanceof FlatLender) {
      lender.end();
      continue;
    }
    for (const slot of lender.unknownSlots) if (!served.has(slot)) planHead(planner, slot, 1);
  }
}

function planHead({ memory, heads }: ReadPlanner, slot: number, items: number): void {
  const { committedSeq, firstFrom } = memory.partition(slot);
  if (firstFrom < committedSeq) heads.push({ slot, from: firstFrom, before: committedSeq, items });
}

/** Serves the lines of the queues that were ready, and of those that this turn has changed. */
export function grantLeases(turn: Turn): void {
  for (const lease of turn.linesToServe.repeated) if (!lease.over) grantAgain(turn, lease);
  const queues = new Set(turn.linesToServe.queues);
  for (const partition of turn.changeSet.touched) {
    const queue = turn.memory.updateLoad(partition);
    if (queue !== null) queues.add(queue);
  }
  const offers = offersOf(turn);
  // Queues without an offer come first here, so that the next turn serves them first.
  for (const queue of queues) if (!offers.has(queue)) serve(turn, queue, noLanes);
  for (const [queue, lanes] of offers) serve(turn, queue, lanes);
  // Expired items that were found at a head are in the dead queue now; the next turn serves it.
  for (const partition of turn.changeSet.touched) {
    const queue = turn.memory.rules.ownerAt(partition.slot)?.queue;
    if (queue !== undefined && !queues.has(queue)) turn.lines.ready(queue);
  }
}

function serve(turn: Turn, queue: LogicalQueue, lanes: Lanes): void {
  const { changeSet, lines, now } = turn;
  if (queue.line.size === 0) return;
  if (changeSet.queues.get(queue.queueId)?.definition.pause?.lease === true) return;
  const allowed = queue.itemsAllowed(now);
  const before = changeSet.granted.length;
  const groups = queue.servesGroups ? groupsOf(turn, queue) : null;
  const granted =
    groups === null
      ? serveLanes(turn, queue, lanes)
      : serveGroups(turn, queue, { leases: servable(turn, queue), allowed });
  const served = new Set(changeSet.granted.slice(before).map(({ lease }) => lease));
  if (allowed - granted <= 0) {
    lines.rest(queue);
    return;
  }
  // After a grant the next turn may begin during the sync; otherwise it waits for the answers.
  const wanted = granted > 0 ? turn.limits.secondTurnWeightMin : 1;
  const mayFind = (priorityMin: number): boolean => groups?.hasOpen(priorityMin) ?? true;
  const left = askedOf(queue, { served, machineNow: turn.machineNow, wanted, mayFind });
  if (left > 0) lines.ready(queue, granted > 0 ? left : 0);
  else if (groups !== null) lines.rest(queue, groups.openAt);
}

type Lender = Pick<Lanes, "lend">;

/** Lends the items of a queue that has only items of priority 0. */
class FlatLender implements Lender {
  readonly #queue: LogicalQueue;

  constructor(queue: LogicalQueue) {
    this.#queue = queue;
  }

  lend(priorityMin: number, itemCount: number): number {
    const balance = this.#queue.levels.at(0);
    const partition = priorityMin > 0 ? -1 : balance.leaseFrom;
    if (partition < 0) return -1;
    balance.lend(partition, itemCount);
    return this.#queue.place(partition).slot;
  }

  /** The turn decides what is taken. */
  end(): void {
    this.#queue.levels.at(0).forgetLent();
  }
}

/** Assigns leases to slots, while there is an item for each and the limits allow it. */
function share(
  queue: LogicalQueue,
  waiting: Iterable<WaitingLease>,
  lender: Lender,
  { now, itemsMax }: { readonly now: number; readonly itemsMax: number },
): Map<number, ServedLease[]> {
  const served = new Map<number, ServedLease[]>();
  const allowed = queue.itemsAllowed(now);
  let items = 0;
  // Leases that ask for this priority or a higher one find nothing.
  let without = Number.POSITIVE_INFINITY;
  for (const lease of allowed > 0 ? waiting : []) {
    const { priorityMin = 0 } = lease.request;
    if (priorityMin >= without) continue;
    const batchSize = Math.min(lease.request.batchSize, allowed - items);
    const slot = lender.lend(priorityMin, batchSize);
    if (slot < 0) {
      if (priorityMin === 0) break;
      without = priorityMin;
      continue;
    }
    served.getOrInsertComputed(slot, () => []).push({ lease, batchSize });
    items += batchSize;
    if (items >= Math.min(allowed, itemsMax)) break;
  }
  return served;
}

/** Skips leases that are too late, and those that ask for a higher priority than any ready item. */
function* inTime({ line, levels }: LogicalQueue, machineNow: number): Generator<WaitingLease> {
  const { highestReady } = levels;
  if (highestReady < 0) return;
  for (const lease of line) {
    const { priorityMin = 0 } = lease.request;
    if (priorityMin <= highestReady && lease.deadline > machineNow) yield lease;
  }
}

/**
 * Skips leases that arrived while the turn was reading: the grant would be dated before the
 * arrival. A lease with a key is served only once, and is refused if no more keys can be
 * remembered.
 */
function* servable(turn: Turn, queue: LogicalQueue): Generator<WaitingLease> {
  for (const lease of inTime(queue, turn.machineNow)) {
    if (lease.since > turn.now) continue;
    const { key } = lease;
    if (key !== undefined) {
      if (receiptOf(turn, key) !== undefined) {
        turn.lines.lookUp(lease);
        continue;
      }
      const refused = refusedKey(turn);
      if (refused !== null) {
        turn.changeSet.granted.push({ lease, outcome: refused, slot: 0, seqs: [] });
        continue;
      }
    }
    yield lease;
  }
}

const noLanes = new Lanes({ now: 0, agingMs: never });

/** All lanes of the queue; `isRead` tells whether the turn can lease from a slot. */
function lanesOf(
  { levels, priorityAgingMs: agingMs, places }: LogicalQueue,
  { memory, now }: Pick<Turn, "memory" | "now">,
  isRead: (partition: Partition) => boolean,
): Lanes {
  const lanes = new Lanes({ now, agingMs });
  for (const priority of levels.priorities) {
    for (const [number, ready] of levels.at(priority).ready) {
      const place = places.get(number);
      if (place === undefined) continue;
      const partition = memory.partition(slotFor(place.slot, priority));
      const since = partition.headReadyAt(now);
      lanes.add({ slot: partition.slot, ready, since, isRead: isRead(partition) });
    }
  }
  return lanes;
}

/** By queue, the lanes of slots whose stored heads were read, or are empty. */
function offersOf(turn: Turn): Map<LogicalQueue, Lanes> {
  const { memory, readResult, changeSet, now } = turn;
  const offers = new Map<LogicalQueue, Lanes>();
  const isRead = ({ slot, firstFrom, committedSeq }: Partition): boolean =>
    readResult.heads.has(slot) || firstFrom >= committedSeq;
  for (const slot of readResult.heads.keys()) observeHead(turn, memory.partition(slot));
  const slots = new Set([
    ...readResult.heads.keys(),
    ...Array.from(changeSet.touched, (partition) => partition.slot),
  ]);
  for (const slot of [...slots].sort((a, b) => a - b)) {
    const queue = memory.rules.ownerAt(slot)?.queue;
    if (queue === undefined || queue.line.size === 0 || queue.definition.grouped) continue;
    if (!queue.levels.isFlat) {
      offers.getOrInsertComputed(queue, () => lanesOf(queue, turn, isRead));
      continue;
    }
    const partition = memory.partition(slot);
    if (!isRead(partition)) continue;
    const lanes = offers.getOrInsertComputed(queue, () => new Lanes({ now, agingMs: never }));
    // All items have one priority, so only the numbers of items are compared.
    lanes.add({ slot, ready: partition.readyCount, since: now, isRead: true });
  }
  return offers;
}

/** Records since when the first item that was read has been ready. */
function observeHead({ readResult, changeSet }: Turn, partition: Partition): void {
  const { slot, firstFrom, held } = partition;
  const { found = [] } = readResult.heads.get(slot) ?? {};
  const first = found.find(
    ({ seq }) => seq >= firstFrom && !held.has(seq) && !changeSet.hasLeft(slot, seq),
  );
  // Only the number of a damaged item is certain.
  if (first?.damaged === false) partition.readyMarks.observe(first.seq, first.queuedAt);
}

/** Returns how many items it has granted. */
function serveLanes(turn: Turn, queue: LogicalQueue, lanes: Lanes): number {
  const { changeSet, memory, now } = turn;
  let granted = 0;
  const bounds = { now, itemsMax: turn.limits.turnWeightMax };
  const { isFlat } = queue.levels;
  for (const [slot, asked] of share(queue, servable(turn, queue), lanes, bounds)) {
    const partition = memory.partition(slot);
    const readyUntil = isFlat ? Number.POSITIVE_INFINITY : lanes.readyUntil(slot, leastOf(asked));
    const taken = takeHead(turn, partition, { wanted: wantedBy(asked), readyUntil });
    granted += taken.granted.length;
    shareOut(turn, partition, asked, taken);
    memory.updateLoad(partition);
    if (taken.more && !isFlat) {
      lanes.leave(slot, { ready: partition.readyCount, since: partition.headReadyAt(now) });
    }
    // The count of ready items was too high: skip the partition until a turn changes it.
    const isShort = taken.granted.length < asked.length && !taken.more;
    if (!isShort) continue;
    const number = memory.rules.ownerAt(slot)?.partition ?? 0;
    queue.levels.at(partition.priority).update(number, { ready: 0 });
    changeSet.touched.add(partition);
  }
  return granted;
}

/** The lowest priority that one of the leases takes. */
function leastOf(leases: readonly ServedLease[]): number {
  return Math.min(...leases.map(({ lease }) => lease.request.priorityMin ?? 0));
}

/** The items that leases ask for which may find some, counted up to `wanted`. */
function askedOf(
  queue: LogicalQueue,
  {
    served,
    machineNow,
    wanted,
    mayFind,
  }: {
    readonly served: ReadonlySet<WaitingLease>;
    readonly machineNow: number;
    readonly wanted: number;
    readonly mayFind: (priorityMin: number) => boolean;
  },
): number {
  let asked = 0;
  for (const lease of inTime(queue, machineNow)) {
    if (served.has(lease) || !mayFind(lease.request.priorityMin ?? 0)) continue;
    asked += lease.request.batchSize;
    if (asked >= wanted) break;
  }
  return asked;
}
