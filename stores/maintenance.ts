// Maintenance of a store outside of its turns. A store without files needs none.

export interface StoreSize {
  readonly logBytes: number;
  readonly fileBytes: number;
  /** A commit ran out of disk space, and the reserve for that case is not restored yet. */
  readonly full: boolean;
}

export interface StoredCounts {
  /** Ready and leased items. */
  readonly items: number;
  /** Items scheduled by a producer or by a retry. */
  readonly scheduled: number;
}

/** Every method may throw `StoreError`. */
export interface Maintenance {
  /**
   * Does the work that a commit has deferred, before it would delay a later commit. Call it once a
   * turn is answered.
   */
  relieve(): Promise<void>;
  /** Does one bounded piece of maintenance while the shard is idle; `true` while more is left. */
  tidy(): Promise<boolean>;
  size(): StoreSize;
  /**
   * Writes a synced copy of the committed state into the folder, under the name of the store's
   * file. Returns its size in bytes; `null` if it cannot be written, or the store has no file.
   */
  backup(folder: string): Promise<number | null>;
  /**
   * Counts the items below `nextSeq` of each slot with a tally, for a check at start. `null`:
   * nothing can have been lost, or counting takes too long.
   */
  countItems(): Promise<ReadonlyMap<number, StoredCounts> | null>;
}

export const noMaintenance: Maintenance = {
  relieve: async () => undefined,
  tidy: async () => false,
  size: () => ({ logBytes: 0, fileBytes: 0, full: false }),
  backup: async () => null,
  countItems: async () => null,
};
