// All queues at a glance: what is wrong first, then how it goes, then each queue.

import { type ReactNode, useState } from "react";
import { useObserved } from "../observed.ts";
import { pollNow, seen } from "../overview-poll.ts";
import { PageTitle } from "../parts/page-title.tsx";
import { Fault } from "../parts/refusal.tsx";
import { Alarms } from "./alarms.tsx";
import { CreateQueue } from "./create-queue.tsx";
import { FlowChart } from "./flow-chart.tsx";
import { Ledger } from "./ledger.tsx";
import { Machine } from "./machine.tsx";
import { NoQueues } from "./no-queues.tsx";
import { QueueList } from "./queue-list.tsx";

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
  if (overview !== null && (isTrying || overview.queues.size === 0)) {
    return (
      <>
        {/* Of a server that has lost its queues there is something to say first. */}
        {overview.alarms.length > 0 && <Alarms />}
        <NoQueues
          onBegun={() => setTrying(true)}
          onShow={overview.queues.size === 0 ? undefined : () => setTrying(false)}
        />
      </>
    );
  }
  return (
    <>
      <PageTitle of="Queues" />
      <h1 className="vh">Queues</h1>
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
