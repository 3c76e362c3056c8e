// Merges pages of `queues.list`.

import type { QueuesListReply } from "../../openapi/schemas.ts";

/** `replies`: pages of different queues with one pivot and limit. Returns their merged page. */
export function mergeQueues(
  replies: readonly Pick<QueuesListReply, "items">[],
  { limit }: { readonly limit: number },
): Pick<QueuesListReply, "items"> {
  const items = replies.flatMap((reply) => reply.items);
  items.sort((a, b) => (a.queue_name < b.queue_name ? -1 : 1));
  return { items: items.slice(0, limit) };
}
