// What a node tells beyond a server that is alone, for those who look whether alerts, dashboard
// and pages know it.

import { Observations } from "../../engine/model/histogram.ts";
import { Metrics } from "../metrics.ts";

/** The lines of /metrics of one node of several, without shards. */
export async function nodeMetrics(): Promise<readonly string[]> {
  const metrics = new Metrics({
    version: "1.2.3",
    status: () => ({ now: 0, durability: "full", waitingLeases: 0, shards: [], queues: [] }),
    node: () => ({
      ...{ isOwner: false, isTrusted: false, epoch: 1 },
      takeovers: [{ reason: "free", count: 1, seconds: new Observations([1]) }],
      forwarded: new Map([["produce", new Observations([1])]]),
      ...{ peersUp: 1, nodes: 2 },
    }),
  });
  const text = await metrics.render({ requestsInFlight: 0, bodyBytesInFlight: 0 });
  return text.split("\n").filter((line) => /\bholdfast_nodes?\b|\bholdfast_node_/.test(line));
}
