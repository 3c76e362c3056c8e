import { type ReactNode, useMemo } from "react";
import type { OverviewShard } from "../../../openapi/schemas.ts";
import { Spark } from "../../components/chart/sparkline.tsx";
import { bytesText, countText, rateText, spanText } from "../../format.ts";
import type { QueueRow } from "../../state/overview-state.ts";
import { useServerNow } from "../../state/server-time.ts";
import { type ShardHistory, useShardHistory } from "./shard-history.ts";
import { loadsOf, noLoad, type ShardLoad } from "./shard-loads.ts";
import { inOrder, lookOf, type ShardLook, tookText } from "./shard-order.ts";

interface ShardTableProps {
  readonly shards: readonly OverviewShard[];
  readonly queues: ReadonlyMap<string, QueueRow> | undefined;
}

export function ShardTable({ shards, queues }: ShardTableProps): ReactNode {
  const loads = useMemo(() => loadsOf(queues?.values() ?? []), [queues]);
  return (
    <section aria-label="Every shard">
      <table className="table shard-table fields" aria-label="Shards">
        <thead>
          <tr>
            <th scope="col">Shard</th>
            <th scope="col" className="c-state">
              State
            </th>
            {columns.map(({ title, meaning, isPast = false }) => (
              <th scope="col" key={title} className={isPast ? "c-past" : "n"} title={meaning}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {inOrder(shards).map((shard) => (
            <ShardRow
              key={shard.shard}
              of={shard}
              load={loads.get(shard.shard) ?? noLoad}
              shown={shards.length}
            />
          ))}
        </tbody>
      </table>
      <p className="under">What is wrong comes first, then the shards by number.</p>
    </section>
  );
}

/** A shard as it is now, and what it did in the last 15 minutes. */
interface Told extends ShardHistory {
  readonly of: OverviewShard;
  readonly load: ShardLoad;
  readonly look: ShardLook;
}

interface Column {
  readonly title: string;
  readonly meaning: string;
  readonly isPast?: boolean;
  readonly cell: (told: Told) => ReactNode;
  readonly look?: (told: Told) => string;
}

const zero = (count: number, look = "") => (count === 0 ? "z" : look);

const columns: readonly Column[] = [
  {
    title: "Queues",
    meaning: "Queues that live in it",
    cell: ({ load }) => countText(load.queues),
    look: ({ load }) => zero(load.queues),
  },
  {
    title: "Ready",
    meaning: "Ready items of its queues",
    cell: ({ load }) => countText(load.ready),
    look: ({ load }) => zero(load.ready),
  },
  {
    title: "Commits /s",
    meaning: "Commits a second, in the last ten seconds",
    cell: ({ commits }) => rateText(commits.at(-1) ?? null),
  },
  {
    title: "15 m",
    meaning: "Commits of the last 15 minutes",
    isPast: true,
    cell: ({ commits }) => <Spark lines={[commits]} />,
  },
  {
    title: "Waiting",
    meaning: "Requests that it has not answered",
    cell: ({ of }) => countText(of.waiting),
    look: ({ of }) => zero(of.waiting),
  },
  {
    title: "p50",
    meaning: "Half of the commits of the last minute took at most this long",
    cell: ({ of }) => tookText(of.commit_p50_us),
  },
  {
    title: "p99",
    meaning: "99 of 100 commits of the last minute took at most this long",
    cell: ({ of }) => tookText(of.commit_p99_us),
    look: ({ look }) => (look === "slow" ? "warn" : ""),
  },
  {
    title: "p99, 15 m",
    meaning: "p99 of every ten seconds",
    isPast: true,
    cell: ({ p99Us, look }) => <Spark lines={[p99Us]} {...(look === "slow" && { look: "hot" })} />,
  },
  { title: "File", meaning: "Size of its file", cell: ({ of }) => bytesText(of.file_bytes) },
  { title: "Log", meaning: "Size of its log", cell: ({ of }) => bytesText(of.log_bytes) },
  {
    title: "Failures",
    meaning: "Commits that failed since the server was started",
    cell: ({ of }) => countText(of.failures),
    look: ({ of }) => zero(of.failures, "warn"),
  },
  {
    title: "Restarts",
    meaning: "Attempts to open its store again after it failed",
    cell: ({ of }) => countText(of.restarts),
    look: ({ of }) => zero(of.restarts, "warn"),
  },
  {
    title: "Set aside",
    meaning: "Damaged items that were set aside",
    cell: ({ of }) => countText(of.quarantined),
    look: ({ of }) => zero(of.quarantined, "bad"),
  },
  {
    title: "Miscounted",
    meaning: "Items that a start found missing, or too many",
    cell: ({ of }) => countText(of.miscounted),
    look: ({ of }) => zero(of.miscounted, "bad"),
  },
];

interface ShardRowProps {
  readonly of: OverviewShard;
  readonly load: ShardLoad;
  readonly shown: number;
}

function ShardRow({ of, load, shown }: ShardRowProps): ReactNode {
  const now = useServerNow();
  const look = lookOf(of);
  const told = { of, load, look, ...useShardHistory(of.shard, shown) };
  const { shard, state, since } = of;
  const stateText = since === null ? state : `${state} for ${spanText(now - Date.parse(since))}`;
  return (
    <tr>
      <th scope="row" data-l="Shard">
        {shard}
      </th>
      <td data-l="State" className={look === "down" ? "bad" : look === "full" ? "warn" : "muted"}>
        {stateText}
      </td>
      {columns.map(({ title, isPast = false, cell, look: lookIn }) => (
        <td key={title} data-l={title} className={isPast ? "c-past" : `n ${lookIn?.(told) ?? ""}`}>
          {cell(told)}
        </td>
      ))}
    </tr>
  );
}
