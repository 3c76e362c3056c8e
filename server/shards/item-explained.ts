// Merges the explanations of an item by several shards.

import type { ItemExplained } from "../../openapi/schemas.ts";
import { type Outcomes, throwFailure } from "./holder.ts";

/**
 * Returns the reply that contains the item, or else that of the shard that has the partition of
 * the id. If no shard has the item, throws the failure of a shard that may have it.
 */
export function bestExplained(outcomes: Outcomes<ItemExplained>): ItemExplained {
  const replies = outcomes.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const found = replies.find(({ item }) => item !== undefined);
  if (found !== undefined) return found;
  throwFailure(outcomes, { effect: "the item may be there" });
  return (
    replies.find(({ history }) => history.length > 0) ??
    // Only that shard reports `history_since`.
    replies.find(({ history_since }) => history_since !== null) ??
    (replies[0] as ItemExplained)
  );
}
