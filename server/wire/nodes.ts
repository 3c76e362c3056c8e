// Converts the nodes of a cluster and their shards to replies.

import type * as wire from "../../openapi/schemas.ts";
import type { NodeRow, NodesSeen, ShardRow } from "../../stores/nodes.ts";
import { instantText } from "./fields.ts";

/** `seen`: by database; empty for a single server. */
export function nodesPage(seen: readonly NodesSeen[]): wire.NodesListReply {
  const latest = new Map<string, NodeRow>();
  for (const node of seen.flatMap((one) => one.nodes)) {
    const other = latest.get(node.url);
    // A node is live if any of the databases shows it as live.
    if (other === undefined || (!other.isLive && node.isLive)) latest.set(node.url, node);
  }
  const nodes = [...latest.values()].toSorted((a, b) => (a.url < b.url ? -1 : 1));
  return {
    items: nodes.map((node) => nodeInfo(node, seen)),
    shards: shardsIn(seen).map(({ shard, url, epoch, takenAt }) => ({
      shard,
      node: url ?? "",
      epoch,
      taken_at: takenAt === null ? null : instantText(takenAt),
    })),
  };
}

/** `seen`: by database. */
export function nodeInfo(node: NodeRow, seen: readonly NodesSeen[]): wire.NodeInfo {
  const { url, version, startedAt, seenAt, isDraining, isDrainRequested, isLive } = node;
  return {
    url,
    version,
    started_at: instantText(startedAt),
    seen_at: instantText(seenAt),
    shards: shardsIn(seen)
      .filter((one) => one.url === url)
      .map(({ shard }) => shard),
    draining: isDraining || isDrainRequested,
    live: isLive,
  };
}

function shardsIn(seen: readonly NodesSeen[]): ShardRow[] {
  return seen.flatMap((one) => one.shards).toSorted((a, b) => a.shard - b.shard);
}
