// The nodes, the shards that each of them owns, and the state of each shard.

import type { ReactNode } from "react";
import type { NodesListReply } from "../../../openapi/schemas.ts";
import { useQuery } from "../../api/use-query.ts";
import { PageHead } from "../../components/frame/page-head.tsx";
import { Unreached } from "../../components/frame/unreached.tsx";
import { Fault, QueryFault } from "../../components/refusal.tsx";
import { pollNow, usePoll } from "../../state/overview-poll.ts";
import { Capacity } from "./capacity.tsx";
import { LostCommits } from "./lost-commits.tsx";
import { Nodes, Owners } from "./nodes.tsx";
import { ShardTable } from "./shard-table.tsx";
import { unownedText } from "./shards.ts";

const nodesMs = 2_000;

export function ShardsPage(): ReactNode {
  const { overview, refused } = usePoll();
  const nodes = useQuery("listNodes", {}, { everyMs: nodesMs });
  const head = (
    <PageHead title="Shards">{subtitleOf(nodes.data, overview?.machine.store)}</PageHead>
  );
  if (overview === null && refused !== null) {
    return (
      <>
        {head}
        <Fault of={refused} what="The shards are not shown." onRetry={pollNow} />
      </>
    );
  }
  const shards = overview?.shards ?? [];
  // Content below a list of unknown length would move.
  const isKnown = overview !== null && (nodes.data !== undefined || nodes.error !== null);
  const unowned = nodes.data === undefined ? null : unownedText(nodes.data);
  return (
    <>
      {head}
      {nodes.data === undefined && <QueryFault of={nodes} what="The nodes are not known." />}
      <Nodes shards={shards} machine={overview?.machine} nodes={nodes.data?.items ?? []} />
      {unowned !== null && (
        <p className="unowned bad" role="status">
          {unowned}
        </p>
      )}
      <Unreached />
      <div className={isKnown ? undefined : "unknown"}>
        <LostCommits alarms={overview?.alarms ?? []} />
        <ShardTable shards={shards} queues={overview?.queues} />
        <div className="two">
          <Capacity machine={overview?.machine} shards={shards} />
          <Owners nodes={nodes.data} shards={shards} />
        </div>
      </div>
    </>
  );
}

function subtitleOf(nodes: NodesListReply | undefined, store: string | undefined): ReactNode {
  const isAlone = nodes === undefined || nodes.items.length === 0;
  return (
    <>
      <span className="muted">
        {isAlone
          ? "The clamp is this machine, with all of the shards."
          : "A clamp is a node, with the shards that it owns."}
      </span>
      <span className="end muted">{store}</span>
    </>
  );
}
