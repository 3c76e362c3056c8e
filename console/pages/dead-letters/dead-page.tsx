// Dead items by reason, kind, origin, cause of death or group, and the changes that redrive or delete them.

import { type ReactNode, useState } from "react";
import { Link, useSearchParams } from "react-router";
import { itemsAddress, queueAddress } from "../../addresses.ts";
import { PageHead } from "../../components/frame/page-head.tsx";
import { QueryFault } from "../../components/refusal.tsx";
import { Segments } from "../../components/segments.tsx";
import { plural } from "../../format.ts";
import { verbsFor } from "../items/changes/changes.ts";
import { useVerbs, VerbButtons } from "../items/changes/verb-buttons.tsx";
import { DeadQueueList } from "./dead-queue-list.tsx";
import { useDeadQueues } from "./dead-queues.ts";
import { NewestItems } from "./newest-items.tsx";
import { SummaryTable } from "./summary-table.tsx";
import { TaskList } from "./task-list.tsx";
import { filterOf, type SummaryField, summaryFields, useSummaries } from "./use-summaries.ts";

export function DeadPage(): ReactNode {
  const [query] = useSearchParams();
  const name = query.get("name") ?? "";
  return name === "" ? <DeadQueueList /> : <DeadQueuePage key={name} name={name} />;
}

const summaryFieldIds = Object.keys(summaryFields) as readonly SummaryField[];
const labels = Object.fromEntries(
  summaryFieldIds.map((id) => [id, summaryFields[id].title.toLowerCase()]),
) as Record<SummaryField, string>;

function DeadQueuePage({ name }: { readonly name: string }): ReactNode {
  const [query, setQuery] = useSearchParams();
  const by = summaryFieldIds.find((one) => one === query.get("by")) ?? "reason";
  const { one, more } = summaryFields[by];
  const found = useSummaries(name, by);
  const verbs = useVerbs(verbsFor("dead"), name);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const summaries = (found.data?.summaries ?? []).filter(({ value }) => chosen.has(value));
  const mayChange = verbs !== null && verbs.length > 0;
  const isFound = found.data !== undefined || found.error !== null;
  const setBy = (next: SummaryField) => {
    setChosen(new Set());
    setQuery({ name, by: next }, { replace: true });
  };
  return (
    <>
      <DeadHead name={name} by={by} onBy={setBy} />
      <QueryFault of={found} what="The items could not be summarized." />
      <div className={verbs === null || mayChange ? "reasons" : undefined}>
        <div className="summaries">
          <SummaryTable
            name={name}
            by={by}
            found={found}
            chosen={mayChange ? chosen : null}
            onChoose={setChosen}
          />
          {mayChange && summaries.length > 0 && (
            <NewestItems
              name={name}
              by={by}
              summaries={summaries}
              isPart={found.data?.isPart ?? false}
            />
          )}
        </div>
        {mayChange && isFound && (
          <aside className="plan" aria-label="Changes">
            <p className="muted">
              {summaries.length > 0
                ? `${plural(summaries.length, one, more)} selected. The items are counted before anything changes.`
                : `Select ${more}, with their boxes or with x, to redrive or delete the items.`}
            </p>
            {summaries.length > 0 && (
              <div className="acts">
                <VerbButtons
                  verbs={verbs}
                  targetNow={() => ({
                    queueName: name,
                    state: null,
                    parts: [{ filter: filterOf(by, summaries) }],
                  })}
                />
              </div>
            )}
          </aside>
        )}
      </div>
      {isFound && <TaskList name={name} />}
    </>
  );
}

interface DeadHeadProps {
  readonly name: string;
  readonly by: SummaryField;
  readonly onBy: (by: SummaryField) => void;
}

function DeadHead({ name, by, onBy }: DeadHeadProps): ReactNode {
  const { data } = useDeadQueues();
  const takesFrom = data?.find((one) => one.name === name)?.takesFrom ?? [];
  return (
    <PageHead title={`${name} · Dead`} name={name} crumb={{ to: "/dead", title: "Dead queues" }}>
      <nav className="tabs" aria-label="Of this queue">
        <a href="#main" aria-current="page">
          Reasons
        </a>
        <Link to={itemsAddress(name)}>Items</Link>
        <Link to={queueAddress(name)}>Now</Link>
      </nav>
      <span className="muted takes cut">
        {takesFrom.length > 0 && "takes from "}
        {takesFrom.slice(0, 4).map((from, at) => (
          <span key={from}>
            {at > 0 && ", "}
            <Link className="link" to={itemsAddress(from, { state: "dead" })}>
              <bdi>{from}</bdi>
            </Link>
          </span>
        ))}
        {takesFrom.length > 4 && ` and ${takesFrom.length - 4} more`}
        {data !== undefined && takesFrom.length === 0 && "no queue sends its dead items here"}
      </span>
      <Segments legend="Summarize by" of={labels} chosen={by} onChoose={onBy} />
    </PageHead>
  );
}
