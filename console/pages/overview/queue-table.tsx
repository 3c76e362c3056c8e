import { type ReactNode, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { queueAddress } from "../../addresses.ts";
import { Button } from "../../components/button.tsx";
import { Empty } from "../../components/empty.tsx";
import { isOfPage, useShortcuts } from "../../components/frame/shortcuts.ts";
import { RowSpace, textScale, useVirtualRows } from "../../components/table/virtual-rows.tsx";
import { useIsPhone } from "../../components/use-is-phone.ts";
import { useObserved } from "../../state/observable.ts";
import { seen } from "../../state/overview-poll.ts";
import { ratesOf } from "../../state/overview-state.ts";
import type { Sort, SortKey } from "./order.ts";
import { GhostRow, QueueRowView } from "./queue-row.tsx";

interface Column {
  readonly title: string;
  readonly sort?: SortKey;
  readonly className?: string;
  readonly meaning?: string;
}

const columns: readonly Column[] = [
  { title: "Queue", sort: "name", className: "c-name" },
  { title: "Health", sort: "trouble", className: "c-health" },
  { title: "Ready", sort: "ready", className: "n" },
  { title: "Leased", className: "n c-3" },
  { title: "Scheduled", className: "n c-3" },
  {
    title: "Died",
    sort: "dead",
    className: "n",
    meaning: "Items that went to its dead queue since the server was started",
  },
  { title: "In /s", sort: "in", className: "n c-4" },
  { title: "Out /s", className: "n c-4" },
  { title: "In and out, 15 m", className: "c-flow" },
  { title: "Oldest", sort: "oldest", className: "n" },
];
const ghostCount = 10;

interface QueueTableProps {
  readonly names: readonly string[];
  readonly sort: Sort;
  readonly onSort: (key: SortKey) => void;
  readonly onClear: () => void;
}

export function QueueTable({ names, sort, onSort, onClear }: QueueTableProps): ReactNode {
  const { overview } = useObserved(seen);
  const body = useRef<HTMLTableSectionElement>(null);
  const isPhone = useIsPhone();
  const rows = useVirtualRows({
    count: names.length,
    body,
    rowHeight: (isPhone ? 64 : 32) * textScale,
    coverTop: isPhone ? 60 : 130,
    coverBottom: 80,
  });
  const current = useCurrentRow(names, rows.scrollTo);
  return (
    <>
      <table className="table stack" aria-label="Queues" aria-rowcount={names.length + 1}>
        <thead>
          <tr>
            {columns.map((column) => (
              <Heading key={column.title} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {overview === null &&
            Array.from({ length: ghostCount }, (_, at) => <GhostRow key={at} />)}
          <RowSpace height={rows.before} columnCount={columns.length} />
          {rows.indexes.map((index) => {
            const name = names[index];
            if (name === undefined || overview === null) return null;
            const row = overview.queues.get(name);
            const rates = ratesOf(row ?? { in: [], out: [] }, overview.asOfMs);
            return (
              <QueueRowView
                key={name}
                name={name}
                row={row}
                inRate={rates.in}
                outRate={rates.out}
                index={index}
                isCurrent={name === current.name}
              />
            );
          })}
          <RowSpace height={rows.after} columnCount={columns.length} />
        </tbody>
      </table>
      {overview !== null && names.length === 0 && (
        <div className="under">
          <Empty glyph="idle">No queue has that name, or none of those is in trouble.</Empty>
          <Button onClick={onClear}>Show all</Button>
        </div>
      )}
    </>
  );
}

interface HeadingProps {
  readonly column: Column;
  readonly sort: Sort;
  readonly onSort: (key: SortKey) => void;
}

function Heading({ column, sort, onSort }: HeadingProps): ReactNode {
  const { title, sort: key, className, meaning } = column;
  const isSorted = key !== undefined && key === sort.key;
  const order = isSorted ? (sort.isAscending ? "ascending" : "descending") : undefined;
  return (
    <th scope="col" className={className} aria-sort={order} title={meaning}>
      {key === undefined ? (
        title
      ) : (
        <button type="button" onClick={() => onSort(key)}>
          {title}
        </button>
      )}
    </th>
  );
}

/** The row under the keyboard; it is held by its name, wherever that stands. */
function useCurrentRow(names: readonly string[], scrollTo: (index: number) => void) {
  const [name, setName] = useState<string | null>(null);
  const navigate = useNavigate();
  const goTo = (index: number) => {
    if (names.length === 0) return;
    const next = Math.max(0, Math.min(names.length - 1, index));
    setName(names[next] ?? null);
    scrollTo(next);
  };
  const move = (by: number) => {
    const at = name === null ? -1 : names.indexOf(name);
    goTo(at === -1 ? 0 : at + by);
  };
  const toEdge = (event: KeyboardEvent, index: number) => {
    if (!isOfPage(event)) return;
    event.preventDefault();
    goTo(index);
  };
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    Home: (event) => toEdge(event, 0),
    End: (event) => toEdge(event, names.length - 1),
    Enter: (event) => {
      if (name !== null && isOfPage(event)) void navigate(queueAddress(name));
    },
    Escape: () => setName(null),
  });
  return { name };
}
