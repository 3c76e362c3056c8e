// The metrics that only nodes have, for the tests of alerts, the dashboard and pages.

import { Observations } from "../../engine/model/histogram.ts";
import { Metrics } from "../observability/metrics.ts";

/** The lines about nodes in the /metrics of a node. */
export async function nodeMetrics(): Promise<readonly string[]> {
  const metrics = new Metrics({
    version: "1.2.3",
    status: () => ({ now: 0, durability: "full", waitingLeases: 0, shards: [], queues: [] }),
    node: () => ({
      ...{ held: [0], isTrusted: false, handOvers: 1 },
      takeovers: (["free", "lapsed"] as const).map((reason) => ({
        ...{ reason, count: 1, seconds: new Observations([1]) },
      })),
      forwarded: new Map([["produce", new Observations([1])]]),
      ...{ peersUp: 1, nodes: 2 },
    }),
  });
  const text = await metrics.render({ requestsInFlight: 0, bodyBytesInFlight: 0 });
  return text.split("\n").filter((line) => /\bholdfast_nodes?\b|\bholdfast_node_/.test(line));
}
