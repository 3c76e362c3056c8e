// What is opened for one shard: what it keeps, and the upkeep of that.

import type { Store } from "./store.ts";
import type { Transfer } from "./transfer.ts";
import type { Upkeep } from "./upkeep.ts";

export interface Backend {
  /** Closing it closes the rest. */
  readonly store: Store;
  readonly upkeep: Upkeep;
  /** Commits that were acknowledged and are gone, at least; absent = none is known. */
  readonly lostCommits?: number;
}

/** A store as it was opened; a reshard uses all of it. */
export interface OpenedStore extends Backend {
  readonly transfer: Transfer;
}
