// Import: items from another server keep their lease, attempts and deadlines, and get new ids.

import { deletedFailure, drainingFailure } from "../model/errors.ts";
import type { IdempotencyKey } from "../model/idempotency-key.ts";
import { expireDeadlineOf } from "../model/lifecycle.ts";
import type { ListedItem, NewImport, PartitionSettings, Result } from "../model/messages.ts";
import { slotFor } from "../model/priority.ts";
import type { Partition } from "../state/partition.ts";
import { append, hold, holdInGroup, schedule, type Unplaced } from "../turn/item-transitions.ts";
import type { Turn } from "../turn/turn-context.ts";
import { FirstSeqs } from "./first-seqs.ts";
import { listed } from "./list.ts";
import type { Numbered, Operation } from "./operation.ts";
import { recordWritten } from "./produce.ts";

export interface Import {
  readonly kind: "import";
  readonly key?: IdempotencyKey;
  readonly slot: number;
  readonly items: readonly NewImport[];
  /**
   * The number of the partition, if it is draining and takes no new items. The import is then
   * answered only if its key shows that it was done before.
   */
  readonly draining?: number;
}

export const importItems: Operation<Import> = {
  phase: "within",
  weight: ({ items }) => items.length,
  adds: () => true,
  keyed: { answer: answerImport },
  planReads(planner, requests) {
    for (const { slot, items } of requests) {
      const sourceIds = sourceIdsOf(items);
      for (const one of planner.memory.partitionsAt(slot)) planner.source(one.slot, sourceIds);
    }
  },
  decide(turn, requests) {
    const known = new Map<number, Set<string>>();
    for (const request of requests) {
      const here = known.getOrInsertComputed(request.slot, () => knownIn(turn, request.slot));
      turn.changeSet.answer(request.op, importOne(turn, request, here));
    }
  },
};

function sourceIdsOf(items: readonly { readonly sourceId: string }[]): string[] {
  return items.flatMap(({ sourceId }) => (sourceId === "" ? [] : [sourceId]));
}

/** Source ids that are not imported again: those stored, and those that this turn has imported. */
function knownIn({ memory, readResult, changeSet }: Turn, own: number): Set<string> {
  const known = new Set<string>();
  for (const { slot } of memory.partitionsAt(own)) {
    const scheduled = changeSet.schedule.filter((item) => item.slot === slot);
    const brought = sourceIdsOf([...changeSet.insertedInto(slot), ...scheduled]);
    for (const id of [...(readResult.sources.get(slot) ?? []), ...brought]) known.add(id);
  }
  return known;
}

function importOne(
  turn: Turn,
  { op, key, slot, items, draining }: Numbered<Import>,
  known: Set<string>,
): Result {
  const { memory, changeSet } = turn;
  const { settings } = memory.partition(slot);
  if (settings === null) return deletedFailure;
  if (draining !== undefined) return drainingFailure(draining);
  const { now, stamp } = turn;
  const times: Times = { now, stamp, expireTimeoutMs: settings.expireTimeoutMs };
  const firstSeqs = new FirstSeqs(slot);
  const stored: ListedItem[] = [];
  const left: number[] = [];
  for (const [index, item] of items.entries()) {
    if (known.has(item.sourceId)) {
      left.push(index);
      continue;
    }
    if (item.sourceId !== "") known.add(item.sourceId);
    const partition = memory.partition(slotFor(slot, item.priority));
    firstSeqs.begin(partition);
    const seq = store(turn, partition, { item, times });
    stored.push(listedAs(partition, item, { seq, times }));
  }
  changeSet.count(slot, "produced", stored.length);
  recordWritten(turn, firstSeqs, "imported");
  // With the request, this is enough to repeat the reply.
  if (key !== undefined) {
    changeSet.note(op, [...firstSeqs.values, now, stamp, times.expireTimeoutMs, ...left]);
  }
  return { ok: true, value: { kind: "items", items: stored } };
}

/** The stored fields of an item follow from these, from the request, and from its number. */
interface Times extends Pick<PartitionSettings, "expireTimeoutMs"> {
  readonly now: number;
  readonly stamp: number;
}

function dueAtOf({ enqueueAt, leaseDeadline }: NewImport, { now }: Times): number | null {
  return enqueueAt !== null && enqueueAt > now && leaseDeadline === null ? enqueueAt : null;
}

function unplacedOf(item: NewImport, times: Times): Unplaced {
  const { now, stamp } = times;
  const { leaseDeadline, kind, encoding, reference, sourceId, headers, past } = item;
  return {
    createdAt: item.createdAt ?? stamp,
    expireDeadline: item.expireDeadline ?? expireDeadlineOf(times, dueAtOf(item, times) ?? now),
    // The stored count excludes the attempt of a lease that has not ended.
    attempts: leaseDeadline === null ? item.attempts : Math.max(0, item.attempts - 1),
    ...{ kind, encoding, reference, sourceId, headers, past, payload: item.payload },
  };
}

/** Returns the sequence number of the stored item. */
function store(
  turn: Turn,
  partition: Partition,
  { item, times }: { readonly item: NewImport; readonly times: Times },
): number {
  const unplaced = unplacedOf(item, times);
  const dueAt = dueAtOf(item, times);
  if (dueAt !== null) return schedule(turn, partition, unplaced, { dueAt, retried: false }).seq;
  const placed = append(turn, partition, unplaced);
  if (item.leaseDeadline !== null) {
    holdInGroup(turn, placed);
    hold(turn, partition, [placed], { leaseDeadline: item.leaseDeadline });
  }
  return placed.seq;
}

function listedAs(
  partition: Partition,
  item: NewImport,
  { seq, times }: { readonly seq: number; readonly times: Times },
): ListedItem {
  const queuedAt = times.stamp;
  const stored = { ...unplacedOf(item, times), slot: partition.slot, seq, queuedAt, early: false };
  const dueAt = dueAtOf(item, times);
  const { leaseDeadline } = item;
  return listed(partition, stored, {
    ...(dueAt !== null && { dueAt }),
    ...(leaseDeadline !== null && { leasedAt: times.now, leaseDeadline }),
  });
}

/** Repeats the first reply, even if the items or their partition have changed since. */
function answerImport(
  { memory }: Turn,
  { items }: Numbered<Import>,
  values: readonly number[],
): Result {
  const { firstSeqs, rest } = FirstSeqs.read(values);
  const [now = 0, stamp = 0, expireTimeoutMs = 0, ...left] = rest;
  const times: Times = { now, stamp, expireTimeoutMs };
  const wasLeft = new Set(left);
  const stored = items
    .filter((_, index) => !wasLeft.has(index))
    .map((item) => {
      const { slot, seq } = firstSeqs.next(item.priority);
      return listedAs(memory.partition(slot), item, { seq, times });
    });
  return { ok: true, value: { kind: "items", items: stored } };
}
