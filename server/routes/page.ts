// Renders a page of items.

import { mapInPieces } from "../http/body/pieces.ts";
import { PageText } from "./route.ts";

/** Renders the items in pieces, so that other requests are served meanwhile. */
export async function pageOf<Item extends { readonly payload: Uint8Array }>(
  items: readonly Item[],
  render: (item: Item) => object,
  rest: object = {},
): Promise<PageText> {
  const payloadBytes = ({ payload }: Item) => payload.length;
  const texts = await mapInPieces(items, payloadBytes, (item) => JSON.stringify(render(item)));
  return new PageText(texts, rest);
}
