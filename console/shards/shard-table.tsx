import type { ReactNode } from "react";
import type { OverviewShard } from "../../openapi/schemas.ts";
import { bytesText, countText, rateText, spanText } from "../format.ts";
import { Spark } from "../parts/spark.tsx";
import { useServerNow } from "../time.ts";
import { useShardHistory } from "./shard-history.ts";
import { inOrder, lookOf, tookText } from "./shard-order.ts";

interface ShardTableProps {
  readonly shards: readonly OverviewShard[];
}

interface Column {
  readonly title: string;
  readonly meaning: string;
  readonly className?: string;
}

const columns: readonly Column[] = [
  { title: "Commits /s", meaning: "Commits a second, in the last ten seconds" },
  { title: "15 m", meaning: "Commits of the last 15 minutes", className: "c-past" },
  { title: "p50", meaning: "Half of the commits of the last minute took at most this long" },
  { title: "p99", meaning: "99 of 100 commits of the last minute took at most so long" },
  { title: "p99, 15 m", meaning: "That of every ten seconds", className: "c-past" },
  { title: "Waiting", meaning: "Requests that it has not answered" },
  { title: "File", meaning: "Size of its file" },
  { title: "Log", meaning: "Size of its log" },
  { title: "Failures", meaning: "Commits that failed since the server was started" },
  { title: "Restarts", meaning: "Times that it was started again" },
  { title: "Set aside", meaning: "Damaged items that were set aside" },
  { title: "Miscounted", meaning: "Items that a start found missing, or too many" },
];

export function ShardTable({ shards }: ShardTableProps): ReactNode {
  return (
    <section aria-label="Every shard">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls where there is no room. */}
      <section className="scrolls-x" tabIndex={0} aria-label="Shards, scrolls">
        <table className="table shard-table" aria-label="Shards">
          <thead>
            <tr>
              <th scope="col">Shard</th>
              <th scope="col" className="c-state">
                State
              </th>
              {columns.map(({ title, meaning, className = "n" }) => (
                <th scope="col" key={title} className={className} title={meaning}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {inOrder(shards).map((shard) => (
              <ShardRow key={shard.shard} shard={shard} shown={shards.length} />
            ))}
          </tbody>
        </table>
      </section>
      <p className="under">What is wrong comes first, then the shards by number.</p>
    </section>
  );
}

interface ShardRowProps {
  readonly shard: OverviewShard;
  readonly shown: number;
}

function ShardRow({ shard: of, shown }: ShardRowProps): ReactNode {
  const now = useServerNow();
  const { commits, p99Us } = useShardHistory(of.shard, shown);
  const look = lookOf(of);
  const { shard, state, since, commit_p50_us: p50, commit_p99_us: p99, waiting } = of;
  const stateText = since === null ? state : `${state} for ${spanText(now - Date.parse(since))}`;
  return (
    <tr>
      <th scope="row">{shard}</th>
      <td className={look === "down" ? "bad" : look === "full" ? "warn" : "muted"}>{stateText}</td>
      <td className="n">{rateText(commits.at(-1) ?? null)}</td>
      <td className="c-past">
        <Spark lines={[commits]} />
      </td>
      <td className="n">{tookText(p50)}</td>
      <td className={look === "slow" ? "n warn" : "n"}>{tookText(p99)}</td>
      <td className="c-past">
        <Spark lines={[p99Us]} {...(look === "slow" && { look: "hot" })} />
      </td>
      <Count of={waiting} />
      <td className="n">{bytesText(of.file_bytes)}</td>
      <td className="n">{bytesText(of.log_bytes)}</td>
      <Count of={of.failures} look="warn" />
      <Count of={of.restarts} look="warn" />
      <Count of={of.quarantined} look="bad" />
      <Count of={of.miscounted} look="bad" />
    </tr>
  );
}

interface CountProps {
  readonly of: number;
  /** Where there are any. */
  readonly look?: "warn" | "bad";
}

function Count({ of, look }: CountProps): ReactNode {
  return <td className={of === 0 ? "n z" : `n ${look ?? ""}`}>{countText(of)}</td>;
}
