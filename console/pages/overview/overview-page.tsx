// All queues at a glance: alarms first, then totals and rates, then each queue.

import { type ReactNode, useState } from "react";
import { PageTitle } from "../../components/frame/page-head.tsx";
import { Unreached } from "../../components/frame/unreached.tsx";
import { Fault } from "../../components/refusal.tsx";
import { pollNow, usePoll } from "../../state/overview-poll.ts";
import { Alarms } from "./alarms.tsx";
import { CreateQueue } from "./create-queue.tsx";
import { FlowChart } from "./flow-chart.tsx";
import { Host } from "./host.tsx";
import { NoQueues } from "./no-queues.tsx";
import { QueueList } from "./queue-list.tsx";
import { Totals } from "./totals.tsx";

export function OverviewPage(): ReactNode {
  const [isCreating, setCreating] = useState(false);
  const onCreate = () => setCreating(true);
  return (
    <>
      <Content onCreate={onCreate} />
      {isCreating && <CreateQueue onClose={() => setCreating(false)} />}
    </>
  );
}

function Content({ onCreate }: { readonly onCreate: () => void }): ReactNode {
  const { overview, refused } = usePoll();
  const hasNone = overview?.queues.size === 0 && overview.unreached.length === 0;
  if (hasNone) {
    return (
      <>
        {/* A server that has lost its queues has alarms. */}
        {overview.alarms.length > 0 && <Alarms />}
        <NoQueues onCreate={onCreate} />
      </>
    );
  }
  return (
    <>
      <PageTitle of="Queues" />
      <h1 className="vh">Queues</h1>
      {overview === null && refused !== null ? (
        <Fault of={refused} what="The queues are not shown." onRetry={pollNow} />
      ) : (
        <>
          <Unreached />
          <Alarms />
          <div className="band">
            <Totals />
            <FlowChart />
            <Host />
          </div>
          <QueueList onCreate={onCreate} />
        </>
      )}
    </>
  );
}
