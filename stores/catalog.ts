// The seam of what keeps the definitions of all queues. It changes seldom and as a
// whole: each change makes the next version, and whoever goes by an older one is refused.

import type { CatalogEntry } from "./queue.ts";

export interface CatalogImage {
  /** 0 = nothing was ever written. */
  readonly version: number;
  readonly entries: readonly CatalogEntry[];
}

export interface CatalogChange {
  /** What the change makes: one more than the version it was planned on. */
  readonly version: number;
  /** Replaced by `queueId`. */
  readonly put: readonly CatalogEntry[];
  readonly remove: readonly number[];
}

/** Both methods may throw `StoreError`. */
export interface CatalogStore {
  load(): Promise<CatalogImage>;
  /**
   * Applies every change or none; resolves once it would survive what the durability
   * promises. `false`: the stored version is not the one that comes before.
   */
  write(change: CatalogChange): Promise<boolean>;
}
