import type { ReactNode } from "react";
import { Link } from "react-router";
import { deadAddress } from "../../addresses.ts";
import { Empty } from "../../components/empty.tsx";
import { Age } from "../../components/figures.tsx";
import { PageHead } from "../../components/frame/page-head.tsx";
import { useLinkKeys } from "../../components/frame/shortcuts.ts";
import { QueryFault } from "../../components/refusal.tsx";
import { type Column, Table } from "../../components/table/table.tsx";
import { countText, rateText, withVisibleMarks } from "../../format.ts";
import { useOverview } from "../../state/overview-poll.ts";
import { ratesOf } from "../../state/overview-state.ts";
import { type DeadQueue, useDeadQueues } from "./dead-queues.ts";
import { TaskList } from "./task-list.tsx";

/** All dead queues, those with the most items first. */
export function DeadQueueList(): ReactNode {
  const queues = useDeadQueues();
  const { data, error } = queues;
  useLinkKeys(".dead-queues th a");
  return (
    <>
      <PageHead title="Dead queues">
        <span className="muted">for items that failed too often, expired or were rejected</span>
      </PageHead>
      <QueryFault of={queues} what="They could not be read." />
      {data?.length === 0 && (
        <Empty glyph="dead">
          No queue has a dead queue: items that fail too often are removed. Create one, and set it
          as <code>dead_queue</code> of a queue, with queues.update.
        </Empty>
      )}
      {data !== undefined && data.length > 0 && <DeadQueueTable of={data} />}
      {(data !== undefined || error !== null) && <TaskList name="" />}
    </>
  );
}

interface Row {
  readonly name: string;
  readonly from: string;
  readonly count: number;
  readonly rate: number | null;
  /** 0 = it is empty. */
  readonly oldestMs: number;
}

const columns: readonly Column<Row>[] = [
  {
    title: "Queue",
    isHeading: true,
    cell: ({ name }) => (
      <Link className="mono cut" to={deadAddress(name)}>
        <bdi>{name}</bdi>
      </Link>
    ),
  },
  {
    title: "Takes from",
    className: "muted cut c-from",
    hint: ({ from }) => from,
    cell: ({ from }) => from,
  },
  {
    title: "Items",
    className: "n",
    look: ({ count }) => count === 0 && "z",
    cell: ({ count }) => countText(count),
  },
  {
    title: "In /s",
    className: "n c-rate",
    meaning: "Items per second that arrived recently",
    look: ({ rate }) => rate === 0 && "z",
    cell: ({ rate }) => rateText(rate),
  },
  {
    title: "Oldest",
    className: "n",
    meaning: "How long ago the oldest item arrived",
    look: ({ oldestMs }) => oldestMs === 0 && "z",
    cell: ({ oldestMs }) => (oldestMs === 0 ? "–" : <Age at={oldestMs} />),
  },
];

function DeadQueueTable({ of }: { readonly of: readonly DeadQueue[] }): ReactNode {
  const overview = useOverview();
  const rows = of
    .map(({ name, takesFrom }): Row => {
      const row = overview?.queues.get(name);
      return {
        name,
        from: withVisibleMarks(takesFrom.join(", ")),
        count: row === undefined ? 0 : row.ready + row.leased + row.scheduled,
        rate: row === undefined ? null : ratesOf(row, overview?.asOfMs ?? 0).in,
        oldestMs: row?.oldest_ready_at_ms ?? 0,
      };
    })
    .sort((a, b) => b.count - a.count || a.name.localeCompare(b.name));
  return (
    <>
      <Table
        className="table dead-queues"
        label="Dead queues"
        columns={columns}
        rows={rows}
        keyOf={({ name }) => name}
      />
      <p className="under">
        Open one to see why its items died, how many for each reason, and to redrive them.
      </p>
    </>
  );
}
