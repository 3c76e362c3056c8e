// Routes for the nodes of the cluster.

import type { ClusterView, NodeRow } from "../../stores/nodes.ts";
import { HttpError } from "../http/reply.ts";
import type { DrainRequest } from "../nodes/drain-requests.ts";
import { isGiven } from "../wire/fields.ts";
import { nodeInfo, nodesPage } from "../wire/nodes.ts";
import type { Routes } from "./route.ts";

export interface ClusterNodes {
  /** By database. */
  readonly views: () => readonly ClusterView[];
  readonly requestDrain: (request: DrainRequest) => Promise<NodeRow>;
}

/** `nodes` is absent for a single server. */
export function nodesRoutes(nodes: ClusterNodes | undefined): Routes<"listNodes" | "drainNode"> {
  return {
    async listNodes() {
      return nodesPage(nodes?.views() ?? []);
    },

    async drainNode({ url, draining }) {
      if (nodes === undefined) {
        const message = "server is not a node of a cluster; start it with --node-url";
        throw new HttpError("not_a_node", message);
      }
      const isRequested = isGiven(draining) ? draining : true;
      return nodeInfo(await nodes.requestDrain({ url, isRequested }), nodes.views());
    },
  };
}
