// Finds the leased items that a request names. A batch is accepted or refused as a whole; a refusal
// has a reason for each invalid id.

import {
  backlogFailure,
  type Failure,
  failure,
  fullFailure,
  malformedId,
} from "../model/errors.ts";
import { isId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { IdPlaces, Memory } from "../state/memory.ts";
import type { LeasedFields, Partition } from "../state/partition.ts";
import type { ReadPlanner, Turn } from "./turn-context.ts";

export interface Batch {
  /** The own slot of the partition. */
  readonly slot: number;
  readonly ids: readonly string[];
  /** The key of these ids in `named`, if that is not this object. */
  readonly by?: object;
}

export interface HeldItem extends LeasedFields {
  readonly slot: number;
  readonly seq: number;
}

/** The items by slot; mostly all have the same. */
export function bySlot(
  items: readonly HeldItem[],
): Iterable<readonly [slot: number, items: readonly HeldItem[]]> {
  const [first] = items;
  if (first === undefined) return [];
  const { slot } = first;
  if (items.every((item) => item.slot === slot)) return [[slot, items]];
  return Map.groupBy(items, (item) => item.slot);
}

/** Reads the items that are not leased: the reason of a refusal depends on their existence. */
export function planHeld(planner: ReadPlanner, batch: Batch): void {
  const { memory } = planner;
  const places = memory.placesOf(batch.slot, batch.ids);
  planner.named.set(batch.by ?? batch, places);
  const own = memory.partition(batch.slot);
  for (let index = 0; index < places.seqs.length; index += 1) {
    const seq = places.seqs[index] as number | null;
    const partition = partitionOf(memory, own, places, index);
    if (seq !== null && !partition.held.has(seq)) planner.pick(partition.slot, [seq]);
  }
}

function partitionOf(
  memory: Memory,
  own: Partition,
  { slots }: IdPlaces,
  index: number,
): Partition {
  return slots === null ? own : memory.partition(slots[index] as number);
}

function placesNamed({ named }: Turn, batch: Batch): IdPlaces {
  return named.get(batch.by ?? batch) ?? { seqs: [], slots: null };
}

/** A turn without room does not sweep leases past their deadlines, but treats them as lapsed. */
export function heldAt(
  { isStill, now }: Turn,
  partition: Partition,
  seq: number,
): LeasedFields | undefined {
  const held = partition.held.get(seq);
  return isStill && held !== undefined && held.run.lease.leaseDeadline <= now ? undefined : held;
}

/** `verb`: the operation in the past participle, for error messages. */
export function findHeld(turn: Turn, batch: Batch, verb: string): readonly HeldItem[] | Failure {
  const { memory } = turn;
  const own = memory.partition(batch.slot);
  const places = placesNamed(turn, batch);
  const found: HeldItem[] = [];
  let last = -1;
  let isRising = true;
  for (let index = 0; index < places.seqs.length; index += 1) {
    const seq = places.seqs[index] as number | null;
    const partition = partitionOf(memory, own, places, index);
    const held = seq === null ? undefined : heldAt(turn, partition, seq);
    if (seq === null || held === undefined) break;
    const { slot } = partition;
    const { run, createdAt, expireDeadline, attempts, past, holder } = held;
    found.push({ slot, seq, run, createdAt, expireDeadline, attempts, past, holder });
    isRising &&= seq > last;
    last = seq;
  }
  // Numbers mostly rise, and then no id is repeated.
  const isEach = isRising || new Set(batch.ids).size === batch.ids.length;
  if (found.length === batch.ids.length && isEach) return found;
  return refusal(turn, batch, verb);
}

/** Like `findHeld`, with a limit on bytes: moved items are rewritten in one blocking commit. */
export function findMovable(turn: Turn, batch: Batch, verb: string): ReturnType<typeof findHeld> {
  const found = findHeld(turn, batch, verb);
  return "ok" in found ? found : (tooLarge(turn, found, verb) ?? found);
}

/** Refuses items that are too large to move together, or with the other moves of the turn. */
export function tooLarge(
  { changeSet, full, isStill }: Turn,
  items: readonly HeldItem[],
  verb: string,
): Failure | null {
  const bytes = Math.ceil(items.reduce((sum, { run }) => sum + run.payloadBytesMean, 0));
  if (bytes > limits.retryBytesMax) {
    const why = `they hold ${bytes} bytes, expected at most ${limits.retryBytesMax}; send fewer at a time`;
    return failure("too_large", `item(s) cannot be ${verb} together; ${why}`);
  }
  if (changeSet.returnedBytes + bytes > limits.retryBytesMax) return backlogFailure;
  // Try a large batch alone and once, so that it does not fail other requests of its turn.
  const isTried = changeSet.returnedBytes > 0 || isStill;
  if (full && isTried && changeSet.returnedBytes + bytes > limits.fullRetryBytesMax) {
    return fullFailure;
  }
  changeSet.returnedBytes += bytes;
  return null;
}

/** A failure with a reason for each invalid id of the batch. */
function refusal(turn: Turn, batch: Batch, verb: string): Failure {
  const own = turn.memory.partition(batch.slot);
  const places = placesNamed(turn, batch);
  const details: [id: string, reason: string][] = [];
  const seen = new Set<string>();
  for (const [index, id] of batch.ids.entries()) {
    const seq = places.seqs[index] ?? null;
    const partition = partitionOf(turn.memory, own, places, index);
    const isHeld = seq !== null && heldAt(turn, partition, seq) !== undefined;
    if (seen.has(id)) {
      details.push([id, `item(s) cannot be ${verb}; '${id}' is named more than once`]);
    } else if (!isId(id)) {
      details.push([id, malformedId(id)]);
    } else if (!isHeld && seq !== null && isStored(turn, partition, seq)) {
      details.push([id, `item(s) cannot be ${verb}; '${id}' is not marked as leased`]);
    } else if (!isHeld) {
      details.push([id, `invalid storage id; '${id}' does not exist`]);
    }
    seen.add(id);
  }
  return failure("not_leased", details[0]?.[1] ?? "", Object.fromEntries(details));
}

/** Whether the item is stored. An item whose lease ended in this turn has left its place. */
function isStored({ readResult, changeSet }: Turn, partition: Partition, seq: number): boolean {
  const { slot, clearReadyBelow } = partition;
  if (seq < clearReadyBelow || changeSet.hasLeft(slot, seq)) return false;
  return readResult.picks.get(slot)?.ready.has(seq) ?? false;
}
