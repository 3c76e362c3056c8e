import type { ReactNode } from "react";
import type {
  NodeInfo,
  NodesListReply,
  OverviewMachine,
  OverviewShard,
} from "../../../openapi/schemas.ts";
import { serverHost } from "../../api/base-path.ts";
import { Empty } from "../../components/empty.tsx";
import { Age } from "../../components/figures.tsx";
import { Section } from "../../components/section.tsx";
import { type Column, Table } from "../../components/table/table.tsx";
import { countText, rateText, spanText } from "../../format.ts";
import { useMachineNow } from "../../state/server-time.ts";
import { conditionOf, hostText, latencyText } from "./shards.ts";

interface NodesProps {
  readonly shards: readonly OverviewShard[];
  readonly machine: OverviewMachine | undefined;
  readonly nodes: readonly NodeInfo[];
}

export function Nodes({ shards, machine, nodes }: NodesProps): ReactNode {
  const now = useMachineNow();
  if (nodes.length === 0) {
    const up =
      machine && `${machine.version}, up ${spanText(now - Date.parse(machine.started_at))}`;
    return (
      <section className="nodes" aria-label="This machine">
        <NodeRow
          title={machine?.name || serverHost || "this machine"}
          detail={up ?? "–"}
          shards={shards}
          isLive
          figure={`${shards.filter(({ state }) => state === "up").length} of ${shards.length}`}
          meaning="shards up"
        />
      </section>
    );
  }
  return (
    <section className="nodes" aria-label="Nodes">
      {nodes.map((node) => (
        <NodeRow
          key={node.url}
          title={hostText(node.url)}
          detail={`${node.version}, joined ${spanText(now - Date.parse(node.started_at))} ago`}
          shards={shards.filter(({ shard }) => node.shards.includes(shard))}
          isLive={node.live}
          figure={spanText(Math.max(0, now - Date.parse(node.seen_at)))}
          meaning={node.draining ? "seen, draining" : "seen"}
        />
      ))}
    </section>
  );
}

interface NodeRowProps {
  readonly title: string;
  readonly detail: string;
  readonly shards: readonly OverviewShard[];
  readonly isLive: boolean;
  readonly figure: string;
  readonly meaning: string;
}

function NodeRow({ title, detail, shards, isLive, figure, meaning }: NodeRowProps): ReactNode {
  return (
    <div className="node" data-state={isLive ? "live" : "gone"}>
      <div>
        <b className="mono cut">{title}</b>
        <small>{detail}</small>
      </div>
      {shards.length > 0 ? (
        <Clamp shards={shards} />
      ) : (
        <div className="clamp empty muted">{isLive ? "owns no shard" : "no sign of life"}</div>
      )}
      {shards.length > 0 ? <Slowest shards={shards} /> : <div className="n" />}
      <div className={isLive ? "n" : "n bad"}>
        {figure}
        <small>{meaning}</small>
      </div>
    </div>
  );
}

/** A square for each shard, in the clamp of its owner. */
function Clamp({ shards }: { readonly shards: readonly OverviewShard[] }): ReactNode {
  return (
    <ol className="clamp" aria-label="Shards that it owns">
      {shards.map((shard) => {
        const look = conditionOf(shard);
        const words = look === "healthy" ? "" : `, ${look}`;
        return (
          <li key={shard.shard} className={`shard s-${look}`}>
            {shard.shard}
            <span className="vh">{words}</span>
          </li>
        );
      })}
    </ol>
  );
}

function Slowest({ shards }: { readonly shards: readonly OverviewShard[] }): ReactNode {
  const worst = Math.max(0, ...shards.map(({ commit_p99_us: p99 }) => p99));
  const isSlow = shards.some((shard) => conditionOf(shard) === "slow");
  return (
    <div className={isSlow ? "n warn" : "n"}>
      {latencyText(worst)}
      <small>commit p99, the slowest</small>
    </div>
  );
}

type Ownership = NodesListReply["shards"][number] & { readonly itemsPerSecond: number | null };

const columns: readonly Column<Ownership>[] = [
  { title: "Shard", isHeading: true, cell: ({ shard }) => shard },
  {
    title: "Owner",
    look: ({ node }) => (node === "" ? "bad" : "mono cut"),
    hint: ({ node }) => node,
    cell: ({ node }) => hostText(node) || "none",
  },
  {
    title: "Epoch",
    className: "n",
    meaning: "How often the shard was taken over",
    cell: ({ epoch }) => countText(epoch),
  },
  {
    title: "Moved",
    className: "n",
    meaning: "How long ago the shard was last taken over",
    cell: ({ taken_at: at }) => (at === null ? "never" : <Age at={Date.parse(at)} />),
  },
  {
    title: "Items /s",
    className: "n",
    meaning: "Items written, leased or removed per second, on average over the last minute",
    cell: ({ itemsPerSecond }) => rateText(itemsPerSecond),
  },
];

interface OwnersProps {
  readonly nodes: NodesListReply | undefined;
  /** Shards that could be reached. */
  readonly shards: readonly OverviewShard[];
}

/** The owner and the load of each shard of a cluster, how often it was taken over, and when last. */
export function Owners({ nodes, shards }: OwnersProps): ReactNode {
  const loads = new Map(shards.map((one) => [one.shard, one.items_per_second]));
  return (
    <Section className="block" id="owners" title="owners">
      {nodes?.items.length === 0 && (
        <Empty glyph="leased">
          This server is alone. With PostgreSQL and <code>--node-url</code> several servers share
          the shards, and take over those of a server that is gone.
        </Empty>
      )}
      {nodes !== undefined && nodes.items.length > 0 && (
        <Table
          className="mini"
          label="owners"
          columns={columns}
          rows={nodes.shards.map((one) => ({
            ...one,
            itemsPerSecond: loads.get(one.shard) ?? null,
          }))}
          keyOf={({ shard }) => shard}
        />
      )}
    </Section>
  );
}
