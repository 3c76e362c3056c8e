// One queue: why it is as it is, and what comes next; how it went; where its items are; who works
// on it; how it is set; and what may be done to it.

import type { ReactNode } from "react";
import { Link, useSearchParams } from "react-router";
import { queueAddress } from "../../addresses.ts";
import { Refused } from "../../api/call.ts";
import { Empty } from "../../components/empty.tsx";
import { jumpKey } from "../../components/frame/shortcuts.ts";
import { PageTitle } from "../../components/page-title.tsx";
import { Fault } from "../../components/refusal.tsx";
import { useObserved } from "../../state/observable.ts";
import { seen } from "../../state/overview-poll.ts";
import { Asking, Holding } from "./clients.tsx";
import { Findings } from "./findings.tsx";
import { Now } from "./metrics-strip.tsx";
import { Partitions } from "./partitions/partitions.tsx";
import { QueueCharts } from "./queue-charts.tsx";
import { QueueHead } from "./queue-head.tsx";
import { useQueueState } from "./queue-state.ts";
import { Done } from "./recent-actions.tsx";
import { Settings } from "./settings.tsx";
import { Why } from "./status.tsx";

export function QueuePage(): ReactNode {
  const [query] = useSearchParams();
  const name = query.get("name") ?? "";
  const { overview } = useObserved(seen);
  if (name === "" && overview !== null) return <WhichQueue />;
  // Nothing of another queue stays.
  return <OneQueue key={name} name={name} />;
}

function OneQueue({ name }: { readonly name: string }): ReactNode {
  const state = useQueueState(name);
  const { error, refetch } = state.info;
  const isGone = error instanceof Refused && error.reason === "no_such_queue";
  if (isGone) return <NoSuchQueue name={name} />;
  if (error instanceof Refused && state.info.data === undefined) {
    return (
      <>
        <QueueHead state={state} />
        <Fault of={error} what="The queue is not shown." onRetry={() => void refetch()} />
      </>
    );
  }
  return (
    <div className="queue" data-known={state.info.data !== undefined}>
      <QueueHead state={state} />
      <Why state={state} />
      <Now state={state} />
      <div className="two">
        <QueueCharts state={state} />
        <div className="beside">
          <Findings state={state} />
          <Holding state={state} />
          <Asking state={state} />
        </div>
      </div>
      <Partitions state={state} />
      <div className="two">
        <Settings state={state} />
        <Done state={state} />
      </div>
    </div>
  );
}

function WhichQueue(): ReactNode {
  return (
    <>
      <PageTitle of="Queue" />
      <header className="head">
        <h1>Which queue?</h1>
      </header>
      <Empty glyph="note">
        The address names none: a queue is at <code>/console/queue?name=orders</code>.{" "}
        <Link className="link" to="/">
          Choose one of all queues
        </Link>{" "}
        or press <kbd>{jumpKey}</kbd>.
      </Empty>
    </>
  );
}

const similarMax = 8;

function NoSuchQueue({ name }: { readonly name: string }): ReactNode {
  const { overview } = useObserved(seen);
  const wanted = name.toLowerCase();
  const similar = [...(overview?.queues.keys() ?? [])]
    .filter((each) => each.toLowerCase().includes(wanted) || wanted.includes(each.toLowerCase()))
    .slice(0, similarMax);
  return (
    <>
      <PageTitle of={name} />
      <header className="head">
        <Link className="crumb" to="/">
          Queues
        </Link>
        <h1 className="mono">
          <bdi>{name}</bdi>
        </h1>
      </header>
      <Empty glyph="idle">
        There is no queue of that name. It may have been deleted; upper and lower case differ. Items
        can be produced to it once it is created.
      </Empty>
      {similar.length > 0 && (
        <ul className="acts similar" aria-label="Queues of a similar name">
          {similar.map((each) => (
            <li key={each}>
              <Link className="link mono" to={queueAddress(each)}>
                <bdi>{each}</bdi>
              </Link>
            </li>
          ))}
        </ul>
      )}
      <p>
        <Link className="b" to="/">
          All queues
        </Link>
      </p>
    </>
  );
}
