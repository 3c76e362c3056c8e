// Notes that shards are missing from a reply.

import type { Context } from "./context.ts";

/** `missing`: the plural noun of what the reply lacks. */
export function noteUnreached(
  context: Context,
  unreached: readonly number[],
  missing: string,
): void {
  if (unreached.length > 0) context.note(unreachedText(unreached, missing));
}

function unreachedText(shards: readonly number[], missing: string): string {
  const [named, their] = shards.length === 1 ? ["shard", "its"] : ["shards", "their"];
  return `${named} ${shards.join(", ")} could not be reached; ${their} ${missing} are missing`;
}
