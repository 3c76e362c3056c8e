import type { ReactNode } from "react";
import type { NodeInfo, OverviewMachine, OverviewShard } from "../../../openapi/schemas.ts";
import { serverHost } from "../../api/base-path.ts";
import { spanText } from "../../format.ts";
import { useMachineNow } from "../../state/server-time.ts";
import { lookOf, tookText } from "./shard-order.ts";
import { hostText } from "./shard-owners.ts";

interface NodesProps {
  readonly shards: readonly OverviewShard[];
  readonly machine: OverviewMachine | undefined;
  readonly nodes: readonly NodeInfo[];
}

export function Nodes({ shards, machine, nodes }: NodesProps): ReactNode {
  const now = useMachineNow();
  if (nodes.length === 0) {
    const title = machine?.name || serverHost || "this machine";
    const up =
      machine && `${machine.version}, up ${spanText(now - Date.parse(machine.started_at))}`;
    return (
      <section className="nodes" aria-label="This machine">
        <div className="node">
          <NodeName title={title} detail={up ?? "–"} />
          <Clamp shards={shards} />
          <Slowest shards={shards} />
          <div className="n">
            {shards.filter(({ state }) => state === "up").length} of {shards.length}
            <small>shards up</small>
          </div>
        </div>
      </section>
    );
  }
  return (
    <section className="nodes" aria-label="Nodes">
      {nodes.map((node) => (
        <NodeRow
          key={node.url}
          node={node}
          shards={shards.filter(({ shard }) => node.shards.includes(shard))}
          nowMs={now}
        />
      ))}
    </section>
  );
}

interface NodeRowProps {
  readonly node: NodeInfo;
  readonly shards: readonly OverviewShard[];
  readonly nowMs: number;
}

function NodeRow({ node, shards, nowMs }: NodeRowProps): ReactNode {
  const { url, version, started_at: started, seen_at: seenAt, draining, live } = node;
  const isOwner = shards.length > 0;
  const duty = live ? "owns no shard" : "no sign of life";
  return (
    <div className="node" data-state={live ? "live" : "gone"}>
      <NodeName
        title={hostText(url)}
        detail={`${version}, here for ${spanText(nowMs - Date.parse(started))}`}
      />
      {isOwner ? <Clamp shards={shards} /> : <div className="clamp empty muted">{duty}</div>}
      {isOwner ? <Slowest shards={shards} /> : <div className="n" />}
      <div className={live ? "n" : "n bad"}>
        {spanText(Math.max(0, nowMs - Date.parse(seenAt)))}
        <small>{draining ? "seen, draining" : "seen"}</small>
      </div>
    </div>
  );
}

function NodeName({
  title,
  detail,
}: {
  readonly title: string;
  readonly detail: string;
}): ReactNode {
  return (
    <div>
      <b className="mono cut">{title}</b>
      <small>{detail}</small>
    </div>
  );
}

/** A square for each shard, in the clamp of its owner. */
function Clamp({ shards }: { readonly shards: readonly OverviewShard[] }): ReactNode {
  return (
    <ol className="clamp" aria-label="Shards that it owns">
      {shards.map((shard) => {
        const look = lookOf(shard);
        const said = look === "well" ? "" : `, ${look}`;
        return (
          <li key={shard.shard} className={`shard s-${look}`}>
            {shard.shard}
            <span className="vh">{said}</span>
          </li>
        );
      })}
    </ol>
  );
}

function Slowest({ shards }: { readonly shards: readonly OverviewShard[] }): ReactNode {
  const worst = Math.max(0, ...shards.map(({ commit_p99_us: p99 }) => p99));
  const isSlow = shards.some((shard) => lookOf(shard) === "slow");
  return (
    <div className={isSlow ? "n warn" : "n"}>
      {tookText(worst)}
      <small>commit p99, the slowest</small>
    </div>
  );
}
