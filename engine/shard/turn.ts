// One turn: everything that waits is decided against memory and store, and
// becomes one set of changes. The caller commits them and only then lets the
// answers out. Requests of one kind are taken in the order of their arrival.
//
//   sweep → complete → retry → clear → produce → import → delete → lease

import type { Item } from "../../stores/item.ts";
import type { Read, Store } from "../../stores/store.ts";
import type { LeasedItem } from "../api.ts";
import { failure } from "../errors.ts";
import { formatId, isId, seqOf } from "../ids.ts";
import { expireDeadlineOf, hasExpired, reject, release, retry } from "../lifecycle.ts";
import { limits } from "../limits.ts";
import type { ListedItem, NewImport, NumberedRequest } from "../messages.ts";
import { clearPiece, markCleared } from "./clearing.ts";
import {
  append,
  follow,
  hold,
  letGo,
  quarantine,
  remove,
  type Scene,
  schedule,
  type Unplaced,
  unschedule,
} from "./moves.ts";
import type { Held, Partition } from "./partition.ts";
import { sweep } from "./sweep.ts";

type Of<Kind extends NumberedRequest["kind"]> = Extract<NumberedRequest, { kind: Kind }>;

export interface TurnContext extends Scene {
  readonly store: Store;
  /** How leased items are handed over, as text. */
  readonly renderLeased: (items: readonly LeasedItem[]) => string;
  /** Sequence numbers of recent grants by their request, for clients found to have left. */
  readonly grants: Map<number, readonly number[]>;
  /** Whether the store had no room lately; what would only add to it is refused. */
  readonly full: boolean;
  /** Filled with the requests that are answered only when a clear is done. */
  readonly settling: Settling[];
}

/** Requests whose answer comes later than their turn: clears that are still removing items. */
export interface Settling {
  readonly op: number;
  partitions: Set<Partition>;
}

export const fullFailure = failure(
  "store",
  "there is no space left on the disk; nothing was written",
);
const lateFailure = (what: string) => failure("empty", `request timeout; ${what}, try again`);

/** Decides all requests. Reads of what is stored are left to `answerReads`, after the commit. */
export async function decide(
  turn: TurnContext,
  requests: readonly NumberedRequest[],
): Promise<void> {
  await sweep(turn, turn.store);
  await clearPiece(turn, turn.store);

  const leases: Of<"lease">[] = [];
  const imports: Of<"import">[] = [];
  const deletes: Of<"delete">[] = [];
  const produces: Of<"produce">[] = [];
  const clears: Of<"clear">[] = [];
  const retries: (Of<"retry"> | Of<"release">)[] = [];
  for (const request of requests) {
    switch (request.kind) {
      case "complete":
        await complete(turn, request);
        break;
      case "retry":
      case "release":
        retries.push(request);
        break;
      case "clear":
        clears.push(request);
        break;
      case "produce":
        produces.push(request);
        break;
      case "import":
        imports.push(request);
        break;
      case "delete":
        deletes.push(request);
        break;
      case "lease":
        leases.push(request);
        break;
      case "catalog":
        turn.draft.catalogPut.push(...request.put);
        turn.draft.catalogRemove.push(...request.remove);
        turn.draft.succeed(request.op, { kind: "done" });
        break;
      case "receive":
        receive(turn, request);
        break;
      case "received":
        received(turn, request);
        break;
      case "settle":
        turn.settling.push({ op: request.op, partitions: partitionsOf(turn, request.slots) });
        break;
      case "configure":
        turn.draft.succeed(request.op, { kind: "done" });
        break;
      case "list":
      case "stats":
        break;
    }
  }
  for (const request of retries) {
    if (request.kind === "retry") await giveBack(turn, request);
    else await releaseGrant(turn, request);
  }
  for (const request of clears) {
    const partitions = partitionsOf(turn, request.slots);
    for (const partition of partitions) markCleared(turn, partition, request.what);
    turn.settling.push({ op: request.op, partitions });
  }
  for (const request of produces) produce(turn, request);
  for (const request of imports) await take(turn, request);
  for (const request of deletes) await drop(turn, request);
  await leaseAll(turn, leases);
}

function partitionsOf(turn: TurnContext, slots: readonly number[]): Set<Partition> {
  return new Set(slots.map((slot) => turn.memory.partition(slot)));
}

