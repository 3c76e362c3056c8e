// What stores that are files need beside their turns. A store without files does
// nothing here.

export interface StoreSize {
  readonly logBytes: number;
  readonly fileBytes: number;
  /** There was no room for a commit, and what was set aside for that case is not back yet. */
  readonly full: boolean;
}

export interface StoredCounts {
  /** Ready and leased. */
  readonly items: number;
  /** Scheduled and retried. */
  readonly scheduled: number;
}

/** Every method may throw `StoreError`. */
export interface Upkeep {
  /**
   * To be called when a turn is answered: does what its commit left for later, before
   * that would delay another one.
   */
  relieve(): Promise<void>;
  /** One bounded piece of housekeeping, for a moment without requests; `true` while more is left. */
  tidy(): Promise<boolean>;
  size(): StoreSize;
  /**
   * Writes a copy of all that is committed into the folder, synced, under the name of the
   * store's own file; its bytes. `null`: it cannot be written there, or there is no file.
   */
  backup(folder: string): Promise<number | null>;
  /**
   * What each slot of a tally has below its `nextSeq`, for a start to compare; `null` where
   * nothing can have been lost, or there is too much to count it.
   */
  countItems(): Promise<ReadonlyMap<number, StoredCounts> | null>;
}

export const noUpkeep: Upkeep = {
  relieve: async () => undefined,
  tidy: async () => false,
  size: () => ({ logBytes: 0, fileBytes: 0, full: false }),
  backup: async () => null,
  countItems: async () => null,
};
