// One queue: its status and what happens next, its rates, partitions, clients and settings, and the
// changes that the key may make.

import type { ReactNode } from "react";
import { Link, useSearchParams } from "react-router";
import { queueAddress } from "../../addresses.ts";
import { Refused } from "../../api/call.ts";
import { Empty } from "../../components/empty.tsx";
import { PageHead, toQueues } from "../../components/frame/page-head.tsx";
import { QueryFault } from "../../components/refusal.tsx";
import { useOverview } from "../../state/overview-poll.ts";
import { ChooseQueue } from "../items/choose-queue.tsx";
import { Holders, WaitingClients } from "./clients.tsx";
import { Findings } from "./findings.tsx";
import { MetricsStrip } from "./metrics-strip.tsx";
import { Partitions } from "./partitions/partitions.tsx";
import { QueueCharts } from "./queue-charts.tsx";
import { QueueHead } from "./queue-head.tsx";
import { useQueueState } from "./queue-state.ts";
import { RecentActions } from "./recent-actions.tsx";
import { Settings } from "./settings.tsx";
import { Status } from "./status.tsx";

export function QueuePage(): ReactNode {
  const [query] = useSearchParams();
  const name = query.get("name") ?? "";
  const overview = useOverview();
  if (name === "" && overview !== null)
    return <ChooseQueue title="Queue" addressOf={queueAddress} />;
  // By its key, so that no state of another queue stays.
  return <OneQueue key={name} name={name} />;
}

function OneQueue({ name }: { readonly name: string }): ReactNode {
  const state = useQueueState(name);
  const { error } = state.info;
  const isGone = error instanceof Refused && error.reason === "no_such_queue";
  if (isGone) return <NoSuchQueue name={name} />;
  if (error instanceof Refused && state.info.data === undefined) {
    return (
      <>
        <QueueHead state={state} />
        <QueryFault of={state.info} what="The queue is not shown." />
      </>
    );
  }
  return (
    <div className="queue" data-known={state.info.data !== undefined}>
      <QueueHead state={state} />
      <Status state={state} />
      <MetricsStrip state={state} />
      <div className="two">
        <QueueCharts state={state} />
        <div className="beside">
          <Findings state={state} />
          <Holders state={state} />
          <WaitingClients state={state} />
        </div>
      </div>
      <Partitions state={state} />
      <div className="two">
        <Settings state={state} />
        <RecentActions state={state} />
      </div>
    </div>
  );
}

function NoSuchQueue({ name }: { readonly name: string }): ReactNode {
  return (
    <>
      <PageHead title={name} name={name} crumb={toQueues} />
      <Empty glyph="idle">
        There is no queue of that name. It may have been deleted; upper and lower case differ. Items
        can be produced to it once it is created.
      </Empty>
      <p>
        <Link className="b" to="/">
          All queues
        </Link>
      </p>
    </>
  );
}
