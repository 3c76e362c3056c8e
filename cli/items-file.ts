// The format of a line of an export: a stored item with its partition and state.

import type { StorageItem } from "../client/wire.ts";

export interface ExportedItem extends StorageItem {
  readonly partition: number;
  /** Whether it waited for its `enqueue_at` or a retry. */
  readonly scheduled: boolean;
}
