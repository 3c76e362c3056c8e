// Sweep: all that is due by the clock. Leases lapse, scheduled items become ready, and waiting
// items expire. A turn sweeps a bounded number, so that a million due items do not delay requests.

import { type Item, wakeAt } from "../../stores/item.ts";
import type { Read } from "../../stores/store.ts";
import { expire, hasExpired, lapse, wake } from "../model/lifecycle.ts";
import { limits, type TurnLimits } from "../model/limits.ts";
import { rulesFor } from "../model/provenance.ts";
import type { Memory } from "../state/memory.ts";
import type { LeaseRange, Partition } from "../state/partition.ts";
import { forgetEnded, planEnded } from "../state/unique.ts";
import { forgetReceipts, nextForget } from "./idempotency.ts";
import { endLease, move, moveScheduled, quarantine, remove } from "./item-transitions.ts";
import type { ReadPlanner, Turn } from "./turn-context.ts";

/** Partitions whose heads one turn searches. At least one item of each is read, of any size. */
const expiringMax = 16;
/** Items to read per head. Mostly the first one is enough; if not, many have expired. */
const headItems = 1;
const headItemsMore = 64;

/** The instant at which the next sweep is due. */
function nextSweep(memory: Memory, bounds: TurnLimits): number {
  if (memory.expiring.size > 0) return 0;
  return Math.min(
    memory.runs.peek()?.lease.leaseDeadline ?? Number.POSITIVE_INFINITY,
    memory.floors.peek()?.floor ?? Number.POSITIVE_INFINITY,
    memory.earlyFloor,
    memory.wakeFloor,
    memory.uniqueFloor,
    nextForget(memory, bounds),
  );
}

/** The instant at which a turn is due without any request. */
export function nextDue(memory: Memory, bounds: TurnLimits, now: number): number {
  const { clearing, recounting } = memory;
  return clearing.size + recounting.size > 0 ? now : nextSweep(memory, bounds);
}

export function planSweep(planner: ReadPlanner): void {
  const { memory, now, limits } = planner;
  const items = limits.sweepItemsMax;
  if (memory.wakeFloor <= now) planner.waking = { until: now, items };
  if (memory.earlyFloor <= now) planner.early = { after: memory.earlyAfter, until: now, items };
  planEnded(planner);
  gatherExpiring(memory, now);
  const payloadBytes = Math.ceil(limits.turnBytesMax / memory.expiring.size);
  for (const partition of memory.expiring) {
    const { slot, committedSeq } = partition;
    const limit = { items: partition.hasMoreExpired ? headItemsMore : headItems, payloadBytes };
    const span = { slot, from: expireFrom(partition), before: committedSeq };
    planner.items.push({ name: `expiring ${slot}`, ...span, limit });
  }
}

function gatherExpiring(memory: Memory, now: number): void {
  while (memory.expiring.size < expiringMax) {
    const next = memory.floors.peek();
    if (next === undefined || next.floor > now) return;
    memory.floors.pop();
    memory.expiring.add(next.partition);
  }
}

function expireFrom(partition: Partition): number {
  return Math.max(partition.expireFrom, partition.clearReadyBelow);
}

/** The items and bytes that the sweep of one turn may still move. */
class Budget {
  #items: number;
  #payloadBytes: number;

  constructor({ sweepItemsMax, turnBytesMax }: Turn["limits"]) {
    this.#items = sweepItemsMax;
    this.#payloadBytes = turnBytesMax;
  }

  get isSpent(): boolean {
    return this.#items <= 0 || this.#payloadBytes <= 0;
  }

  spend(payloadBytes: number): void {
    this.#items -= 1;
    this.#payloadBytes -= payloadBytes;
  }
}

/** Moves up to `sweepItemsMax` due items. */
export function sweep(turn: Turn): void {
  const budget = new Budget(turn.limits);
  // Update the floors first: later moves of this turn lower them again.
  noteFloors(turn);
  for (const lease of turn.memory.emptied.splice(0)) turn.changeSet.unlease(lease);
  forgetReceipts(turn, limits.receiptsForgottenMax);
  forgetEnded(turn);
  lapseLeases(turn, budget);
  wakeScheduled(turn, budget);
  expireEarly(turn, budget);
  expireHeads(turn, budget);
}

/** Takes the new floors from the reads of this turn. */
function noteFloors({ memory, readResult, now }: Turn): void {
  if (memory.wakeFloor <= now)
    memory.wakeFloor = readResult.waking.next ?? Number.POSITIVE_INFINITY;
  if (memory.earlyFloor > now) return;
  const last = readResult.early.found.at(-1);
  const next = readResult.early.next ?? Number.POSITIVE_INFINITY;
  memory.earlyFloor = next;
  memory.scannedEarly(next <= now && last !== undefined ? last : null);
}

