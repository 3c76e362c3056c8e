// Renders a page of stored items.

import type { StoredItem } from "../../engine/api.ts";
import { mapInPieces } from "../pieces.ts";
import { storageItem } from "../wire/storage.ts";

/** The reply's JSON, as `JSON.stringify` would write it. */
export async function pageText(items: readonly StoredItem[]): Promise<string> {
  const texts = await mapInPieces(
    items,
    ({ payload }) => payload.length,
    (item) => JSON.stringify(storageItem(item)),
  );
  return `{"items":[${texts.join(",")}]}`;
}
