// What is opened for one shard: its items, the catalog as far as it is kept here, and
// the upkeep of both.

import type { CatalogStore } from "./catalog.ts";
import type { Store } from "./store.ts";
import type { Upkeep } from "./upkeep.ts";

export interface Backend {
  /** Closing it closes the rest. */
  readonly store: Store;
  /** That of the first shard is the one in use. */
  readonly catalog: CatalogStore;
  readonly upkeep: Upkeep;
  /** Commits that were acknowledged and are gone, at least; absent = none is known. */
  readonly lostCommits?: number;
}
