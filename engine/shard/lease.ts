// Lease: the head of a partition is read once for all who ask, and shared out
// among them.

import type { Item } from "../../stores/item.ts";
import type { Read } from "../../stores/store.ts";
import type { LeasedItem } from "../api.ts";
import { formatId } from "../ids.ts";
import { hasExpired } from "../lifecycle.ts";
import { limits } from "../limits.ts";
import { fullFailure, type Of, type TurnContext } from "./context.ts";
import { follow, hold, quarantine, remove } from "./moves.ts";
import type { Partition } from "./partition.ts";

/** All leases on one partition are served by one read of its head. */
export async function leaseAll(turn: TurnContext, requests: readonly Of<"lease">[]): Promise<void> {
  const bySlot = new Map<number, Of<"lease">[]>();
  for (const request of requests) {
    if (request.deadline <= turn.now) {
      turn.draft.succeed(request.op, { kind: "nothing", more: true });
      continue;
    }
    const same = bySlot.get(request.slot);
    if (same === undefined) bySlot.set(request.slot, [request]);
    else same.push(request);
  }
  const heads = await readHeads(turn, [...bySlot.keys()]);
  for (const [slot, same] of bySlot) {
    const partition = turn.memory.partition(slot);
    const { settings } = partition;
    const wanted = same.reduce((sum, { batchSize }) => sum + batchSize, 0);
    const leaseDeadline = turn.now + (settings?.leaseTimeoutMs ?? 0);
    const taken =
      settings === null
        ? { granted: [], more: false }
        : await takeHead(turn, partition, { wanted, leaseDeadline, begun: heads.get(slot) });
    shareOut(turn, partition, same, { ...taken, leaseDeadline });
  }
}

interface Taken {
  readonly granted: readonly Item[];
  /** Whether not all of the partition was looked at. */
  readonly more: boolean;
}

/** Heads of one read: they are in memory at once, and an item may be large. */
const headsMax = 32;

/** The first items of several partitions, by slot, in one read; of a single one, none. */
async function readHeads(
  { memory, store }: TurnContext,
  slots: readonly number[],
): Promise<Map<number, Read<Item>[]>> {
  if (slots.length < 2) return new Map();
  const spans = slots.slice(0, headsMax).map((slot) => {
    const { head, committedSeq } = memory.partition(slot);
    return { slot, from: head, before: committedSeq };
  });
  return store.heads(spans.filter(({ from, before }) => from < before));
}

interface Wish {
  readonly wanted: number;
  readonly leaseDeadline: number;
  /** Items of the head that were read already. */
  readonly begun: readonly Read<Item>[] | undefined;
}

/** Leases up to `wanted` ready items from the head of the partition. */
async function takeHead(
  turn: TurnContext,
  partition: Partition,
  { wanted, leaseDeadline, begun }: Wish,
): Promise<Taken> {
  const { store, draft, now } = turn;
  const { slot, committedSeq } = partition;
  const granted: Item[] = [];
  let run: Item[] = [];
  const grant = (item: Item): void => {
    run.push(item);
    granted.push(item);
  };
  const endRun = (): void => {
    if (run.length > 0) hold(turn, partition, run, leaseDeadline);
    run = [];
  };
  let payloadBytes = limits.turnBytesMax;
  // Items read and not granted (expired, damaged) are bounded too, so that a turn ends.
  let left = wanted + limits.sweepItemsMax;
  let unused = begun?.slice(0, wanted);
  while (partition.head < committedSeq && granted.length < wanted && payloadBytes > 0 && left > 0) {
    const limit = { items: wanted - granted.length, payloadBytes };
    const page = unused ?? (await store.items(slot, partition.head, committedSeq, limit));
    unused = undefined;
    if (page.length === 0) partition.head = committedSeq;
    for (const item of page) {
      left -= 1;
      payloadBytes -= item.payload.length;
      const held = partition.held.get(item.seq);
      partition.head = item.seq + 1;
      if (held !== undefined) {
        endRun();
        partition.head = held.run.lease.last + 1;
        break;
      }
      if (draft.removed.has(slot, item.seq)) continue;
      if (item.damaged) {
        quarantine(turn, partition, item.seq);
      } else if (hasExpired(item, now)) {
        remove(turn, partition, item);
        follow(turn, partition, item, { to: "dead", death: "expired" });
      } else {
        grant(item);
      }
    }
  }
  let more = partition.head < committedSeq;
  if (!more) {
    // What this turn has written itself: who waited for it is served with the same sync.
    for (const item of draft.insert) {
      if (item.slot !== slot || item.seq < partition.head) continue;
      more = granted.length >= wanted || payloadBytes <= 0 || hasExpired(item, now);
      if (more) break;
      partition.head = item.seq + 1;
      if (partition.held.has(item.seq)) {
        endRun();
        continue;
      }
      payloadBytes -= item.payload.length;
      grant(item);
    }
  }
  endRun();
  draft.itemCount += granted.length;
  return { granted, more };
}

/**
 * As if dealt one item at a time in order of arrival, until each client has its
 * batch or none are left; but each gets neighbours, which are cheaper to complete.
 */
function shareOut(
  turn: TurnContext,
  partition: Partition,
  requests: readonly Of<"lease">[],
  { granted, more, leaseDeadline }: Taken & { readonly leaseDeadline: number },
): void {
  let start = 0;
  for (const [index, count] of shares(requests, granted.length).entries()) {
    const { op } = requests[index] as Of<"lease">;
    if (count === 0 && more && turn.full) {
      // It would come back for the same end, as long as what it takes cannot be written.
      turn.draft.fail(op, fullFailure);
      continue;
    }
    if (count === 0) {
      turn.draft.succeed(op, { kind: "nothing", more });
      continue;
    }
    const items = granted.slice(start, start + count);
    start += count;
    const seqs = items.map(({ seq }) => seq);
    turn.grants.set(op, seqs);
    turn.draft.succeed(op, {
      kind: "leased",
      count,
      items: turn.renderLeased(items.map((item) => leasedItem(partition, item, leaseDeadline))),
    });
  }
}

/** How many of `count` items each request gets. */
function shares(requests: readonly Of<"lease">[], count: number): number[] {
  const wanted = requests.map(({ batchSize }) => batchSize);
  if (wanted.reduce((sum, batchSize) => sum + batchSize, 0) <= count) return wanted;
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

const utf8 = new TextEncoder();

function leasedItem(partition: Partition, item: Item, leaseDeadline: number): LeasedItem {
  const { payload } = item;
  return {
    id: formatId(partition.idPrefix, item.seq),
    kind: item.kind,
    encoding: item.encoding,
    reference: item.reference,
    attempts: item.attempts + 1,
    leaseDeadline,
    payload: typeof payload === "string" ? utf8.encode(payload) : payload,
  };
}
