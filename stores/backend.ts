// An opened store with its maintenance, and what a reshard needs to replace stores.

import type { Maintenance } from "./maintenance.ts";
import type { Store } from "./store.ts";
import type { Transfer } from "./transfer.ts";

export interface Backend {
  /** Closing it closes the whole backend. */
  readonly store: Store;
  readonly maintenance: Maintenance;
  /** Lower bound of the acknowledged commits that are lost; absent = none known. */
  readonly lostCommits?: number;
}

/** A backend that a reshard can read or write. */
export interface TransferableStore extends Backend {
  readonly transfer: Transfer;
}

/** The stores of all shards, and the new ones that will replace them. */
export interface Replacement {
  readonly from: readonly TransferableStore[];
  readonly to: readonly TransferableStore[];
  readonly testClock: boolean;
  /** Throws `full` if the disk is known to lack room for the old stores' size plus `moreBytes`. */
  requireRoom(moreBytes: number): void;
  /** Closes all stores and puts the new ones in place. */
  replace(): Promise<void>;
  /** Closes all stores. The old ones are left as they were, unless they have been replaced. */
  close(): Promise<void>;
}