function produce(turn: TurnContext, request: Of<"produce">): void {
  const { memory, draft, now } = turn;
  const partition = memory.partition(request.slot);
  if (request.deadline <= now) {
    draft.fail(request.op, lateFailure("the items were not written"));
    return;
  }
  if (turn.full) {
    draft.fail(request.op, fullFailure);
    return;
  }
  const { settings } = partition;
  if (settings === null) {
    draft.fail(request.op, goneFailure);
    return;
  }
  const expireDeadline = expireDeadlineOf(settings, now);
  for (const item of request.items) {
    const { enqueueAt } = item;
    const isLater = enqueueAt !== null && enqueueAt > now;
    const unplaced: Unplaced = {
      createdAt: now,
      expireDeadline: isLater ? expireDeadlineOf(settings, enqueueAt) : expireDeadline,
      attempts: 0,
      kind: item.kind,
      encoding: item.encoding,
      reference: item.reference,
      sourceId: "",
      payload: item.payload,
    };
    if (isLater) schedule(turn, partition, unplaced, { dueAt: enqueueAt, retried: false });
    else append(turn, partition, unplaced);
  }
  draft.succeed(request.op, { kind: "done" });
}

const goneFailure = failure("refused", "queue is shutting down; it was deleted");

/**
 * Finds the held items of a batch. All or nothing: if one id cannot be found
 * held, or is named twice, every such id gets its reason and `null` comes back.
 */
async function findHeld(
  turn: TurnContext,
  request: { readonly op: number; readonly slot: number },
  batch: { readonly ids: readonly string[]; readonly verb: string },
): Promise<{ seq: number; held: Held }[] | null> {
  const { memory, draft, store } = turn;
  const partition = memory.partition(request.slot);
  const found: { seq: number; held: Held }[] = [];
  const details: [id: string, reason: string][] = [];
  const seen = new Set<string>();
  for (const id of batch.ids) {
    const seq = seqOf(partition.idPrefix, id);
    const held = seq === null ? undefined : partition.held.get(seq);
    if (seen.has(id)) {
      details.push([id, `item(s) cannot be ${batch.verb}; '${id}' is named more than once`]);
    } else if (seq !== null && held !== undefined) {
      found.push({ seq, held });
    } else if (!isId(id)) {
      details.push([id, `invalid storage id; '${id}': Valid encoded KSUIDs are 27 characters`]);
    } else if (seq !== null && (await isStored(store, draft, partition, seq))) {
      details.push([id, `item(s) cannot be ${batch.verb}; '${id}' is not marked as leased`]);
    } else {
      details.push([id, `invalid storage id; '${id}' does not exist`]);
    }
    seen.add(id);
  }
  if (details.length === 0) return found;
  draft.fail(request.op, failure("refused", details[0]?.[1] ?? "", Object.fromEntries(details)));
  return null;
}

async function isStored(
  store: Store,
  draft: TurnContext["draft"],
  partition: Partition,
  seq: number,
): Promise<boolean> {
  if (seq < partition.clearReadyBelow || draft.removed.has(partition.slot, seq)) return false;
  return (await store.present(partition.slot, [seq])).length > 0;
}

async function complete(turn: TurnContext, request: Of<"complete">): Promise<void> {
  const partition = turn.memory.partition(request.slot);
  if (request.deadline <= turn.now) {
    turn.draft.fail(request.op, lateFailure("the items were not completed"));
    return;
  }
  const found = await findHeld(turn, request, { ids: request.ids, verb: "completed" });
  if (found === null) return;
  for (const { seq, held } of found) {
    letGo(turn, partition, seq, held);
    remove(turn, partition, { seq, createdAt: held.createdAt });
  }
  turn.draft.succeed(request.op, { kind: "done" });
}

async function giveBack(turn: TurnContext, request: Of<"retry">): Promise<void> {
  const { memory, draft, now } = turn;
  const partition = memory.partition(request.slot);
  if (request.deadline <= now) {
    draft.fail(request.op, lateFailure("the items were not retried"));
    return;
  }
  const ids = request.items.map(({ id }) => id);
  const found = await findHeld(turn, request, { ids, verb: "retried" });
  const { settings } = partition;
  if (found === null) return;
  if (settings === null) {
    draft.fail(request.op, goneFailure);
    return;
  }
  const items = await heldItems(turn, partition, found);
  for (const [index, { seq, held }] of found.entries()) {
    const wanted = request.items[index];
    const item = items.get(seq);
    letGo(turn, partition, seq, held);
    if (item === undefined || wanted === undefined || item.damaged) {
      quarantine(turn, partition, seq);
      continue;
    }
    remove(turn, partition, item);
    follow(
      turn,
      partition,
      item,
      wanted.dead ? reject() : retry(item, settings, now, wanted.retryAt),
    );
  }
  draft.succeed(request.op, { kind: "done" });
}

