// What died, by what it has in common; and what to do with it.

import { type ReactNode, useState } from "react";
import { Link, useSearchParams } from "react-router";
import { itemsAddress, queueAddress } from "../../addresses.ts";
import { PageTitle } from "../../components/page-title.tsx";
import { Fault } from "../../components/refusal.tsx";
import { verbsFor } from "../items/changes/changes.ts";
import { useVerbs } from "../items/changes/use-verbs.ts";
import { DeadQueueList } from "./dead-queue-list.tsx";
import { useDeadQueues } from "./dead-queues.ts";
import { GroupTable } from "./group-table.tsx";
import { NewestItems } from "./newest-items.tsx";
import { RedrivePlan } from "./redrive-plan.tsx";
import { TaskList } from "./task-list.tsx";
import { type Grouping, groupings, useGroups } from "./use-groups.ts";

export function DeadPage(): ReactNode {
  const [query] = useSearchParams();
  const name = query.get("name") ?? "";
  return name === "" ? <DeadQueueList /> : <DeadQueuePage key={name} name={name} />;
}

const groupingIds = Object.keys(groupings) as readonly Grouping[];

function DeadQueuePage({ name }: { readonly name: string }): ReactNode {
  const [query, setQuery] = useSearchParams();
  const by = groupingIds.find((one) => one === query.get("by")) ?? "reason";
  const found = useGroups(name, by);
  const verbs = useVerbs(verbsFor("dead"), name);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const groups = (found.data?.groups ?? []).filter(({ value }) => chosen.has(value));
  const mayChange = verbs !== null && verbs.length > 0;
  const isFound = found.data !== undefined || found.error !== null;
  const setBy = (next: Grouping) => {
    setChosen(new Set());
    setQuery({ name, by: next }, { replace: true });
  };
  return (
    <>
      <PageTitle of={`${name} · Dead`} />
      <DeadHead name={name} by={by} onBy={setBy} />
      {found.error !== null && (
        <Fault
          of={found.error}
          what="What died is not shown."
          onRetry={() => void found.refetch()}
        />
      )}
      <div className={verbs === null || mayChange ? "reasons" : undefined}>
        <div className="groups">
          <GroupTable
            name={name}
            by={by}
            found={found}
            chosen={mayChange ? chosen : null}
            onChoose={setChosen}
          />
          {mayChange && groups.length > 0 && (
            <NewestItems name={name} by={by} groups={groups} isPart={found.data?.isPart ?? false} />
          )}
        </div>
        {mayChange && isFound && (
          <RedrivePlan key={by} name={name} by={by} groups={groups} found={found.data} />
        )}
      </div>
      {isFound && <TaskList name={name} />}
    </>
  );
}

interface DeadHeadProps {
  readonly name: string;
  readonly by: Grouping;
  readonly onBy: (by: Grouping) => void;
}

function DeadHead({ name, by, onBy }: DeadHeadProps): ReactNode {
  const { data } = useDeadQueues();
  const takesFrom = data?.find((one) => one.name === name)?.takesFrom ?? [];
  return (
    <header className="head">
      <Link className="crumb" to="/dead">
        Dead queues
      </Link>
      <h1 className="mono cut">
        <bdi>{name}</bdi>
      </h1>
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
      <fieldset className="seg">
        <legend className="vh">Group by</legend>
        {groupingIds.map((one) => (
          <button key={one} type="button" aria-pressed={one === by} onClick={() => onBy(one)}>
            {groupings[one].label}
          </button>
        ))}
      </fieldset>
    </header>
  );
}
