// Lease: takes items from the head of a partition and distributes them over the waiting leases.

import type { Item } from "../../stores/item.ts";
import type { Span } from "../../stores/store.ts";
import type { LeasedItem } from "../model/api.ts";
import { assert } from "../model/assert.ts";
import { type Failure, leaseOver } from "../model/errors.ts";
import { type IdempotencyKey, keyTaken } from "../model/idempotency-key.ts";
import { expire, hasExpired, oneMore } from "../model/lifecycle.ts";
import { limits } from "../model/limits.ts";
import { carriedFields, rulesFor } from "../model/provenance.ts";
import type { Partition } from "../state/partition.ts";
import { payloadBytes } from "../state/payload.ts";
import type { LeaseGrant, LogicalQueue, WaitingLease } from "../state/queue.ts";
import { receiptFor, receiptOf } from "../turn/idempotency.ts";
import { hold, move, quarantine } from "../turn/item-transitions.ts";
import { heldAt } from "../turn/leased-items.ts";
import type { ReadPlanner, Turn } from "../turn/turn-context.ts";

export interface ServedLease {
  readonly lease: WaitingLease;
  readonly batchSize: number;
}

export function wantedBy(requests: readonly ServedLease[]): number {
  return requests.reduce((sum, { batchSize }) => sum + batchSize, 0);
}

interface TakenItems {
  readonly granted: readonly Item[];
  /** Indexes in `granted` at which an item does not follow its predecessor directly. */
  readonly gaps: ReadonlySet<number>;
  readonly more: boolean;
}

/** Takes up to `wanted` items, none that became ready after `readyUntil`. */
export function takeHead(
  turn: Turn,
  partition: Partition,
  { wanted, readyUntil }: Pick<Taking, "wanted" | "readyUntil">,
): TakenItems {
  const granted: Item[] = [];
  const gaps = new Set<number>();
  if (partition.settings === null) return { granted, gaps, more: false };
  const grant = (item: Item): void => void granted.push(item);
  const endRun = (): void => void gaps.add(granted.length);
  const how = { readyUntil, grant, endRun };
  let more = takeStored(turn, partition, { wanted, ...how });
  if (!more) more = takeNew(turn, partition, { wanted: wanted - granted.length, ...how });
  turn.changeSet.itemCount += granted.length;
  const last = granted.at(-1);
  if (last !== undefined) partition.readyMarks.observe(last.seq, last.queuedAt);
  return { granted, gaps, more };
}

interface Taking {
  readonly wanted: number;
  readonly readyUntil: number;
  readonly grant: (item: Item) => void;
  /** Called at a gap: only consecutive items can share a lease. */
  readonly endRun: () => void;
}

/** Takes items from the head that was read. Returns whether there may be more behind it. */
function takeStored(
  turn: Turn,
  partition: Partition,
  { wanted, readyUntil, grant, endRun }: Taking,
): boolean {
  const { slot, committedSeq } = partition;
  const head = turn.readResult.heads.get(slot);
  let left = wanted;
  turn.changeSet.movesHead(partition);
  partition.head = Math.max(partition.head, partition.firstFrom);
  for (const item of head?.found ?? []) {
    if (item.seq < partition.head) continue;
    if (left === 0 || (!item.damaged && item.queuedAt > readyUntil)) {
      if (!item.damaged) partition.readyMarks.observe(item.seq, item.queuedAt);
      return true;
    }
    const held = partition.held.get(item.seq);
    partition.head = item.seq + 1;
    if (held !== undefined) {
      endRun();
      partition.head = held.run.lease.last + 1;
    } else if (turn.changeSet.hasLeft(slot, item.seq)) {
      // The sweep of this turn has expired it.
    } else if (item.damaged) {
      quarantine(turn, partition, item);
    } else if (hasExpired(item, turn.now)) {
      move(turn, partition, item, { fate: expire(item), what: "expired" });
    } else {
      grant(item);
      left -= 1;
    }
  }
  if (head?.isAll === true) partition.head = Math.max(partition.head, committedSeq);
  return partition.head < committedSeq;
}

