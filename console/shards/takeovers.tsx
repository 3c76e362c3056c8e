import type { ReactNode } from "react";
import type { NodesListReply } from "../../openapi/schemas.ts";
import { many } from "../format.ts";
import { Empty } from "../parts/empty.tsx";

/** What is told of takeovers is their count and who has the shards now. */
export function Takeovers({ nodes }: { readonly nodes: NodesListReply | undefined }): ReactNode {
  const owner = nodes?.items.find((node) => node.owner);
  return (
    <section className="block" aria-labelledby="takeovers">
      <div className="ph">
        <h2 id="takeovers">takeovers</h2>
      </div>
      {nodes !== undefined && nodes.items.length === 0 && (
        <Empty glyph="leased">
          This server is alone. With PostgreSQL and <code>--node-url</code> others stand by, and one
          of them takes the shards over when it is gone.
        </Empty>
      )}
      {nodes !== undefined && nodes.items.length > 0 && (
        <p className="muted">
          The shards were taken over {many(nodes.epoch, "time", "times")}.{" "}
          {owner ? (
            <>
              <b className="mono">{owner.url}</b> has them now.
            </>
          ) : (
            "Nobody has them now."
          )}
        </p>
      )}
    </section>
  );
}
