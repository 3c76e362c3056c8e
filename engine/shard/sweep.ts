// What the clock makes happen: leases lapse, scheduled items wake, waiting items
// expire. Bounded per turn, so that a million of them keep nobody waiting.

import { type Item, wakeAt } from "../../stores/item.ts";
import type { EarlyRef, Read, Store } from "../../stores/store.ts";
import { assert } from "../assert.ts";
import { hasExpired, lapse, wake } from "../lifecycle.ts";
import { limits } from "../limits.ts";
import type { Memory } from "./memory.ts";
import { follow, letGo, quarantine, remove, type Scene, unschedule } from "./moves.ts";
import type { Partition, Run } from "./partition.ts";

/** References to early items read at a time. */
const earlyPage = 256;
/** An imported item may have expired before 1970, which is below 0. */
const beforeAll: EarlyRef = { expireDeadline: Number.MIN_SAFE_INTEGER, slot: 0, seq: 0 };

/** The instant at which the next sweep has something to do. */
export function nextSweep(memory: Memory): number {
  dropEmptyRuns(memory);
  return Math.min(
    memory.runs.peek()?.lease.leaseDeadline ?? Number.POSITIVE_INFINITY,
    memory.floors.peek()?.floor ?? Number.POSITIVE_INFINITY,
    memory.earlyFloor,
    memory.wakeFloor,
  );
}

/** Moves up to `limits.sweepItemsMax` items whose instant has come. */
export async function sweep(scene: Scene, store: Store): Promise<void> {
  const budget = { left: limits.sweepItemsMax };
  endEmptied(scene);
  await lapseLeases(scene, store, budget);
  await wakeScheduled(scene, store, budget);
  await expireEarly(scene, store, budget);
  await expireHeads(scene, store, budget);
}

interface Budget {
  left: number;
}

function dropEmptyRuns(memory: Memory): void {
  while (memory.runs.peek()?.heldCount === 0) memory.runs.pop();
}

function endEmptied({ memory, draft }: Scene): void {
  for (const lease of memory.emptied.splice(0)) draft.unlease.push(lease);
}

function pieceOf(budget: Budget): { items: number; payloadBytes: number } {
  return { items: budget.left, payloadBytes: limits.turnBytesMax };
}

async function lapseLeases(scene: Scene, store: Store, budget: Budget): Promise<void> {
  const { memory, now } = scene;
  while (budget.left > 0) {
    dropEmptyRuns(memory);
    const run = memory.runs.peek();
    if (run === undefined || run.lease.leaseDeadline > now) return;
    const finished = await lapseRun(scene, store, run, budget);
    if (!finished) return;
  }
}

/** Whether the whole run has lapsed; the rest of a long one waits for the next turn. */
async function lapseRun(scene: Scene, store: Store, run: Run, budget: Budget): Promise<boolean> {
  const { slot, first, last } = run.lease;
  const partition = scene.memory.partition(slot);
  const items = await store.items(slot, first, last + 1, pieceOf(budget));
  for (const item of items) {
    const held = partition.held.get(item.seq);
    if (held?.run !== run) continue;
    letGo(scene, partition, item.seq, held);
    budget.left -= 1;
    if (item.damaged) {
      quarantine(scene, partition, item.seq);
      continue;
    }
    scene.draft.event(slot, "lapsed");
    remove(scene, partition, item);
    if (partition.settings !== null) {
      follow(scene, partition, item, lapse(item, partition.settings, scene.now));
    }
  }
  if (run.heldCount === 0) return true;
  assert(items.length > 0, "an item that is held is not in the store");
  return false;
}

async function wakeScheduled(scene: Scene, store: Store, budget: Budget): Promise<void> {
  const { memory, now } = scene;
  if (memory.wakeFloor > now || budget.left <= 0) return;
  const items = await store.waking(now, pieceOf(budget));
  if (items.length === 0) {
    const waiting = scene.draft.schedule.map(wakeAt);
    const next = (await store.nextWake()) ?? Number.POSITIVE_INFINITY;
    memory.wakeFloor = Math.min(next, ...waiting);
    return;
  }
  for (const item of items) {
    const partition = memory.partition(item.slot);
    budget.left -= 1;
    if (item.damaged) {
      unschedule(scene, partition, item);
      scene.draft.quarantined.add(item.slot, item.seq);
      scene.draft.quarantinedCount += 1;
      continue;
    }
    unschedule(scene, partition, item);
    const clearedBelow = item.retried ? partition.clearRetriedBelow : partition.clearScheduledBelow;
    if (item.seq >= clearedBelow) follow(scene, partition, item, wake(item, now));
  }
}

