// What ends a hold: complete, retry, and the release of what nobody was told of.
// A batch is taken as a whole or refused as a whole.

import type { Item } from "../../stores/item.ts";
import type { Read, Store } from "../../stores/store.ts";
import { deletedFailure, type Failure, failure, late } from "../errors.ts";
import { isId, seqOf } from "../ids.ts";
import { reject, release, retry } from "../lifecycle.ts";
import type { Of, TurnContext } from "./context.ts";
import { follow, letGo, quarantine, remove } from "./moves.ts";
import type { Held, Partition } from "./partition.ts";

export async function complete(turn: TurnContext, request: Of<"complete">): Promise<void> {
  const partition = turn.memory.partition(request.slot);
  if (request.deadline <= turn.now) {
    turn.draft.fail(request.op, late("the items were not completed"));
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

export async function giveBack(turn: TurnContext, request: Of<"retry">): Promise<void> {
  const { memory, draft, now } = turn;
  const partition = memory.partition(request.slot);
  if (request.deadline <= now) {
    draft.fail(request.op, late("the items were not retried"));
    return;
  }
  const ids = request.items.map(({ id }) => id);
  const found = await findHeld(turn, request, { ids, verb: "retried" });
  const { settings } = partition;
  if (found === null) return;
  if (settings === null) {
    draft.fail(request.op, deletedFailure);
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

/** Gives back what was leased to a client that had already left; the attempt does not count. */
export async function releaseGrant(turn: TurnContext, request: Of<"release">): Promise<void> {
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

/**
 * Finds the held items of a batch. All or nothing: if one id cannot be found
 * held, or is named twice, every such id gets its reason and `null` comes back.
 */
async function findHeld(
  turn: TurnContext,
  request: { readonly op: number; readonly slot: number },
  batch: Batch,
): Promise<{ seq: number; held: Held }[] | null> {
  const partition = turn.memory.partition(request.slot);
  const found: { seq: number; held: Held }[] = [];
  const seqs = new Set<number>();
  for (const id of batch.ids) {
    const seq = seqOf(partition.idPrefix, id);
    const held = seq === null ? undefined : partition.held.get(seq);
    if (seq === null || held === undefined) break;
    found.push({ seq, held });
    seqs.add(seq);
  }
  if (seqs.size === batch.ids.length) return found;
  turn.draft.fail(request.op, await refusalOf(turn, partition, batch));
  return null;
}

interface Batch {
  readonly ids: readonly string[];
  /** What was to be done with the items, as texts have it. */
  readonly verb: string;
}

/** Names every id of the batch that cannot be taken, and why. */
async function refusalOf(
  { draft, store }: TurnContext,
  partition: Partition,
  { ids, verb }: Batch,
): Promise<Failure> {
  const details: [id: string, reason: string][] = [];
  const seen = new Set<string>();
  for (const id of ids) {
    const seq = seqOf(partition.idPrefix, id);
    const isHeld = seq !== null && partition.held.has(seq);
    if (seen.has(id)) {
      details.push([id, `item(s) cannot be ${verb}; '${id}' is named more than once`]);
    } else if (!isId(id)) {
      details.push([id, `invalid storage id; '${id}': Valid encoded KSUIDs are 27 characters`]);
    } else if (!isHeld && seq !== null && (await isStored(store, draft, partition, seq))) {
      details.push([id, `item(s) cannot be ${verb}; '${id}' is not marked as leased`]);
    } else if (!isHeld) {
      details.push([id, `invalid storage id; '${id}' does not exist`]);
    }
    seen.add(id);
  }
  return failure("refused", details[0]?.[1] ?? "", Object.fromEntries(details));
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
