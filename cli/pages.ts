// Lists the stored items of a partition page by page.

import type { Client } from "../client/client.ts";
import type { StorageItem } from "../client/wire.ts";
import { bounds } from "../openapi/bounds.ts";

export interface Paging {
  readonly queue: string;
  readonly partition: number;
  /** Lists scheduled items instead of ready and leased ones. */
  readonly scheduled: boolean;
  /** Starts after this id; `""` = from the start. */
  readonly pivot: string;
  /** Items per call. */
  readonly page: number;
}

/** A page may end early, so only a page without new items is the last. */
export async function* pagesOf(
  client: Client,
  { queue, partition, scheduled, page, ...paging }: Paging,
): AsyncGenerator<readonly StorageItem[]> {
  let { pivot } = paging;
  const list = scheduled ? client.listScheduled : client.listItems;
  for (;;) {
    // One more than a page, because the reply includes the pivot.
    const limit = Math.min(page + 1, bounds.storageListMax);
    const { items } = await list({ queue_name: queue, partition, pivot, limit });
    const fresh = items.filter(({ id }) => id !== pivot);
    const last = fresh.at(-1);
    if (last === undefined) return;
    yield fresh;
    pivot = last.id;
  }
}
