// A line of an export: the stored item as the server lists it, and where it stood.

import type { StorageItem } from "../client/wire.ts";

export interface ExportedItem extends StorageItem {
  readonly partition: number;
  /** It waited for its `enqueue_at` or a retry. */
  readonly scheduled: boolean;
}
