// Which shards of a cluster have an owner.

import type { NodesListReply } from "../../../openapi/schemas.ts";

/** One line if there are shards without a live owner; `null` if there are none. */
export function unownedText({ items, shards }: NodesListReply): string | null {
  const live = new Set(items.flatMap(({ url, live: isLive }) => (isLive ? [url] : [])));
  const unowned = shards.filter(({ node }) => !live.has(node)).map(({ shard }) => shard);
  if (unowned.length === 0) return null;
  if (unowned.length === 1) return `Shard ${unowned[0]} has no live owner: its calls wait for one.`;
  return `Shards ${unowned.join(", ")} have no live owner: their calls wait for one.`;
}

/** A node's URL without its scheme. */
export function hostText(url: string): string {
  return url.replace(/^https?:\/\//, "");
}
