// The groups of a queue by name, a page of them at a time: their items, why they are blocked, and what
// they have of their own.

import type { ReactNode } from "react";
import { useSearchParams } from "react-router";
import { groupsAddress } from "../../addresses.ts";
import { Refused } from "../../api/call.ts";
import { useQuery } from "../../api/use-query.ts";
import { Empty } from "../../components/empty.tsx";
import { PageHead, toQueues } from "../../components/frame/page-head.tsx";
import { QueueTabs } from "../../components/frame/queue-tabs.tsx";
import { Paused } from "../../components/glyph/health-word.tsx";
import { QueryFault } from "../../components/refusal.tsx";
import { useOverview } from "../../state/overview-poll.ts";
import { ChooseQueue } from "../items/choose-queue.tsx";
import { GroupList } from "./group-list.tsx";

export function GroupsPage(): ReactNode {
  const [query] = useSearchParams();
  const name = query.get("name") ?? "";
  const overview = useOverview();
  if (name === "" && overview !== null)
    return <ChooseQueue title="Groups" addressOf={groupsAddress} />;
  return <GroupsOf key={name} name={name} />;
}

const infoMs = 10_000;

function GroupsOf({ name }: { readonly name: string }): ReactNode {
  const info = useQuery("queueInfo", { name }, { everyMs: infoMs, isEnabled: name !== "" });
  const queue = info.data;
  const { error } = info;
  // An outage leaves what was read.
  const isGone = error instanceof Refused && error.reason === "no_such_queue";
  const isLost = isGone || (error !== null && queue === undefined);
  return (
    <>
      <PageHead title={`${name} · Groups`} name={name || "…"} crumb={toQueues}>
        <QueueTabs name={name} here="Groups" info={queue} />
        {queue?.lease_paused && <Paused what="leases of the queue paused" />}
      </PageHead>
      {isLost && <QueryFault of={info} what="The groups are not shown." />}
      {queue?.grouped === false ? (
        <Empty glyph="idle">
          This queue has no groups: it was created without <code>grouped</code>, which cannot
          change.
        </Empty>
      ) : (
        !isLost && <GroupList name={name} queue={queue} />
      )}
    </>
  );
}
