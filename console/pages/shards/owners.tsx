import type { ReactNode } from "react";
import type { NodesListReply, OverviewShard } from "../../../openapi/schemas.ts";
import { Empty } from "../../components/empty.tsx";
import { Age } from "../../components/figures.tsx";
import { countText, rateText } from "../../format.ts";
import { hostText } from "./shard-owners.ts";

interface OwnersProps {
  readonly nodes: NodesListReply | undefined;
  /** Those that could be reached. */
  readonly shards: readonly OverviewShard[];
}

/** The owner and the load of each shard of a cluster, how often it was taken over, and when last. */
export function Owners({ nodes, shards }: OwnersProps): ReactNode {
  const loads = new Map(shards.map((one) => [one.shard, one.items_per_second]));
  return (
    <section className="block" aria-labelledby="owners">
      <div className="ph">
        <h2 id="owners">owners</h2>
      </div>
      {nodes !== undefined && nodes.items.length === 0 && (
        <Empty glyph="leased">
          This server is alone. With PostgreSQL and <code>--node-url</code> several servers share
          the shards, and take over those of a server that is gone.
        </Empty>
      )}
      {nodes !== undefined && nodes.items.length > 0 && (
        <table className="mini" aria-labelledby="owners">
          <thead>
            <tr>
              <th scope="col">Shard</th>
              <th scope="col">Owner</th>
              <th scope="col" className="n" title="How often the shard was taken over">
                Epoch
              </th>
              <th scope="col" className="n" title="How long ago the shard was last taken over">
                Moved
              </th>
              <th
                scope="col"
                className="n"
                title="Items written, leased or removed per second, on average over the last minute"
              >
                Items /s
              </th>
            </tr>
          </thead>
          <tbody>
            {nodes.shards.map(({ shard, node, epoch, taken_at: takenAt }) => (
              <tr key={shard}>
                <th scope="row">{shard}</th>
                <td className={node === "" ? "bad" : "mono cut"} title={node}>
                  {hostText(node) || "none"}
                </td>
                <td className="n">{countText(epoch)}</td>
                <td className="n">
                  {takenAt === null ? "never" : <Age at={Date.parse(takenAt)} />}
                </td>
                <td className="n">{rateText(loads.get(shard) ?? null)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
