// Items as they are stored: import, delete, list; and the ages of what is there.

import type { Item } from "../../stores/item.ts";
import { deletedFailure, failure } from "../errors.ts";
import { formatId, seqOf } from "../ids.ts";
import { limits } from "../limits.ts";
import type { ListedItem, NewImport } from "../messages.ts";
import { fullFailure, type Of, type TurnContext } from "./context.ts";
import { append, hold, letGo, remove, schedule, type Unplaced, unschedule } from "./moves.ts";
import type { Partition } from "./partition.ts";

/** Imported items keep their lease, attempts and deadlines, and get new ids. */
export async function take(turn: TurnContext, request: Of<"import">): Promise<void> {
  const { memory, draft, store } = turn;
  const partition = memory.partition(request.slot);
  if (turn.full) {
    draft.fail(request.op, fullFailure);
    return;
  }
  if (partition.settings === null) {
    draft.fail(request.op, deletedFailure);
    return;
  }
  const named = request.items
    .filter(({ sourceId }) => sourceId !== "")
    .map(({ sourceId }) => sourceId);
  const known = new Set(await store.presentSources(partition.slot, named));
  for (const item of [...draft.insert, ...draft.schedule]) {
    if (item.slot === partition.slot) known.add(item.sourceId);
  }
  known.delete("");
  const stored: ListedItem[] = [];
  for (const item of request.items) {
    if (known.has(item.sourceId)) continue;
    if (item.sourceId !== "") known.add(item.sourceId);
    stored.push(takeOne(turn, partition, item));
  }
  draft.succeed(request.op, { kind: "items", items: stored });
}

function takeOne(turn: TurnContext, partition: Partition, item: NewImport): ListedItem {
  const { now } = turn;
  const dueAt =
    item.enqueueAt !== null && item.enqueueAt > now && item.leaseDeadline === null
      ? item.enqueueAt
      : null;
  const expireTimeoutMs = partition.settings?.expireTimeoutMs ?? 0;
  const unplaced: Unplaced = {
    createdAt: item.createdAt ?? now,
    expireDeadline: item.expireDeadline ?? (dueAt ?? now) + expireTimeoutMs,
    // A running lease is an attempt of its own, which its item's count leaves out.
    attempts: item.leaseDeadline === null ? item.attempts : Math.max(0, item.attempts - 1),
    kind: item.kind,
    encoding: item.encoding,
    reference: item.reference,
    sourceId: item.sourceId,
    payload: item.payload,
  };
  if (dueAt !== null) {
    return listed(partition, schedule(turn, partition, unplaced, { dueAt, retried: false }), {
      dueAt,
    });
  }
  const placed = append(turn, partition, unplaced);
  if (item.leaseDeadline === null) return listed(partition, placed, {});
  const { lease } = hold(turn, partition, [placed], item.leaseDeadline);
  return listed(partition, placed, {
    leasedAt: lease.leasedAt,
    leaseDeadline: lease.leaseDeadline,
  });
}

export async function drop(turn: TurnContext, request: Of<"delete">): Promise<void> {
  const { memory, draft, store } = turn;
  const partition = memory.partition(request.slot);
  for (const id of new Set(request.ids)) {
    const seq = seqOf(partition.idPrefix, id);
    if (seq === null || seq >= partition.committedSeq) continue;
    if (draft.removed.has(partition.slot, seq) || draft.unscheduled.has(partition.slot, seq))
      continue;
    const held = partition.held.get(seq);
    if (held === undefined && seq < partition.clearReadyBelow) continue;
    const [ready] = await store.seqs(partition.slot, seq, seq + 1, 1);
    if (ready !== undefined) {
      if (held !== undefined) letGo(turn, partition, seq, held);
      remove(turn, partition, ready);
      continue;
    }
    const [waiting] = await store.scheduled(partition.slot, seq, seq + 1, {
      items: 1,
      payloadBytes: 1,
    });
    if (waiting !== undefined) unschedule(turn, partition, waiting);
  }
  draft.succeed(request.op, { kind: "done" });
}

const unwritableBackup = failure(
  "store",
  "the backup could not be written; the stores themselves are as they were",
);

export async function list(
  { memory, draft, store }: TurnContext,
  request: Of<"list">,
): Promise<void> {
  const partition = memory.partition(request.slot);
  const from = firstFrom(partition, request.pivot);
  const limit = { items: request.limit, payloadBytes: limits.storageListBytesMax };
  const { slot, nextSeq } = partition;
  if (request.scheduled) {
    const items = await store.scheduled(slot, from, nextSeq, limit);
    const shown = items
      .filter(({ damaged }) => !damaged)
      .map((item) => listed(partition, item, { dueAt: item.dueAt }));
    draft.succeed(request.op, { kind: "items", items: shown });
    return;
  }
  const shown: ListedItem[] = [];
  let payloadBytes: number = limits.storageListBytesMax;
  // What a clear has taken is passed over, and must not make a page look like the last.
  for (let next = from; shown.length < request.limit && payloadBytes > 0; ) {
    const left = { items: request.limit - shown.length, payloadBytes };
    const page = await store.items(slot, next, nextSeq, left);
    for (const item of page) {
      next = item.seq + 1;
      const lease = partition.held.get(item.seq)?.run.lease;
      if (item.damaged || (lease === undefined && item.seq < partition.clearReadyBelow)) continue;
      payloadBytes -= item.payload.length;
      shown.push(listed(partition, item, lease ?? {}));
    }
    if (page.length === 0) break;
  }
  draft.succeed(request.op, { kind: "items", items: shown });
}

/** A pivot need not be an id of this partition; the listing starts at the nearest that follows it. */
function firstFrom(partition: Partition, pivot: string): number {
  if (pivot === "") return 0;
  const seq = seqOf(partition.idPrefix, pivot);
  if (seq !== null) return seq;
  return pivot < partition.idPrefix ? 0 : partition.nextSeq;
}

function listed(
  partition: Partition,
  item: Item,
  state: { readonly leasedAt?: number; readonly leaseDeadline?: number; readonly dueAt?: number },
): ListedItem {
  const { payload } = item;
  const leasedAt = state.leasedAt ?? null;
  return {
    id: formatId(partition.idPrefix, item.seq),
    createdAt: item.createdAt,
    queuedAt: item.queuedAt,
    expireDeadline: item.expireDeadline,
    attempts: item.attempts + (leasedAt === null ? 0 : 1),
    kind: item.kind,
    encoding: item.encoding,
    reference: item.reference,
    sourceId: item.sourceId,
    leasedAt,
    leaseDeadline: state.leaseDeadline ?? null,
    dueAt: state.dueAt ?? null,
    payload: typeof payload === "string" ? new TextEncoder().encode(payload) : payload,
  };
}

export function stats({ memory, draft, now }: TurnContext, request: Of<"stats">): void {
  const ages = request.slots.map((slot) => {
    const partition = memory.partition(slot);
    return {
      slot,
      averageAgeMs: partition.averageAgeMs(now),
      averageLeasedAgeMs: partition.averageLeasedAgeMs(now),
    };
  });
  draft.succeed(request.op, { kind: "ages", ages });
}

/** Only of what is committed: it runs after the turn's commit. */
export async function backup(
  { draft, store }: TurnContext,
  { op, folder }: Of<"backup">,
): Promise<void> {
  const bytes = await store.backup(folder);
  if (bytes === null) draft.fail(op, unwritableBackup);
  else draft.succeed(op, { kind: "copied", bytes });
}
