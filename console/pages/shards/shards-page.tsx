// The nodes, the shards that each of them owns, and the state of each shard.

import type { ReactNode } from "react";
import { useAsked } from "../../api/use-query.ts";
import { PageTitle } from "../../components/page-title.tsx";
import { Fault } from "../../components/refusal.tsx";
import { Unreached } from "../../components/unreached.tsx";
import { useObserved } from "../../state/observable.ts";
import { pollNow, seen } from "../../state/overview-poll.ts";
import { Gauges } from "./capacity.tsx";
import { Loss } from "./lost-commits.tsx";
import { Nodes } from "./nodes.tsx";
import { Owners } from "./owners.tsx";
import { unownedText } from "./shard-owners.ts";
import { ShardTable } from "./shard-table.tsx";

const nodesMs = 2_000;

export function ShardsPage(): ReactNode {
  const { overview, refused } = useObserved(seen);
  const nodes = useAsked("listNodes", {}, { everyMs: nodesMs });
  if (overview === null && refused !== null) {
    return (
      <>
        <PageTitle of="Shards" />
        <header className="head">
          <h1>Shards</h1>
        </header>
        <Fault of={refused} what="The shards are not shown." onRetry={pollNow} />
      </>
    );
  }
  const shards = overview?.shards ?? [];
  // Below a list of unknown length nothing has its place.
  const isKnown = overview !== null && (nodes.data !== undefined || nodes.error !== null);
  const isAlone = nodes.data === undefined || nodes.data.items.length === 0;
  const unowned = nodes.data === undefined ? null : unownedText(nodes.data);
  return (
    <>
      <PageTitle of="Shards" />
      <header className="head">
        <h1>Shards</h1>
        <span className="muted">
          {isAlone
            ? "This machine is a clamp, and holds all of them."
            : "A node is a clamp, and holds the shards that it owns."}
        </span>
        <span className="end muted">{overview?.machine.store}</span>
      </header>
      {nodes.error !== null && nodes.data === undefined && (
        <Fault
          of={nodes.error}
          what="The nodes are not known."
          onRetry={() => void nodes.refetch()}
        />
      )}
      <Nodes shards={shards} machine={overview?.machine} nodes={nodes.data?.items ?? []} />
      {unowned !== null && (
        <p className="unowned bad" role="status">
          {unowned}
        </p>
      )}
      <Unreached />
      <div className={isKnown ? undefined : "unknown"}>
        <Loss alarms={overview?.alarms ?? []} />
        <ShardTable shards={shards} queues={overview?.queues} />
        <div className="two">
          <Gauges machine={overview?.machine} shards={shards} />
          <Owners nodes={nodes.data} shards={shards} />
        </div>
      </div>
    </>
  );
}
