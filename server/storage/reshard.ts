// Moves the queues of a data folder or database to another number of shards. No server may run on
// it.

import { systemClock, TestClock } from "../../engine/model/clock.ts";
import { newTag } from "../../engine/model/ids.ts";
import { limits } from "../../engine/model/limits.ts";
import { systemRandom } from "../../engine/model/random.ts";
import { type Resharded, reshard } from "../../engine/reshard/reshard.ts";
import { countSchemas, type DurableConfig, openForReshard } from "../../stores/open.ts";
import { storesOf } from "./data-folder.ts";

export const { shardsMax } = limits;

/** Counts the shards of the data; 0 if there are none. Throws `StoreError` or `DataFolderError`. */
export async function countShards(store: DurableConfig): Promise<number> {
  if (store.kind === "postgres") return countSchemas(store);
  return storesOf(store.directory);
}

export interface ReshardData {
  readonly store: DurableConfig;
  readonly shards: number;
  /** If aborted, the data stay unchanged and the reason is thrown. */
  readonly signal: AbortSignal;
  readonly progress: (items: number, all: number) => void;
}

/** Throws `StoreError`. */
export async function reshardData({
  store,
  shards,
  signal,
  progress,
}: ReshardData): Promise<Resharded> {
  const stores = await openForReshard(store, shards, () => newTag(systemRandom));
  try {
    const moved = await reshard({
      ...{ from: stores.from, to: stores.to, random: systemRandom },
      requireRoom: (moreBytes) => stores.requireRoom(moreBytes),
      clock: stores.testClock ? new TestClock() : systemClock(),
      progress: async (items, all) => {
        progress(items, all);
        // Yield to the event loop, or no signal would be received.
        await Bun.sleep(0);
        signal.throwIfAborted();
      },
    });
    await stores.replace();
    return moved;
  } finally {
    await stores.close();
  }
}
