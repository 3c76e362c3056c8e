import type { ReactNode } from "react";
import { Link } from "react-router";
import { deadAddress } from "../../addresses.ts";
import { Empty } from "../../components/empty.tsx";
import { Age } from "../../components/figures.tsx";
import { useLinkKeys } from "../../components/frame/shortcuts.ts";
import { PageTitle } from "../../components/page-title.tsx";
import { Fault } from "../../components/refusal.tsx";
import { countText, rateText, unturned } from "../../format.ts";
import { useObserved } from "../../state/observable.ts";
import { seen } from "../../state/overview-poll.ts";
import { type QueueRow, ratesOf } from "../../state/overview-state.ts";
import { type DeadQueue, useDeadQueues } from "./dead-queues.ts";
import { TaskList } from "./task-list.tsx";

/** The dead queues there are, those with the most items first. */
export function DeadQueueList(): ReactNode {
  const { data, error, refetch } = useDeadQueues();
  useLinkKeys(".dead-queues th a");
  return (
    <>
      <PageTitle of="Dead" />
      <header className="head">
        <h1>Dead queues</h1>
        <span className="muted">
          where items go that failed too often, expired, or were given up
        </span>
      </header>
      {error !== null && (
        <Fault of={error} what="They are not shown." onRetry={() => void refetch()} />
      )}
      {data?.length === 0 && (
        <Empty glyph="dead">
          No queue has a dead queue: what fails too often is removed. Create one, and name it as{" "}
          <code>dead_queue</code> of a queue, with queues.update.
        </Empty>
      )}
      {data !== undefined && data.length > 0 && <DeadQueueTable of={data} />}
      {(data !== undefined || error !== null) && <TaskList name="" />}
    </>
  );
}

function DeadQueueTable({ of }: { readonly of: readonly DeadQueue[] }): ReactNode {
  const { overview } = useObserved(seen);
  const countOf = ({ name }: DeadQueue) => itemsOf(overview?.queues.get(name));
  const queues = of.toSorted((a, b) => countOf(b) - countOf(a) || a.name.localeCompare(b.name));
  return (
    <>
      <table className="table dead-queues" aria-label="Dead queues">
        <thead>
          <tr>
            <th scope="col">Queue</th>
            <th scope="col" className="c-from">
              Takes from
            </th>
            <th scope="col" className="n">
              Items
            </th>
            <th scope="col" className="n c-rate" title="Items a second that come, of late">
              In /s
            </th>
            <th scope="col" className="n" title="Since when the oldest is here">
              Oldest
            </th>
          </tr>
        </thead>
        <tbody>
          {queues.map((queue) => (
            <DeadQueueRow
              key={queue.name}
              of={queue}
              row={overview?.queues.get(queue.name)}
              asOfMs={overview?.asOfMs ?? 0}
            />
          ))}
        </tbody>
      </table>
      <p className="under">
        Open one to see why its items died, how many for each reason, and to send them back.
      </p>
    </>
  );
}

function itemsOf(row: QueueRow | undefined): number {
  return row === undefined ? 0 : row.ready + row.leased + row.scheduled;
}

interface DeadQueueRowProps {
  readonly of: DeadQueue;
  readonly row: QueueRow | undefined;
  readonly asOfMs: number;
}

function DeadQueueRow({ of: { name, takesFrom }, row, asOfMs }: DeadQueueRowProps): ReactNode {
  const count = itemsOf(row);
  const rate = row === undefined ? null : ratesOf(row, asOfMs).in;
  const oldest = row?.oldest_ready_at_ms ?? 0;
  const from = unturned(takesFrom.join(", "));
  return (
    <tr>
      <th scope="row">
        <Link className="mono cut" to={deadAddress(name)}>
          <bdi>{name}</bdi>
        </Link>
      </th>
      <td className="muted cut c-from" title={from}>
        {from}
      </td>
      <td className={count === 0 ? "n z" : "n"}>{countText(count)}</td>
      <td className={rate === 0 ? "n z c-rate" : "n c-rate"}>{rateText(rate)}</td>
      <td className={oldest === 0 ? "n z" : "n"}>{oldest === 0 ? "–" : <Age at={oldest} />}</td>
    </tr>
  );
}