/** Reads items by number, in as few ranges as their neighbourhood allows. */
async function heldItems(
  { store }: TurnContext,
  partition: Partition,
  found: readonly { readonly seq: number }[],
): Promise<Map<number, Read<Item>>> {
  const wanted = found.map(({ seq }) => seq).sort((a, b) => a - b);
  const items = new Map<number, Read<Item>>();
  let start = 0;
  for (let index = 1; index <= wanted.length; index += 1) {
    const first = wanted[start] ?? 0;
    const last = wanted[index - 1] ?? 0;
    if (index < wanted.length && wanted[index] === last + 1) continue;
    const limit = { items: last - first + 1, payloadBytes: Number.POSITIVE_INFINITY };
    for (const item of await store.items(partition.slot, first, last + 1, limit)) {
      items.set(item.seq, item);
    }
    start = index;
  }
  return items;
}

/** Gives back what was leased to a client that had already left; the attempt does not count. */
async function releaseGrant(turn: TurnContext, request: Of<"release">): Promise<void> {
  const partition = turn.memory.partition(request.slot);
  const granted = turn.grants.get(request.leaseOp) ?? [];
  turn.grants.delete(request.leaseOp);
  const found: { seq: number; held: Held }[] = [];
  for (const seq of granted) {
    const held = partition.held.get(seq);
    if (held !== undefined) found.push({ seq, held });
  }
  const items = await heldItems(turn, partition, found);
  for (const { seq, held } of found) {
    const item = items.get(seq);
    letGo(turn, partition, seq, held);
    if (item === undefined || item.damaged) {
      quarantine(turn, partition, seq);
      continue;
    }
    remove(turn, partition, item);
    follow(turn, partition, item, release(item, turn.now));
  }
  turn.draft.succeed(request.op, { kind: "done" });
}

/** Items from another shard's outbox: taken once, whatever number of times they come. */
function receive(turn: TurnContext, request: Of<"receive">): void {
  const { memory, draft, now } = turn;
  let last = memory.inbound.get(request.sourceShard) ?? 0;
  for (const item of request.items) {
    if (item.outboundSeq <= last) continue;
    last = item.outboundSeq;
    const partition = memory.partition(item.targetSlot);
    if (partition.settings === null) draft.event(item.targetSlot, "discarded");
    else append(turn, partition, { ...item, createdAt: now });
  }
  if (last !== memory.inbound.get(request.sourceShard)) {
    memory.inbound.set(request.sourceShard, last);
    draft.receive.push({ sourceShard: request.sourceShard, outboundSeq: last });
  }
  draft.succeed(request.op, { kind: "done" });
}

function received({ memory, draft }: TurnContext, request: Of<"received">): void {
  for (const outboundSeq of request.outboundSeqs) {
    if (memory.outbound.delete(outboundSeq)) draft.unsend.push(outboundSeq);
  }
  draft.succeed(request.op, { kind: "done" });
}

/** Imported items keep their lease, attempts and deadlines, and get new ids. */
async function take(turn: TurnContext, request: Of<"import">): Promise<void> {
  const { memory, draft, store } = turn;
  const partition = memory.partition(request.slot);
  if (turn.full) {
    draft.fail(request.op, fullFailure);
    return;
  }
  if (partition.settings === null) {
    draft.fail(request.op, goneFailure);
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

async function drop(turn: TurnContext, request: Of<"delete">): Promise<void> {
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

/** All leases on one partition are served by one read of its head. */
async function leaseAll(turn: TurnContext, requests: readonly Of<"lease">[]): Promise<void> {
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

/** Answers what only asks. It runs after the commit, so that it sees all of it. */
export async function answerReads(
  turn: TurnContext,
  requests: readonly NumberedRequest[],
): Promise<void> {
  for (const request of requests) {
    if (request.kind === "list") await list(turn, request);
    else if (request.kind === "stats") stats(turn, request);
  }
}

function stats({ memory, draft, now }: TurnContext, request: Of<"stats">): void {
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

async function list({ memory, draft, store }: TurnContext, request: Of<"list">): Promise<void> {
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
