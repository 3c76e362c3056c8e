// The state, order, load and ownership of shards.

import type { NodesListReply, OverviewShard } from "../../../openapi/schemas.ts";
import type { QueueRow } from "../../state/overview-state.ts";

/** Clients wait for each commit. */
const slowUs = 100_000;

export type ShardCondition = "down" | "full" | "slow" | "damaged" | "healthy";

export function conditionOf(shard: OverviewShard): ShardCondition {
  if (shard.state === "down") return "down";
  if (shard.state === "full") return "full";
  if (shard.quarantined > 0 || shard.miscounted > 0) return "damaged";
  return shard.commit_p99_us >= slowUs ? "slow" : "healthy";
}

const worstFirst: readonly ShardCondition[] = ["down", "full", "damaged", "slow", "healthy"];

/** Trouble comes first, then the number: rows of healthy shards never change places. */
export function inOrder(shards: readonly OverviewShard[]): readonly OverviewShard[] {
  const rank = (shard: OverviewShard) => worstFirst.indexOf(conditionOf(shard));
  return shards.toSorted((a, b) => rank(a) - rank(b) || a.shard - b.shard);
}

export function latencyText(us: number): string {
  if (us === 0) return "–";
  if (us < 1_000) return `${us} µs`;
  return `${(us / 1_000).toFixed(us < 10_000 ? 1 : 0)} ms`;
}

export interface ShardLoad {
  readonly queues: number;
  readonly ready: number;
}

export const noLoad: ShardLoad = { queues: 0, ready: 0 };

/** The key is the number of the shard; shards without queues are absent. */
export function loadsOf(
  rows: Iterable<Pick<QueueRow, "shard" | "ready">>,
): ReadonlyMap<number, ShardLoad> {
  const loads = new Map<number, ShardLoad>();
  for (const { shard, ready } of rows) {
    const load = loads.get(shard) ?? noLoad;
    loads.set(shard, { queues: load.queues + 1, ready: load.ready + ready });
  }
  return loads;
}

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
