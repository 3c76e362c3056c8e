import { Fragment, type ReactNode, useMemo, useState } from "react";
import { Link, useNavigate } from "react-router";
import { itemsAddress } from "../../../addresses.ts";
import { useQuery } from "../../../api/use-query.ts";
import { QueryFault } from "../../../components/refusal.tsx";
import { Section } from "../../../components/section.tsx";
import { Segments } from "../../../components/segments.tsx";
import { type Column, Table } from "../../../components/table/table.tsx";
import { useAddress } from "../../../components/use-address.ts";
import { countText, plural, spanText } from "../../../format.ts";
import { serverNow } from "../../../state/server-time.ts";
import type { QueueState } from "../queue-state.ts";
import { PartitionHeatmap } from "./partition-heatmap.tsx";
import {
  barsMax,
  type FigureId,
  figures,
  fullest,
  noPartitions,
  type PartitionColumns,
  partitionsOf,
} from "./partition-stats.ts";

const meanings: Readonly<Record<FigureId, string>> = {
  ready: "how many items are ready",
  leased: "how many items are leased",
  oldest: "how long its oldest ready item has been ready",
  age: "how long ago its items were produced, in the mean",
  failures: "how often its store failed",
};

/** All partitions of the queue at a glance, however many. */
export function Partitions({ state }: { readonly state: QueueState }): ReactNode {
  const { stats } = state;
  const [query, change] = useAddress();
  const shown = figureFrom(query.get("shade"));
  const partitions = usePartitions(state, shown);
  const draining = partitions ? partitions.numbers.length - partitions.drainsFrom : 0;
  return (
    <Section
      id="partitions"
      title={
        partitions ? plural(partitions.numbers.length, "partition", "partitions") : "partitions"
      }
      aside={
        <>
          {draining > 0 && <span className="muted">{countText(draining)} take no new items</span>}
          <span className="muted wide-only">arrow keys move, Enter opens its items</span>
          <Segments
            legend="Shade by"
            of={figures}
            chosen={shown}
            onChoose={(id) => change({ shade: id === "ready" ? "" : id })}
            isAtEnd
          />
        </>
      }
    >
      {stats.error !== null && partitions === null ? (
        <QueryFault of={stats} what="The partitions are not known." />
      ) : (
        <Shaded partitions={partitions ?? noPartitions} shown={shown} name={state.name} />
      )}
    </Section>
  );
}

const detailsMs = 2_000;
/** Details take ten times the bytes of columns. */
const detailsOfManyMs = 10_000;

function usePartitions(
  { name, stats, inspect, info }: QueueState,
  shown: FigureId,
): PartitionColumns | null {
  const logical = stats.data?.logical_queues[0];
  const count = inspect.data?.partitions;
  const requested = info.data?.requested_partitions;
  const everyMs = (count ?? 0) > barsMax ? detailsOfManyMs : detailsMs;
  const isEnabled = shown === "oldest" && info.data !== undefined;
  const { data, dataUpdatedAt } = useQuery("stats", { queue_name: name }, { everyMs, isEnabled });
  const details = data?.logical_queues[0]?.partitions;
  return useMemo(
    () => partitionsOf({ stats: logical, count, requested, details, atMs: serverNow() }),
    // Ages grow without a change of the data.
    [logical, count, requested, details, dataUpdatedAt],
  );
}

function figureFrom(text: string | null): FigureId {
  return text !== null && text in figures ? (text as FigureId) : "ready";
}

interface ShadedProps {
  readonly partitions: PartitionColumns;
  readonly shown: FigureId;
  readonly name: string;
}

function Shaded({ partitions: columns, shown, name }: ShadedProps): ReactNode {
  const [chosen, setChosen] = useState<number | null>(null);
  const navigate = useNavigate();
  const { numbers, drainsFrom } = columns;
  const draining = numbers.length - drainsFrom;
  const values = columns[shown].length > 0 ? columns[shown] : numbers.map(() => 0);
  const at = chosen !== null && chosen < values.length ? chosen : null;
  const top = fullest(values, 3).map(
    (index) => `${numbers[index]} with ${figureText(shown, values[index] ?? 0)}`,
  );
  const label = [
    `${plural(values.length, "partition", "partitions")}, shaded by ${meanings[shown]}.`,
    top.length === 0 ? "All are at 0." : `The first: ${top.join(", ")}.`,
    ...(draining === 0 ? [] : [`${countText(draining)} take no new items.`]),
  ].join(" ");
  return (
    <>
      <PartitionHeatmap
        values={values}
        drainsFrom={drainsFrom}
        label={label}
        at={at}
        onAt={setChosen}
        onOpen={(index) => void navigate(partitionAddress(name, numbers[index]))}
      />
      <Reading columns={columns} at={at} shown={shown} name={name} />
      <PartitionTable columns={columns} />
    </>
  );
}

function partitionAddress(name: string, partition = 0): string {
  return itemsAddress(name, { partition: String(partition) });
}

function figureText(of: FigureId | "scheduled", value: number): string {
  return isSpan(of) ? spanText(value * 1_000) : countText(value);
}

function isSpan(of: FigureId | "scheduled"): boolean {
  return of === "age" || of === "oldest";
}

const readings = ["ready", "leased", "scheduled", "oldest", "age"] as const;

interface ReadingProps {
  readonly columns: PartitionColumns;
  readonly at: number | null;
  readonly shown: FigureId;
  readonly name: string;
}

function Reading({ columns, at, shown, name }: ReadingProps): ReactNode {
  const most = Math.max(0, ...columns[shown]);
  return (
    <div className="strip-read">
      <span className="grow" aria-live="polite">
        {at === null ? (
          "Point at a partition, or move to it with the arrow keys."
        ) : (
          <>
            partition <b>{columns.numbers[at]}</b>{" "}
            {at >= columns.drainsFrom && "takes no new items "}
            {readings
              .filter((id) => columns[id].length > 0)
              .map((id) => (
                <Fragment key={id}>
                  {id === "scheduled" ? id : figures[id]}{" "}
                  <b>{figureText(id, columns[id][at] ?? 0)}</b>{" "}
                </Fragment>
              ))}
            <Link className="link" to={partitionAddress(name, columns.numbers[at])}>
              Items
            </Link>
          </>
        )}
      </span>
      <span className="scale" aria-hidden="true">
        0 <i /> {figureText(shown, most)} {isSpan(shown) ? "" : shown}
      </span>
    </div>
  );
}

const tableColumns = (columns: PartitionColumns): readonly Column<number>[] => [
  {
    title: "partition",
    className: "n",
    isHeading: true,
    cell: (number, at) => (
      <>
        {number}
        {at >= columns.drainsFrom && <small> drains</small>}
      </>
    ),
  },
  ...(["ready", "leased", "scheduled", "age", "failures"] as const).map((id) => ({
    title: id === "age" ? "mean age" : id,
    className: "n",
    cell: (_: number, at: number) => figureText(id, columns[id][at] ?? 0),
  })),
];

/** Drawn once it is opened. */
function PartitionTable({ columns }: { readonly columns: PartitionColumns }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="as-table" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>As a table</summary>
      {isOpen && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys scroll it.
        <section className="scrolls" tabIndex={0} aria-label="Partitions, scrolls">
          <Table
            className="mini"
            label="Partitions"
            columns={tableColumns(columns)}
            rows={columns.numbers}
            keyOf={(number) => number}
          />
        </section>
      )}
    </details>
  );
}
