// Reads of a single kind, for backups, proofs and tests, which read a store outside of turns.

import type { Item, OutboundItem, ScheduledItem } from "./item.ts";
import { noReads, type Read, type ReadLimit, type Some, type Span, type Store } from "./store.ts";

const name = "page";

export async function readItems(
  store: Store,
  span: Span,
  limit: ReadLimit,
): Promise<Some<Read<Item>>> {
  const { items } = await store.read({ ...noReads, items: [{ name, ...span, limit }] });
  return items.get(name) ?? none;
}

export async function readScheduled(
  store: Store,
  span: Span,
  limit: ReadLimit,
): Promise<Some<Read<ScheduledItem>>> {
  const { scheduled } = await store.read({ ...noReads, scheduled: [{ name, ...span, limit }] });
  return scheduled.get(name) ?? none;
}

export async function readOutbound(
  store: Store,
  targetShard: number,
  limit: ReadLimit,
): Promise<readonly Read<OutboundItem>[]> {
  const outbound = [{ targetShard, arrived: 0, limit }];
  return (await store.read({ ...noReads, outbound })).outbound.get(targetShard)?.found ?? [];
}

const none: Some<never> = { found: [], isAll: true };
