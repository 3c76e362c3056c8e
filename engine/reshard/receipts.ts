// Receipts of calls with a key, as the new shards keep them. A receipt does not name its queue, only a
// digest of it. If it names a slot it goes where that goes, otherwise to each shard that has a queue of
// its old shard: a receipt of another shard's queue is never found, and forgotten in time.

import type { Image } from "../../stores/store.ts";
import type { KeyedOperation } from "../model/call-key.ts";
import { limits } from "../model/limits.ts";
import { decodeReceipts, encodeReceipts, type Receipt } from "../state/receipts.ts";
import type { NewPlace, ReshardPlan } from "./plan.ts";

/** Operations whose receipts begin with a slot, if they have any value. */
const slotted: ReadonlySet<KeyedOperation> = new Set(["produce", "lease", "import"]);
/** Of a partition that is gone; no partition is created there. */
const goneSlot = limits.slotsMax - 1;
/** Receipts of as many milliseconds share a row, with the instant of the last: each is kept as long as it was. */
const sharedMs = 1_000;
const sharedMax = 1_000;

export interface MovedReceipts {
  readonly at: number;
  readonly entries: Uint8Array;
}

/** Those of one new shard, oldest first. */
export function* movedReceipts(
  images: readonly Image[],
  { shards, places }: ReshardPlan,
  shard: number,
): Generator<MovedReceipts> {
  const sources = [...(shards[shard]?.sources ?? [])];
  const rows = sources
    .flatMap((source) => (images[source]?.receipts ?? []).map((row) => ({ source, row })))
    .sort((a, b) => a.row.at - b.row.at);
  let shared: Receipt[] = [];
  let [from, at] = [0, 0];
  for (const { source, row } of rows) {
    if (shared.length > 0 && (row.at - from > sharedMs || shared.length >= sharedMax)) {
      yield { at, entries: encodeReceipts(shared) };
      shared = [];
    }
    if (shared.length === 0) from = row.at;
    at = row.at;
    for (const receipt of decodeReceipts(row.entries)) {
      shared.push(...movedTo(receipt, shard, places[source]));
    }
  }
  if (shared.length > 0) yield { at, entries: encodeReceipts(shared) };
}

function movedTo(
  receipt: Receipt,
  shard: number,
  places: ReadonlyMap<number, NewPlace> | undefined,
): readonly Receipt[] {
  const [slot, ...values] = receipt.values ?? [];
  if (slot === undefined || !slotted.has(receipt.operation)) return [receipt];
  const place = places?.get(slot);
  if (place !== undefined && place.shard !== shard) return [];
  return [{ ...receipt, values: [place?.slot ?? goneSlot, ...values] }];
}
