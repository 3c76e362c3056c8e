// What to know of a reply from which shards are missing.

import type { Context } from "./context.ts";

/** `missing`: what the reply would have of these shards. */
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