/** Takes items that this turn has written, so that waiting leases are served by the same sync. */
function takeNew(
  turn: Turn,
  partition: Partition,
  { wanted, readyUntil, grant, endRun }: Taking,
): boolean {
  let left = wanted;
  let payloadBytes = turn.limits.turnBytesMax;
  // The payload of an item that was moved here is only in the store; the next turn can read it.
  const movedFrom = turn.changeSet.movedInto(partition.slot);
  for (const item of turn.changeSet.insertedInto(partition.slot)) {
    if (item.seq < partition.head) continue;
    if (left <= 0 || payloadBytes <= 0 || item.seq > movedFrom) return true;
    if (item.queuedAt > readyUntil || hasExpired(item, turn.now)) return true;
    partition.head = item.seq + 1;
    if (partition.held.has(item.seq)) {
      endRun();
      continue;
    }
    payloadBytes -= item.payload.length;
    grant(item);
    left -= 1;
  }
  return movedFrom < Number.POSITIVE_INFINITY;
}

/**
 * Divides the items round-robin by arrival, until each client has its batch or no item is left.
 * Each client then gets consecutive items, which are cheaper to complete.
 */
export function shareOut(
  turn: Turn,
  partition: Partition,
  requests: readonly ServedLease[],
  { granted, gaps }: TakenItems,
): void {
  let start = 0;
  const holding = new LeaseWriter(turn, partition);
  for (const [index, count] of shares(requests, granted.length).entries()) {
    if (count === 0) continue;
    const { lease } = requests[index] as ServedLease;
    const from = start;
    start += count;
    holding.give(lease, granted.slice(from, start), (at) => gaps.has(from + at));
  }
  holding.end();
}

function grantOf(
  { memory, renderLeased }: Turn,
  slot: number,
  items: readonly LeasedItem[],
  replayed = false,
): LeaseGrant {
  const partition = memory.rules.ownerAt(slot)?.partition ?? 0;
  return { partition, items: renderLeased(items), count: items.length, replayed };
}

/** The first and last number of each run of consecutive numbers. */
function rangesOf(seqs: readonly number[]): number[] {
  const ranges: number[] = [];
  for (const seq of seqs) {
    if (ranges.at(-1) === seq - 1) ranges[ranges.length - 1] = seq;
    else ranges.push(seq, seq);
  }
  return ranges;
}

function spansOf([slot = 0, ...ranges]: readonly number[]): Span[] {
  return ranges.flatMap((last, index) =>
    index % 2 === 0 ? [] : [{ slot, from: ranges[index - 1] as number, before: last + 1 }],
  );
}

const grantPage = ({ digest }: IdempotencyKey, { from }: Span): string => `grant ${digest} ${from}`;

function holdsAny(held: ReadonlyMap<number, unknown>, { from, before }: Span): boolean {
  for (let seq = from; seq < before; seq += 1) if (held.has(seq)) return true;
  return false;
}

/** Reads the items of a grant that are still leased. A sequence number is leased only once. */
export function planGrant(
  planner: ReadPlanner,
  key: IdempotencyKey,
  values: readonly number[],
): void {
  for (const span of spansOf(values)) {
    const { slot, from, before } = span;
    const { held } = planner.memory.partition(slot);
    const limit = { items: before - from, payloadBytes: Number.POSITIVE_INFINITY };
    if (holdsAny(held, span)) planner.items.push({ name: grantPage(key, span), ...span, limit });
  }
}

/** Repeats the answer of a lease whose key was granted before; otherwise it waits as a new one. */
export function grantAgain(turn: Turn, lease: WaitingLease): void {
  const { key } = lease;
  const receipt = key && receiptOf(turn, key);
  if (key === undefined || !receipt?.values) {
    turn.lines.isNew(lease);
    return;
  }
  const [slot = 0] = receipt.values;
  const isSame = receipt.fingerprint === key.fingerprint;
  const outcome = isSame ? stillHeld(turn, lease.queue, key, receipt.values) : keyTaken(key);
  turn.changeSet.granted.push({ lease, outcome, slot, seqs: [] });
}

/** The items that are still leased, with their present deadlines. */
function stillHeld(
  turn: Turn,
  queue: LogicalQueue,
  key: IdempotencyKey,
  values: readonly number[],
): LeaseGrant | Failure {
  const [slot = 0] = values;
  const partition = turn.memory.partition(slot);
  const items: LeasedItem[] = [];
  for (const span of spansOf(values)) {
    for (const item of turn.readResult.items.get(grantPage(key, span))?.found ?? []) {
      const held = heldAt(turn, partition, item.seq);
      if (held === undefined || item.damaged) continue;
      items.push(leasedItem(partition, item, held.run.lease.leaseDeadline));
    }
  }
  // The partition may be deleted, and another queue may use its slot.
  const isThere = turn.memory.rules.ownerAt(slot)?.queue === queue;
  return items.length > 0 && isThere ? grantOf(turn, slot, items, true) : leaseOver;
}

