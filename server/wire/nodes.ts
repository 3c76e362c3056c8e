// The nodes there are, as replies tell them.

import type * as wire from "../../openapi/schemas.ts";
import type { NodesSeen } from "../../stores/nodes.ts";
import { instantText } from "./fields.ts";

export function nodesPage(seen: NodesSeen | undefined): wire.NodesListReply {
  const { nodes = [], owner = null, epoch = 0 } = seen ?? {};
  return {
    items: nodes.map(({ url, version, startedAt, seenAt, isDraining, isLive }) => ({
      url,
      version,
      started_at: instantText(startedAt),
      seen_at: instantText(seenAt),
      owner: owner?.url === url,
      draining: isDraining,
      live: isLive,
    })),
    epoch,
  };
}
