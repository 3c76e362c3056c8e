// Moves the queues of a data folder to another number of shards, while no server runs on it.

import { existsSync } from "node:fs";
import { systemClock, TestClock } from "../engine/model/clock.ts";
import { newTag } from "../engine/model/ids.ts";
import { limits } from "../engine/model/limits.ts";
import { systemRandom } from "../engine/model/random.ts";
import { type Resharded, reshard } from "../engine/reshard/reshard.ts";
import { countStores, openForReshard } from "../stores/open.ts";

export const { shardsMax } = limits;

/** How many shards a folder has; 0 if there is no store in it. Throws `StoreError`. */
export function shardsIn(folder: string): number {
  return existsSync(folder) ? countStores(folder) : 0;
}

export interface ReshardData {
  readonly folder: string;
  readonly shards: number;
  /** Once aborted, the data stay as they are and the reason is thrown. */
  readonly signal: AbortSignal;
  readonly progress: (items: number, all: number) => void;
}

/** Throws `StoreError`. */
export async function reshardData({
  folder,
  shards,
  signal,
  progress,
}: ReshardData): Promise<Resharded> {
  const stores = await openForReshard(folder, shards, () => newTag(systemRandom));
  try {
    const moved = await reshard({
      ...{ from: stores.from, to: stores.to, random: systemRandom },
      clock: stores.testClock ? new TestClock() : systemClock(),
      progress: async (items, all) => {
        progress(items, all);
        // Otherwise no signal would be noticed.
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
