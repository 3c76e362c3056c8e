import type { ReactNode } from "react";
import { Link } from "react-router";
import { deadAddress } from "../addresses.ts";
import { countText, unturned } from "../format.ts";
import { useLinkKeys } from "../frame/shortcuts.ts";
import { useObserved } from "../observed.ts";
import { seen } from "../overview-poll.ts";
import { Empty } from "../parts/empty.tsx";
import { PageTitle } from "../parts/page-title.tsx";
import { Fault } from "../parts/refusal.tsx";
import { type DeadQueue, useDeadQueues } from "./dead-queues.ts";
import { TaskList } from "./task-list.tsx";

/** The dead queues there are, those with the most items first. */
export function DeadQueueList(): ReactNode {
  const { data, error, refetch } = useDeadQueues();
  const { overview } = useObserved(seen);
  useLinkKeys(".choose a");
  const countOf = ({ name }: DeadQueue) => {
    const row = overview?.queues.get(name);
    return row === undefined ? 0 : row.ready + row.leased + row.scheduled;
  };
  const queues = (data ?? []).toSorted(
    (a, b) => countOf(b) - countOf(a) || a.name.localeCompare(b.name),
  );
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
      {data !== undefined && queues.length === 0 && (
        <Empty glyph="dead">
          No queue has a dead queue: what fails too often is removed. Create one, and name it as{" "}
          <code>dead_queue</code> of a queue, with queues.update.
        </Empty>
      )}
      <ul className="choose wide">
        {queues.map((queue) => (
          <li key={queue.name}>
            <Link className="mono cut" to={deadAddress(queue.name)}>
              <bdi>{queue.name}</bdi>
            </Link>
            <span className="muted cut grow">
              takes from {unturned(queue.takesFrom.join(", "))}
            </span>
            <span className="mono">{countText(countOf(queue))}</span>
          </li>
        ))}
      </ul>
      {(data !== undefined || error !== null) && <TaskList name="" />}
    </>
  );
}
