// The nodes that share the database with this one.

import type { NodesSeen } from "../../stores/nodes.ts";
import { nodesPage } from "../wire/nodes.ts";
import type { Routes } from "./route.ts";

/** `seen`: absent of a server that is alone. */
export function nodesRoutes(seen: (() => NodesSeen) | undefined): Routes<"listNodes"> {
  return {
    async listNodes() {
      return nodesPage(seen?.());
    },
  };
}
