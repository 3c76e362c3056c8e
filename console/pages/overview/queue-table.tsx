import { type ReactNode, useMemo, useState } from "react";
import { Link, useNavigate } from "react-router";
import { queueAddress } from "../../addresses.ts";
import { Button } from "../../components/button.tsx";
import { Sparkline } from "../../components/chart/sparkline.tsx";
import { Empty } from "../../components/empty.tsx";
import { Age } from "../../components/figures.tsx";
import { HealthWord, Paused } from "../../components/glyph/health-word.tsx";
import { type Column, Table } from "../../components/table/table.tsx";
import { useRowKeys } from "../../components/table/use-row-keys.ts";
import { useVirtualRows } from "../../components/table/use-virtual-rows.ts";
import { countText, rateText } from "../../format.ts";
import { useObservablePart } from "../../state/observable.ts";
import { pollState, useOverview } from "../../state/overview-poll.ts";
import { type QueueRow, type Rates, ratesOf } from "../../state/overview-state.ts";
import { useFlowHistory } from "./flow-history.ts";
import { type Sort, type SortKey, sortText } from "./order.ts";

/** The name alone: the queue was deleted, and keeps its place until the order is renewed. */
type Row = QueueRow | string;

interface QueueColumn extends Column<Row> {
  readonly sort?: SortKey;
}

const nameOf = (row: Row) => (typeof row === "string" ? row : row.queue_name);

/** A cell of queues that exist. */
function of<Value>(read: (row: QueueRow) => Value): (row: Row) => Value | undefined {
  return (row) => (typeof row === "string" ? undefined : read(row));
}

/** A column of counts; 0 is faint. */
function counts(countOf: (row: QueueRow) => number) {
  return {
    look: of((row) => countOf(row) === 0 && "z"),
    cell: of((row) => countText(countOf(row))),
  };
}

const columns: readonly QueueColumn[] = [
  {
    title: "Queue",
    sort: "name",
    className: "m0 c-name",
    isHeading: true,
    cell: (row) =>
      typeof row === "string" ? <s className="muted cut">{row}</s> : <Name row={row} />,
  },
  {
    title: "Health",
    sort: "trouble",
    className: "m2 c-health",
    cell: (row) => (typeof row === "string" ? <i className="muted">gone</i> : <Health row={row} />),
  },
  { title: "Ready", sort: "ready", className: "n m1 labelled", ...counts(({ ready }) => ready) },
  { title: "Leased", className: "n c-3", ...counts(({ leased }) => leased) },
  { title: "Scheduled", className: "n c-3", ...counts(({ scheduled }) => scheduled) },
  {
    title: "Died",
    sort: "dead",
    className: "n",
    meaning: "Items that went to its dead queue since the server was started",
    ...counts(({ dead_total: dead }) => dead),
    look: of((row) => (row.health === "dead_items" ? "bad" : row.dead_total === 0 && "z")),
  },
  { title: "In /s", sort: "in", className: "n c-4", cell: of((row) => <Rate row={row} of="in" />) },
  { title: "Out /s", className: "n c-4", cell: of((row) => <Rate row={row} of="out" />) },
  { title: "In and out, 15 m", className: "m3 c-flow", cell: of((row) => <Flow row={row} />) },
  {
    title: "Oldest",
    sort: "oldest",
    className: "n m4",
    look: of((row) => row.oldest_ready_at_ms === 0 && "z"),
    cell: of(({ oldest_ready_at_ms: at }) => (at === 0 ? "–" : <Age at={at} />)),
  },
];
const ghostCount = 10;

interface QueueTableProps {
  readonly names: readonly string[];
  readonly sort: Sort;
  readonly onSort: (key: SortKey) => void;
  readonly onClear: () => void;
}

export function QueueTable({ names, sort, onSort, onClear }: QueueTableProps): ReactNode {
  const overview = useOverview();
  const { scrollTo, ...window } = useVirtualRows({
    count: names.length,
    coverTop: 130,
    coverBottom: 80,
  });
  const [cursor, setCursor] = useState<string | null>(null);
  const navigate = useNavigate();
  useRowKeys({
    ids: names,
    cursor,
    setCursor,
    scrollTo,
    onOpen: (name) => void navigate(queueAddress(name)),
    onEscape: () => setCursor(null),
  });
  const sorted = useMemo(
    () => columns.map((column) => withHeading(column, sort, onSort)),
    // Rows are drawn again if their columns change.
    [sortText(sort)],
  );
  return (
    <>
      <Table
        className="table stack"
        label="Queues"
        columns={sorted}
        rows={names.map((name) => overview?.queues.get(name) ?? name)}
        keyOf={nameOf}
        ghostCount={overview === null ? ghostCount : 0}
        window={window}
        rowLook={(row) => (nameOf(row) === cursor ? "cur" : "")}
      />
      {overview !== null && names.length === 0 && (
        <div className="under">
          <Empty glyph="idle">No queue matches the filter.</Empty>
          <Button onClick={onClear}>Show all</Button>
        </div>
      )}
    </>
  );
}

function withHeading(column: QueueColumn, sort: Sort, onSort: (key: SortKey) => void): Column<Row> {
  const { title, sort: key } = column;
  if (key === undefined) return column;
  const order = sort.isAscending ? "ascending" : "descending";
  const heading = (
    <button type="button" onClick={() => onSort(key)}>
      {title}
    </button>
  );
  return { ...column, heading, order: key === sort.key ? order : undefined };
}

interface RowProps {
  readonly row: QueueRow;
}

function Name({ row: { queue_name: name, paused_since_ms: pausedAt } }: RowProps): ReactNode {
  return (
    <span className="named">
      <Link to={queueAddress(name)} className="cut">
        <bdi>{name}</bdi>
      </Link>
      {pausedAt > 0 && <Paused />}
    </span>
  );
}

function Health({ row }: RowProps): ReactNode {
  const { health, health_since_ms: sinceMs, health_count: count, next_at_ms: nextMs } = row;
  return <HealthWord health={health} sinceMs={sinceMs} count={count} nextMs={nextMs} />;
}

/** It falls while the row itself stays the same. */
function Rate({ row, of: flow }: RowProps & { readonly of: keyof Rates }): ReactNode {
  const text = useObservablePart(pollState, ({ overview }) =>
    rateText(ratesOf(row, overview?.asOfMs ?? 0)[flow]),
  );
  return <span className={text === "0" ? "z" : undefined}>{text}</span>;
}

function Flow({ row }: RowProps): ReactNode {
  const history = useFlowHistory(row.queue_name);
  const isHot = row.health === "backlog_growing";
  return <Sparkline lines={[history.in, history.out]} {...(isHot && { look: "hot" })} />;
}
