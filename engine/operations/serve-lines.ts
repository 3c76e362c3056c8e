// Grants ready items to the lines of waiting leases, queue by queue and in order of arrival,
// including items that this turn made ready. A turn reads the head of a partition only once.

import type { Balance } from "../state/balance.ts";
import type { LogicalQueue, WaitingLease } from "../state/queue.ts";
import { receiptOf, refusedKey } from "../turn/idempotency.ts";
import type { ReadPlanner, Turn } from "../turn/turn-context.ts";
import { grantAgain, planGrant, type ServedLease, shareOut, takeHead, wantedBy } from "./lease.ts";

/** Reads the heads of partitions that will serve a lease, and earlier grants of repeated leases. */
export function planLeases(planner: ReadPlanner): void {
  const { memory, now, machineNow, linesToServe } = planner;
  for (const { key } of linesToServe.repeated) {
    const values = key && receiptOf(planner, key)?.values;
    if (key && values) planGrant(planner, key, values);
  }
  let itemsMax = planner.limits.turnWeightMax;
  for (const queue of linesToServe.queues) {
    // The next turn serves the remaining queues.
    if (itemsMax <= 0) break;
    const waiting = inTime(queue, machineNow);
    for (const [partition, asked] of share(queue, waiting, queue.balance, { now, itemsMax })) {
      const { slot } = queue.place(partition);
      const { committedSeq, firstFrom } = memory.partition(slot);
      const items = wantedBy(asked);
      itemsMax -= items;
      if (firstFrom >= committedSeq) continue;
      planner.heads.push({ slot, from: firstFrom, before: committedSeq, items });
    }
  }
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
  for (const queue of queues) if (!offers.has(queue)) serve(turn, queue, new Offers());
  for (const [queue, offered] of offers) serve(turn, queue, offered);
}

type Lender = Pick<Balance, "leaseFrom" | "lend" | "forgetLent">;

/** Assigns leases to partitions, while there is an item for each and the limits allow it. */
function share(
  queue: LogicalQueue,
  waiting: Iterable<WaitingLease>,
  lender: Lender,
  { now, itemsMax }: { readonly now: number; readonly itemsMax: number },
): Map<number, ServedLease[]> {
  const served = new Map<number, ServedLease[]>();
  const allowed = queue.itemsAllowed(now);
  let items = 0;
  for (const lease of allowed > 0 ? waiting : []) {
    const partition = lender.leaseFrom;
    if (partition < 0) break;
    const batchSize = Math.min(lease.request.batchSize, allowed - items);
    lender.lend(partition, batchSize);
    served.getOrInsertComputed(partition, () => []).push({ lease, batchSize });
    items += batchSize;
    if (items >= Math.min(allowed, itemsMax)) break;
  }
  lender.forgetLent();
  return served;
}

function* inTime({ line }: LogicalQueue, machineNow: number): Generator<WaitingLease> {
  for (const lease of line) if (lease.deadline > machineNow) yield lease;
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

interface Offer {
  readonly partition: number;
  readonly ready: number;
  leases: number;
  wanted: number;
}

/** Partitions of one queue whose stored heads were read, or are empty. */
class Offers implements Lender {
  readonly #offers: Offer[] = [];

  add(partition: number, ready: number): void {
    this.#offers.push({ partition, ready, leases: 0, wanted: 0 });
  }

  get leaseFrom(): number {
    return this.#best?.partition ?? -1;
  }

  get #best(): Offer | null {
    let best: Offer | null = null;
    for (const offer of this.#offers) {
      const { ready, leases, wanted } = offer;
      if (ready > leases && (best === null || ready - wanted > best.ready - best.wanted)) {
        best = offer;
      }
    }
    return best;
  }

  lend(partition: number, itemCount: number): void {
    const offer = this.#offers.find((one) => one.partition === partition);
    if (offer === undefined) return;
    offer.leases += 1;
    offer.wanted += itemCount;
  }

  /** Nothing to forget: each turn makes a new object. */
  forgetLent(): void {}
}

function offersOf({ memory, readResult, changeSet }: Turn): Map<LogicalQueue, Offers> {
  const offers = new Map<LogicalQueue, Offers>();
  const slots = new Set([
    ...readResult.heads.keys(),
    ...Array.from(changeSet.touched, ({ slot }) => slot),
  ]);
  for (const slot of [...slots].sort((a, b) => a - b)) {
    const owner = memory.rules.ownerAt(slot);
    if (owner === undefined || owner.queue.line.size === 0) continue;
    const { firstFrom, committedSeq, readyCount } = memory.partition(slot);
    if (!readResult.heads.has(slot) && firstFrom < committedSeq) continue;
    offers.getOrInsertComputed(owner.queue, () => new Offers()).add(owner.partition, readyCount);
  }
  return offers;
}

function serve(turn: Turn, queue: LogicalQueue, offers: Offers): void {
  const { changeSet, lines, memory, now } = turn;
  if (queue.line.size === 0) return;
  if (changeSet.queues.get(queue.queueId)?.definition.pause?.lease === true) return;
  const allowed = queue.itemsAllowed(now);
  const before = changeSet.granted.length;
  let granted = 0;
  const bounds = { now, itemsMax: turn.limits.turnWeightMax };
  for (const [number, asked] of share(queue, servable(turn, queue), offers, bounds)) {
    const { slot } = queue.place(number);
    const partition = memory.partition(slot);
    const taken = takeHead(turn, partition, wantedBy(asked));
    granted += taken.granted.length;
    shareOut(turn, partition, asked, taken);
    memory.updateLoad(partition);
    // The count of ready items was too high: skip the partition until a turn changes it.
    const isShort = taken.granted.length < asked.length && !taken.more;
    if (!isShort) continue;
    queue.balance.update(number, { ready: 0 });
    changeSet.touched.add(partition);
  }
  const served = new Set(changeSet.granted.slice(before).map(({ lease }) => lease));
  if (allowed - granted <= 0) {
    lines.rest(queue);
    return;
  }
  if (queue.balance.leaseFrom < 0) return;
  // After a grant the next turn may begin during the sync; otherwise it waits for the answers.
  const wanted = granted > 0 ? turn.limits.secondTurnWeightMin : 1;
  let left = 0;
  for (const lease of inTime(queue, turn.machineNow)) {
    if (!served.has(lease)) left += lease.request.batchSize;
    if (left >= wanted) break;
  }
  if (left > 0) lines.ready(queue, granted > 0 ? left : 0);
}
