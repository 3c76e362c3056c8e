// Which shards come first, and what is the matter with each.

import type { OverviewShard } from "../../../openapi/schemas.ts";

/** A commit that takes longer keeps who waits for it waiting. */
const slowUs = 100_000;

export type ShardLook = "down" | "full" | "slow" | "harmed" | "well";

export function lookOf(shard: OverviewShard): ShardLook {
  if (shard.state === "down") return "down";
  if (shard.state === "full") return "full";
  if (shard.quarantined > 0 || shard.miscounted > 0) return "harmed";
  return shard.commit_p99_us >= slowUs ? "slow" : "well";
}

const worstFirst: readonly ShardLook[] = ["down", "full", "harmed", "slow", "well"];

/** By what is the matter, then by number: rows of shards that are well never change places. */
export function inOrder(shards: readonly OverviewShard[]): readonly OverviewShard[] {
  const rank = (shard: OverviewShard) => worstFirst.indexOf(lookOf(shard));
  return shards.toSorted((a, b) => rank(a) - rank(b) || a.shard - b.shard);
}

export function tookText(us: number): string {
  if (us === 0) return "–";
  if (us < 1_000) return `${us} µs`;
  return `${(us / 1_000).toFixed(us < 10_000 ? 1 : 0)} ms`;
}
