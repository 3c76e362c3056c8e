// Moves the receipts of calls with a key to the new shards. A receipt contains only a digest of its
// queue. If it names a slot it follows that slot. Otherwise it goes to each shard with a queue of
// its old shard. A copy in the wrong shard is never found, and is forgotten in time.

import type { Image } from "../../stores/store.ts";
import type { KeyedOperation } from "../model/idempotency-key.ts";
import { limits } from "../model/limits.ts";
import { decodeReceipts, encodeReceipts, type Receipt } from "../state/receipts.ts";
import type { NewPlace, ReshardPlan } from "./plan.ts";

/** Operations whose receipts begin with a slot, if they have any value. */
const slotted: ReadonlySet<KeyedOperation> = new Set(["produce", "lease", "import"]);
/** The slot of a removed partition; no partition is created there. */
const goneSlot = limits.slotsMax - 1;
/**
 * Receipts of this many milliseconds share a row with the last one's instant, so each is kept at
 * least as long as before.
 */
const sharedMs = 1_000;
const sharedMax = 1_000;

export interface MovedReceipts {
  readonly at: number;
  readonly entries: Uint8Array;
}

/** The receipts of one new shard, oldest first. */
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
