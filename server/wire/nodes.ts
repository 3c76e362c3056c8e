// Converts the nodes of a cluster and their shards to replies.

import type * as wire from "../../openapi/schemas.ts";
import type { ClusterView, NodeRow, ShardRow } from "../../stores/nodes.ts";
import { instantText } from "./fields.ts";

/** `views`: by database; empty for a single server. */
export function nodesPage(views: readonly ClusterView[]): wire.NodesListReply {
  const latest = new Map<string, NodeRow>();
  for (const node of views.flatMap((one) => one.nodes)) {
    const other = latest.get(node.url);
    // A node is live if any of the databases shows it as live.
    if (other === undefined || (!other.isLive && node.isLive)) latest.set(node.url, node);
  }
  const nodes = [...latest.values()].toSorted((a, b) => (a.url < b.url ? -1 : 1));
  return {
    items: nodes.map((node) => nodeInfo(node, views)),
    shards: shardsIn(views).map(({ shard, url, epoch, takenAt }) => ({
      shard,
      node: url ?? "",
      epoch,
      taken_at: takenAt === null ? null : instantText(takenAt),
    })),
  };
}

/** `views`: by database. */
export function nodeInfo(node: NodeRow, views: readonly ClusterView[]): wire.NodeInfo {
  const { url, version, startedAt, seenAt, isDraining, isDrainRequested, isLive } = node;
  return {
    url,
    version,
    started_at: instantText(startedAt),
    seen_at: instantText(seenAt),
    shards: shardsIn(views)
      .filter((one) => one.url === url)
      .map(({ shard }) => shard),
    draining: isDraining || isDrainRequested,
    live: isLive,
  };
}

function shardsIn(views: readonly ClusterView[]): ShardRow[] {
  return views.flatMap((one) => one.shards).toSorted((a, b) => a.shard - b.shard);
}
