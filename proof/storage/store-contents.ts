// Reads everything in the stores of a folder through the real store, as an engine would at its
// start.

import { epochsIn } from "../../engine/turn/label.ts";
import type { Backend } from "../../stores/backend.ts";
import type { Item } from "../../stores/item.ts";
import { openStore } from "../../stores/open.ts";
import { readItems, readOutbound } from "../../stores/single-reads.ts";
import type { Image } from "../../stores/store.ts";
import { isIntactItem, numberOf } from "../clients/items.ts";

export interface StoreContents {
  /** The places of each item, by number; more than one is a fault. */
  readonly places: ReadonlyMap<number, readonly string[]>;
  /** Ids of leased items. */
  readonly held: ReadonlySet<string>;
  /** Items whose bytes differ from the produced ones without the store noticing. */
  readonly changed: readonly number[];
  /** Items that the store reports as damaged. */
  readonly damaged: number;
  readonly quarantined: number;
  /**
   * The difference between the items found at a start and the count in each store's last commit.
   */
  readonly miscounted: number;
}

export interface StoreFolder {
  readonly directory: string;
  readonly shards: number;
  readonly durability: "full" | "normal";
}

const all = { items: Number.MAX_SAFE_INTEGER, payloadBytes: Number.POSITIVE_INFINITY };
const numbersMax = 2 ** 45 - 1;

/** Throws `StoreError` when a store cannot be opened or read. */
export async function readStores({
  directory,
  shards,
  durability,
}: StoreFolder): Promise<StoreContents> {
  const backends: Backend[] = [];
  const places = new Map<number, string[]>();
  const held = new Set<string>();
  const changed: number[] = [];
  let damaged = 0;
  let quarantined = 0;
  let miscounted = 0;
  const record = (item: Item, place: string): void => {
    const number = numberOf(item.payload as Uint8Array);
    const known = places.get(number);
    if (known === undefined) places.set(number, [place]);
    else known.push(place);
    if (!isIntactItem(number, { ...item, payload: item.payload as Uint8Array }))
      changed.push(number);
  };
  try {
    const images: Image[] = [];
    for (let shard = 0; shard < shards; shard += 1) {
      const config = { kind: "sqlite", directory, durability, ballastBytes: 0 } as const;
      const backend = await openStore(config, shard, () => "000000000000");
      backends.push(backend);
      images.push(await backend.store.load());
    }
    for (const [shard, image] of images.entries()) {
      const epochs = epochsIn(image.tags);
      const backend = backends[shard];
      if (backend === undefined) continue;
      const { store, maintenance } = backend;
      quarantined += image.quarantinedCount;
      const counts = await maintenance.countItems();
      for (const { slot, itemCount } of image.tallies) {
        miscounted += Math.abs(itemCount - (counts?.get(slot)?.items ?? itemCount));
        const leases = image.leases.filter((lease) => lease.slot === slot);
        const span = { slot, from: 0, before: numbersMax };
        for (const item of (await readItems(store, span, all)).found) {
          if (item.damaged) damaged += 1;
          else record(item, `${shard}:${slot}`);
          if (leases.some(({ first, last }) => first <= item.seq && item.seq <= last)) {
            held.add(epochs.idOf({ slot, seq: item.seq }));
          }
        }
      }
      for (const [target, { inbound }] of images.entries()) {
        const received = inbound.find(({ sourceShard }) => sourceShard === shard)?.outboundSeq ?? 0;
        for (const item of await readOutbound(store, target, all)) {
          if (item.damaged) damaged += 1;
          else if (item.outboundSeq > received) record(item, `${shard} in transit`);
        }
      }
    }
  } finally {
    for (const { store } of backends) await store.close();
  }
  return { places, held, changed, damaged, quarantined, miscounted };
}