/** Builds leases: consecutive items with the same deadline share one, even across clients. */
export class LeaseWriter {
  readonly #turn: Turn;
  readonly #partition: Partition;
  #items: Item[] = [];
  #holders: string[] = [];
  #leaseDeadline = 0;

  constructor(turn: Turn, partition: Partition) {
    this.#turn = turn;
    this.#partition = partition;
  }

  /** Grants a lease these items, at least one. `isGap`: an item does not follow the one before. */
  give(lease: WaitingLease, items: readonly Item[], isGap: (at: number) => boolean): void {
    const turn = this.#turn;
    const partition = this.#partition;
    const { settings } = partition;
    assert(settings !== null, "items of a queue that is gone were to be leased");
    const { clientId, leaseTimeoutMs } = lease.request;
    const client = clientId.slice(0, limits.holderNameMax);
    const leased = items.map((item, at) => {
      if (isGap(at)) this.end();
      const ms = leaseTimeoutMs ?? rulesFor(item.past, settings).leaseTimeoutMs;
      const leaseDeadline = turn.now + ms;
      this.#take(item, { leaseDeadline, client });
      return leasedItem(partition, item, leaseDeadline);
    });
    const seqs = items.map(({ seq }) => seq);
    const { slot } = partition;
    const { changeSet } = turn;
    if (lease.key !== undefined) {
      changeSet.receipts.set(lease.key.digest, receiptFor(lease.key, [slot, ...rangesOf(seqs)]));
    }
    changeSet.granted.push({ lease, outcome: grantOf(turn, slot, leased), slot, seqs });
  }

  #take(
    item: Item,
    { leaseDeadline, client }: { readonly leaseDeadline: number; readonly client: string },
  ): void {
    if (leaseDeadline !== this.#leaseDeadline) this.end();
    this.#leaseDeadline = leaseDeadline;
    this.#items.push(item);
    this.#holders.push(client);
  }

  end(): void {
    if (this.#items.length === 0) return;
    const how = { leaseDeadline: this.#leaseDeadline, holders: this.#holders };
    hold(this.#turn, this.#partition, this.#items, how);
    const { slot } = this.#partition;
    countLeased(this.#turn, slot, this.#items);
    const { history } = this.#turn.changeSet;
    const { holders } = how;
    history?.addEach({ slot, what: "leased" }, this.#items, (index) => holders[index] ?? "");
    this.#items = [];
    this.#holders = [];
  }
}

/** Items of one turn have the same `queuedAt`, so one call per run of equal times is enough. */
function countLeased({ changeSet, now }: Turn, slot: number, items: readonly Item[]): void {
  changeSet.count(slot, "leased", items.length);
  let first = 0;
  for (let index = 1; index <= items.length; index += 1) {
    const queuedAt = items[first]?.queuedAt ?? 0;
    if (items[index]?.queuedAt === queuedAt) continue;
    changeSet.waited(slot, now - queuedAt, index - first);
    first = index;
  }
}

/** How many of `count` items each request gets. */
export function shares(requests: readonly ServedLease[], count: number): number[] {
  if (wantedBy(requests) <= count) return requests.map(({ batchSize }) => batchSize);
  const given = requests.map(() => 0);
  let left = count;
  for (let served = true; left > 0 && served; ) {
    served = false;
    for (const [index, { batchSize }] of requests.entries()) {
      const has = given[index] as number;
      if (left === 0 || has >= batchSize) continue;
      given[index] = has + 1;
      left -= 1;
      served = true;
    }
  }
  return given;
}

function leasedItem(partition: Partition, item: Item, leaseDeadline: number): LeasedItem {
  const leased = {
    id: partition.idOf(item.seq),
    kind: item.kind,
    encoding: item.encoding,
    reference: item.reference,
    priority: partition.priority,
    attempts: oneMore(item.attempts),
    leaseDeadline,
    payload: payloadBytes(item),
  };
  return item.headers === "" && item.past === "" ? leased : { ...leased, ...carriedFields(item) };
}