function lapseLeases(turn: Turn, budget: Budget): void {
  const { memory, now } = turn;
  while (!budget.isSpent) {
    const run = memory.runs.peek();
    if (run === undefined || run.lease.leaseDeadline > now) return;
    lapseRun(turn, run, budget);
  }
}

/** Lapses a run as far as the budget allows; the next turn continues. */
function lapseRun(turn: Turn, run: LeaseRange, budget: Budget): void {
  const partition = turn.memory.partition(run.lease.slot);
  while (run.next < run.seqs.length && !budget.isSpent) {
    const seq = run.seqs[run.next] as number;
    run.next += 1;
    const held = partition.held.get(seq);
    if (held?.run !== run) continue;
    endLease(turn, partition, seq, held);
    budget.spend(run.payloadBytesMean);
    turn.changeSet.count(partition.slot, "lapsed");
    turn.changeSet.lapsedOf(partition.slot, held.holder);
    const item = { ...held, seq };
    if (partition.settings === null) {
      remove(turn, partition, item);
      turn.changeSet.history?.add({ slot: partition.slot, seq, what: "removed", by: "" });
    } else {
      const fate = lapse(item, rulesFor(item.past, partition.settings), turn.now);
      move(turn, partition, item, { fate, what: "lapsed" });
    }
  }
}

function wakeScheduled(turn: Turn, budget: Budget): void {
  const { memory, readResult, now } = turn;
  for (const item of readResult.waking.found) {
    if (budget.isSpent) {
      memory.wakeFloor = Math.min(memory.wakeFloor, wakeAt(item));
      return;
    }
    const partition = memory.partition(item.slot);
    budget.spend(item.payloadBytes);
    if (partition.isCleared(item)) continue;
    const fate = wake(item, now);
    const what = fate.to === "dead" ? "expired" : "due";
    moveScheduled(turn, partition, item, { fate, what });
  }
}

/** Skips leased items: they are checked when their lease ends. */
function expireEarly(turn: Turn, budget: Budget): void {
  const { memory, changeSet, readResult } = turn;
  for (const item of readResult.early.found) {
    const { slot, seq, expireDeadline } = item;
    const partition = memory.partition(slot);
    if (partition.held.has(seq) || seq < partition.clearReadyBelow) continue;
    if (changeSet.hasLeft(slot, seq)) continue;
    if (budget.isSpent) {
      memory.addEarly(expireDeadline);
      return;
    }
    move(turn, partition, item, { fate: expire(item), what: "expired" });
    budget.spend(item.payloadBytes);
  }
}

/** Items that are not early expire in queue order, so the first of them expires first. */
function expireHeads(turn: Turn, budget: Budget): void {
  const { memory } = turn;
  for (const partition of [...memory.expiring]) {
    const floor = expireHead(turn, partition, budget);
    partition.hasMoreExpired = floor === null;
    if (floor === null) continue;
    memory.expiring.delete(partition);
    partition.expireFloor = floor;
    if (floor < Number.POSITIVE_INFINITY) memory.floors.push({ floor, partition });
  }
}

/** The new floor of the partition; `null` if the next turn has to read more of its head. */
function expireHead(turn: Turn, partition: Partition, budget: Budget): number | null {
  const { slot } = partition;
  const page = turn.readResult.items.get(`expiring ${slot}`);
  if (page === undefined) return null;
  partition.expireFrom = expireFrom(partition);
  for (const item of page.found) {
    if (item.seq < partition.expireFrom) continue;
    const held = partition.held.get(item.seq);
    const isHere = held === undefined && !turn.changeSet.hasLeft(slot, item.seq);
    if (isHere && !item.damaged && !item.early && !hasExpired(item, turn.now)) {
      recordReady(turn, partition, item);
      return item.expireDeadline;
    }
    if (isHere && (item.damaged || !item.early)) {
      if (budget.isSpent) return null;
      expireOrSetAside(turn, partition, item);
      budget.spend(item.payload.length);
    }
    partition.expireFrom = held === undefined ? item.seq + 1 : held.run.lease.last + 1;
  }
  if (!page.isAll) return null;
  // The page does not contain items that this turn has written.
  return partition.nextSeq > partition.committedSeq ? turn.now : Number.POSITIVE_INFINITY;
}

/** Records a ready item that was read anyway; after a start this sets `oldestReadyAt`. */
function recordReady({ changeSet }: Turn, partition: Partition, { seq, queuedAt }: Item): void {
  if (partition.readyMarks.isUnknown) changeSet.touched.add(partition);
  partition.readyMarks.observe(seq, queuedAt);
}

function expireOrSetAside(turn: Turn, partition: Partition, item: Read<Item>): void {
  if (item.damaged) quarantine(turn, partition, item);
  else move(turn, partition, item, { fate: expire(item), what: "expired" });
}
