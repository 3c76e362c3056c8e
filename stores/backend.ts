// What is opened for one shard: what it keeps, and the upkeep of that.

import type { Store } from "./store.ts";
import type { Upkeep } from "./upkeep.ts";

export interface Backend {
  /** Closing it closes the rest. */
  readonly store: Store;
  readonly upkeep: Upkeep;
  /** Commits that were acknowledged and are gone, at least; absent = none is known. */
  readonly lostCommits?: number;
}
