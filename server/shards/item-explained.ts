// Merges what several places know of an item.

import type { ItemExplained } from "../../openapi/schemas.ts";
import { type Outcomes, throwFailure } from "./holder.ts";

/**
 * The reply that has the item, else the one of the shard that issued the id. Throws the failure of a place
 * that may have the item, unless another place has it.
 */
export function bestExplained(outcomes: Outcomes<ItemExplained>): ItemExplained {
  const replies = outcomes.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const found = replies.find(({ item }) => item !== undefined);
  if (found !== undefined) return found;
  throwFailure(outcomes, { effect: "the item may be there" });
  // Only the shard that issued the id says since when it keeps a history. After a reshard that may be
  // several: all that have a queue of the shard that issued it.
  return (
    replies.find(({ history }) => history.length > 0) ??
    replies.find(({ history_since }) => history_since !== null) ??
    (replies[0] as ItemExplained)
  );
}