/** Early items are found by the store's index; held ones among them come round when their lease ends. */
async function expireEarly(scene: Scene, store: Store, budget: Budget): Promise<void> {
  const { memory, draft, now } = scene;
  if (memory.earlyFloor > now) return;
  let after = beforeAll;
  let moved = false;
  while (budget.left > 0) {
    const refs = await store.early(after, earlyPage);
    for (const ref of refs) {
      if (ref.expireDeadline > now) {
        if (!moved) memory.earlyFloor = Math.min(ref.expireDeadline, earliestNew(scene));
        return;
      }
      const partition = memory.partition(ref.slot);
      if (partition.held.has(ref.seq) || ref.seq < partition.clearReadyBelow) continue;
      if (draft.removed.has(ref.slot, ref.seq)) continue;
      const [item] = await store.items(ref.slot, ref.seq, ref.seq + 1, pieceOf(budget));
      if (item === undefined) continue;
      expire(scene, partition, item);
      moved = true;
      budget.left -= 1;
      if (budget.left === 0) return;
    }
    const last = refs.at(-1);
    if (last === undefined || refs.length < earlyPage) {
      if (!moved) memory.earlyFloor = earliestNew(scene);
      return;
    }
    after = last;
  }
}

/** The store does not know yet what this turn has written. */
function earliestNew({ draft }: Scene): number {
  let earliest = Number.POSITIVE_INFINITY;
  for (const item of draft.insert) {
    if (item.early) earliest = Math.min(earliest, item.expireDeadline);
  }
  return earliest;
}

/** Items that are not early expire in queue order, so the first of them is the next. */
async function expireHeads(scene: Scene, store: Store, budget: Budget): Promise<void> {
  const { memory, now } = scene;
  while (budget.left > 0) {
    const next = memory.floors.peek();
    if (next === undefined || next.floor > now) return;
    memory.floors.pop();
    if (next.floor !== next.partition.expireFloor) continue;
    const floor = await expireHead(scene, store, next.partition, budget);
    next.partition.expireFloor = floor;
    if (floor < Number.POSITIVE_INFINITY) memory.floors.push({ floor, partition: next.partition });
    if (floor <= now) return;
  }
}

/** The partition's new floor; at most `now` when there is more to do in the next turn. */
async function expireHead(
  scene: Scene,
  store: Store,
  partition: Partition,
  budget: Budget,
): Promise<number> {
  partition.expireFrom = Math.max(partition.expireFrom, partition.clearReadyBelow);
  // Most of the time the first item is the answer, so only that is read at first.
  let items = 1;
  while (budget.left > 0) {
    const { expireFrom, committedSeq, slot } = partition;
    const limit = { items, payloadBytes: limits.turnBytesMax };
    const page = await store.items(slot, expireFrom, committedSeq, limit);
    if (page.length === 0) {
      return partition.nextSeq > committedSeq ? scene.now : Number.POSITIVE_INFINITY;
    }
    for (const item of page) {
      const held = partition.held.get(item.seq);
      if (held === undefined && !scene.draft.removed.has(slot, item.seq)) {
        if (!item.damaged && !item.early && !hasExpired(item, scene.now))
          return item.expireDeadline;
        if (item.damaged || !item.early) {
          expire(scene, partition, item);
          budget.left -= 1;
        }
      }
      partition.expireFrom = item.seq + 1;
      if (held !== undefined) {
        partition.expireFrom = held.run.lease.last + 1;
        break;
      }
    }
    items = Math.min(64, limits.sweepItemsMax);
  }
  return scene.now;
}

function expire(scene: Scene, partition: Partition, item: Read<Item>): void {
  if (item.damaged) {
    quarantine(scene, partition, item.seq);
    return;
  }
  remove(scene, partition, item);
  follow(scene, partition, item, { to: "dead", death: "expired" });
}
