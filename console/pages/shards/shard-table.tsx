import { type ReactNode, useMemo } from "react";
import type { OverviewShard } from "../../../openapi/schemas.ts";
import { Sparkline } from "../../components/chart/sparkline.tsx";
import { type Column, Table } from "../../components/table/table.tsx";
import { bytesText, countText, rateText, spanText } from "../../format.ts";
import type { QueueRow } from "../../state/overview-state.ts";
import { useServerNow } from "../../state/server-time.ts";
import { useShardHistory } from "./shard-history.ts";
import {
  conditionOf,
  inOrder,
  latencyText,
  loadsOf,
  noLoad,
  type ShardCondition,
  type ShardLoad,
} from "./shards.ts";

interface Row {
  readonly of: OverviewShard;
  readonly load: ShardLoad;
  readonly look: ShardCondition;
  /** How many shards are shown. */
  readonly shown: number;
}

/** A column of counts: 0 is faint, others may alarm. */
function counts(countOf: (row: Row) => number, look?: "bad" | "warn") {
  return {
    className: "n",
    look: (row: Row) => (countOf(row) === 0 ? "z" : look),
    cell: (row: Row) => countText(countOf(row)),
  };
}

const columns: readonly Column<Row>[] = [
  { title: "Shard", isHeading: true, cell: ({ of }) => of.shard },
  {
    title: "State",
    className: "c-state",
    look: ({ look }) => (look === "down" ? "bad" : look === "full" ? "warn" : "muted"),
    cell: ({ of }) => <State of={of} />,
  },
  { title: "Queues", meaning: "Queues that live in it", ...counts(({ load }) => load.queues) },
  { title: "Ready", meaning: "Ready items of its queues", ...counts(({ load }) => load.ready) },
  {
    title: "Commits /s",
    className: "n",
    meaning: "Commits per second, in the last ten seconds",
    cell: (row) => <CommitRate of={row} />,
  },
  {
    title: "15 m",
    className: "c-past",
    meaning: "Commits of the last 15 minutes",
    cell: (row) => <History of={row} line="commits" />,
  },
  { title: "Waiting", meaning: "Requests without an answer", ...counts(({ of }) => of.waiting) },
  {
    title: "p50",
    className: "n",
    meaning: "Half of the commits of the last minute took at most this long",
    cell: ({ of }) => latencyText(of.commit_p50_us),
  },
  {
    title: "p99",
    className: "n",
    meaning: "99 of 100 commits of the last minute took at most this long",
    cell: ({ of }) => latencyText(of.commit_p99_us),
    look: ({ look }) => look === "slow" && "warn",
  },
  {
    title: "p99, 15 m",
    className: "c-past",
    meaning: "p99 of every ten seconds",
    cell: (row) => <History of={row} line="p99Us" />,
  },
  {
    title: "File",
    className: "n",
    meaning: "Size of its file",
    cell: ({ of }) => bytesText(of.file_bytes),
  },
  {
    title: "Log",
    className: "n",
    meaning: "Size of its log",
    cell: ({ of }) => bytesText(of.log_bytes),
  },
  {
    title: "Failures",
    meaning: "Commits that failed since the server was started",
    ...counts(({ of }) => of.failures, "warn"),
  },
  {
    title: "Restarts",
    meaning: "Attempts to open its store again after it failed",
    ...counts(({ of }) => of.restarts, "warn"),
  },
  {
    title: "Set aside",
    meaning: "Damaged items that were set aside",
    ...counts(({ of }) => of.quarantined, "bad"),
  },
  {
    title: "Miscounted",
    meaning: "Items that a start found missing, or too many",
    ...counts(({ of }) => of.miscounted, "bad"),
  },
];

interface ShardTableProps {
  readonly shards: readonly OverviewShard[];
  readonly queues: ReadonlyMap<string, QueueRow> | undefined;
}

export function ShardTable({ shards, queues }: ShardTableProps): ReactNode {
  const loads = useMemo(() => loadsOf(queues?.values() ?? []), [queues]);
  const shown = shards.length;
  return (
    <section aria-label="Every shard">
      <Table
        className="table shard-table fields"
        label="Shards"
        columns={columns}
        rows={inOrder(shards).map((of) => {
          return { of, load: loads.get(of.shard) ?? noLoad, look: conditionOf(of), shown };
        })}
        keyOf={({ of }) => of.shard}
      />
      <p className="under">Shards with trouble come first, then the others by number.</p>
    </section>
  );
}

function State({ of: { state, since } }: { readonly of: OverviewShard }): ReactNode {
  const now = useServerNow();
  return since === null ? state : `${state} for ${spanText(now - Date.parse(since))}`;
}

function CommitRate({ of: { of, shown } }: { readonly of: Row }): ReactNode {
  return rateText(useShardHistory(of.shard, shown).commits.at(-1) ?? null);
}

interface HistoryProps {
  readonly of: Row;
  readonly line: "commits" | "p99Us";
}

function History({ of: { of, look, shown }, line }: HistoryProps): ReactNode {
  const history = useShardHistory(of.shard, shown);
  const isHot = line === "p99Us" && look === "slow";
  return <Sparkline lines={[history[line]]} {...(isHot && { look: "hot" })} />;
}
