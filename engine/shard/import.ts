// Import: stored items of elsewhere keep their lease, attempts and deadlines, and get new ids.

import type { ImportItem } from "../api.ts";
import { deletedFailure, restartedFailure } from "../errors.ts";
import { expireDeadlineOf } from "../lifecycle.ts";
import type { ListedItem, PartitionSettings } from "../messages.ts";
import { answering, type Kind, type Numbered, type Result } from "./kind.ts";
import { listed } from "./list.ts";
import { append, hold, schedule, type Unplaced } from "./moves.ts";
import type { Partition } from "./partition.ts";
import { decodePayload, encodePayload } from "./payload-text.ts";
import type { Turn } from "./turn-context.ts";

/** It is leased where it has a `leaseDeadline`. */
export type NewImport = Required<Omit<ImportItem, "isLeased">>;

export interface Import {
  readonly kind: "import";
  readonly slot: number;
  readonly items: readonly NewImport[];
}

export const importItems: Kind<Import> = {
  phase: "within",
  weight: ({ items }) => items.length,
  adds: true,
  lost: () => restartedFailure,
  wants(asking, requests) {
    for (const { slot, items } of requests) asking.source(slot, sourceIdsOf(items));
  },
  decide: answering(importOne),
  encode: (request) => ({ ...request, items: request.items.map(encodePayload) }),
  decode: (request) => ({ ...request, items: request.items.map(decodePayload) }),
};

function sourceIdsOf(items: readonly { readonly sourceId: string }[]): string[] {
  return items.flatMap(({ sourceId }) => (sourceId === "" ? [] : [sourceId]));
}

function importOne(turn: Turn, { slot, items }: Numbered<Import>): Result {
  const { memory, draft, facts } = turn;
  const partition = memory.partition(slot);
  const { settings } = partition;
  if (settings === null) return deletedFailure;
  const known = new Set(facts.sources.get(slot));
  for (const id of sourceIdsOf(draft.insertedInto(slot))) known.add(id);
  for (const id of sourceIdsOf(draft.schedule.filter((item) => item.slot === slot))) known.add(id);
  const stored: ListedItem[] = [];
  for (const item of items) {
    if (known.has(item.sourceId)) continue;
    if (item.sourceId !== "") known.add(item.sourceId);
    stored.push(importItem(turn, { partition, settings }, item));
  }
  return { ok: true, value: { kind: "items", items: stored } };
}

function importItem(
  turn: Turn,
  { partition, settings }: { readonly partition: Partition; readonly settings: PartitionSettings },
  item: NewImport,
): ListedItem {
  const { now, stamp } = turn;
  const { enqueueAt, leaseDeadline, kind, encoding, reference, sourceId, payload } = item;
  const texts = { kind, encoding, reference, sourceId, payload };
  const isLater = enqueueAt !== null && enqueueAt > now && leaseDeadline === null;
  const dueAt = isLater ? enqueueAt : null;
  const unplaced: Unplaced = {
    createdAt: item.createdAt ?? stamp,
    expireDeadline: item.expireDeadline ?? expireDeadlineOf(settings, dueAt ?? now),
    // A running lease is an attempt of its own, which its item's count leaves out.
    attempts: leaseDeadline === null ? item.attempts : Math.max(0, item.attempts - 1),
    ...texts,
  };
  if (dueAt !== null) {
    const placed = schedule(turn, partition, unplaced, { dueAt, retried: false });
    return listed(partition, placed, { dueAt });
  }
  const placed = append(turn, partition, unplaced);
  if (leaseDeadline === null) return listed(partition, placed, {});
  return listed(partition, placed, hold(turn, partition, [placed], leaseDeadline).lease);
}
