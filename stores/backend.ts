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
export interface TransferableStore extends Backend {
  readonly transfer: Transfer;
}

/** All stores of some shards, and new ones that are to take their place. */
export interface Replacement {
  readonly from: readonly TransferableStore[];
  readonly to: readonly TransferableStore[];
  readonly testClock: boolean;
  /** Throws `full` if it is known that the new stores cannot take so many bytes more than the old ones. */
  requireRoom(moreBytes: number): void;
  /** Closes all stores and makes the new ones the data. */
  replace(): Promise<void>;
  /** Closes all stores and leaves the old ones as they were, unless they are replaced. */
  close(): Promise<void>;
}
