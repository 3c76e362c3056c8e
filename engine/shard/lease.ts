// Lease: the head of a partition is read once for all who ask, and dealt to them
// one item at a time.

import type { Item } from "../../stores/item.ts";
import type { LeasedItem } from "../api.ts";
import { formatId } from "../ids.ts";
import { hasExpired } from "../lifecycle.ts";
import { limits } from "../limits.ts";
import type { Of, TurnContext } from "./context.ts";
import { follow, hold, quarantine, remove } from "./moves.ts";
import type { Partition } from "./partition.ts";

/** All leases on one partition are served by one read of its head. */
export async function leaseAll(turn: TurnContext, requests: readonly Of<"lease">[]): Promise<void> {
  const bySlot = new Map<number, Of<"lease">[]>();
  for (const request of requests) {
    if (request.deadline <= turn.now) {
      turn.draft.succeed(request.op, { kind: "nothing" });
      continue;
    }
    const same = bySlot.get(request.slot);
    if (same === undefined) bySlot.set(request.slot, [request]);
    else same.push(request);
  }
  for (const [slot, same] of bySlot) {
    const partition = turn.memory.partition(slot);
    const wanted = same.reduce((sum, { batchSize }) => sum + batchSize, 0);
    deal(turn, partition, same, await takeHead(turn, partition, wanted));
  }
}

interface Granted {
  readonly item: Item;
  readonly leaseDeadline: number;
}

/** Leases up to `wanted` ready items from the head of the partition. */
async function takeHead(
  turn: TurnContext,
  partition: Partition,
  wanted: number,
): Promise<Granted[]> {
  const { store, draft, now } = turn;
  const { settings, slot, committedSeq } = partition;
  if (settings === null) return [];
  const leaseDeadline = now + settings.leaseTimeoutMs;
  const granted: Granted[] = [];
  let run: Item[] = [];
  const endRun = (): void => {
    if (run.length > 0) hold(turn, partition, run, leaseDeadline);
    run = [];
  };
  let payloadBytes = limits.turnBytesMax;
  // Items read and not granted (expired, damaged) are bounded too, so that a turn ends.
  let left = wanted + limits.sweepItemsMax;
  while (granted.length < wanted && payloadBytes > 0 && left > 0) {
    const limit = { items: wanted - granted.length, payloadBytes };
    const page = await store.items(slot, partition.head, committedSeq, limit);
    if (page.length === 0) break;
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
        run.push(item);
        granted.push({ item, leaseDeadline });
      }
    }
  }
  endRun();
  draft.itemCount += granted.length;
  return granted;
}

/** Deals items one at a time in order of arrival, until each client has its batch or none are left. */
function deal(
  turn: TurnContext,
  partition: Partition,
  requests: readonly Of<"lease">[],
  granted: readonly Granted[],
): void {
  const hands = requests.map((request) => ({
    request,
    items: [] as LeasedItem[],
    seqs: [] as number[],
  }));
  let next = 0;
  for (let open = hands; open.length > 0 && next < granted.length; ) {
    for (const hand of open) {
      const grant = granted[next];
      if (grant === undefined) break;
      next += 1;
      hand.items.push(leasedItem(partition, grant));
      hand.seqs.push(grant.item.seq);
    }
    open = open.filter((hand) => hand.items.length < hand.request.batchSize);
  }
  for (const { request, items, seqs } of hands) {
    if (items.length === 0) {
      turn.draft.succeed(request.op, { kind: "nothing" });
      continue;
    }
    turn.grants.set(request.op, seqs);
    turn.draft.succeed(request.op, {
      kind: "leased",
      count: items.length,
      items: turn.renderLeased(items),
    });
  }
}

function leasedItem(partition: Partition, { item, leaseDeadline }: Granted): LeasedItem {
  return {
    id: formatId(partition.idPrefix, item.seq),
    kind: item.kind,
    encoding: item.encoding,
    reference: item.reference,
    attempts: item.attempts + 1,
    leaseDeadline,
    payload: item.payload as Uint8Array,
  };
}
