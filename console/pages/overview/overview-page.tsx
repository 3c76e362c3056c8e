// All queues at a glance: what is wrong first, then how it goes, then each queue.

import { type ReactNode, useState } from "react";
import { PageTitle } from "../../components/page-title.tsx";
import { Fault } from "../../components/refusal.tsx";
import { Unreached } from "../../components/unreached.tsx";
import { useObserved } from "../../state/observable.ts";
import { pollNow, seen } from "../../state/overview-poll.ts";
import { Alarms } from "./alarms.tsx";
import { CreateQueue } from "./create-queue.tsx";
import { FlowChart } from "./flow-chart.tsx";
import { Machine } from "./host.tsx";
import { NoQueues } from "./no-queues.tsx";
import { QueueList } from "./queue-list.tsx";
import { Ledger } from "./totals.tsx";

export function OverviewPage(): ReactNode {
  const { overview, refused } = useObserved(seen);
  const [isCreating, setCreating] = useState(false);
  const [isTrying, setTrying] = useState(false);
  if (overview === null && refused !== null) {
    return (
      <>
        <PageTitle of="Queues" />
        <h1 className="vh">Queues</h1>
        <Fault of={refused} what="The queues are not shown." onRetry={pollNow} />
      </>
    );
  }
  const hasNone = overview?.queues.size === 0 && overview.unreached.length === 0;
  if (overview !== null && (isTrying || hasNone)) {
    return (
      <>
        {/* Of a server that has lost its queues there is something to say first. */}
        {overview.alarms.length > 0 && <Alarms />}
        <NoQueues
          onBegun={() => setTrying(true)}
          onShow={hasNone ? undefined : () => setTrying(false)}
        />
      </>
    );
  }
  return (
    <>
      <PageTitle of="Queues" />
      <h1 className="vh">Queues</h1>
      <Unreached />
      <Alarms />
      <div className="band">
        <Ledger />
        <FlowChart />
        <Machine />
      </div>
      <QueueList onCreate={() => setCreating(true)} />
      {isCreating && <CreateQueue onClose={() => setCreating(false)} />}
    </>
  );
}
