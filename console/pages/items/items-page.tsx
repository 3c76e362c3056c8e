// The items of a queue in one of their states, and beside them the open item.

import { type ReactNode, useRef } from "react";
import { Link } from "react-router";
import type { QueueInfo } from "../../../openapi/schemas.ts";
import { Empty } from "../../components/empty.tsx";
import { PageHead, toQueues } from "../../components/frame/page-head.tsx";
import { QueueTabs } from "../../components/frame/queue-tabs.tsx";
import { useShortcuts } from "../../components/frame/shortcuts.ts";
import { StateGlyph } from "../../components/glyph/glyph.tsx";
import { QueryFault } from "../../components/refusal.tsx";
import { Table } from "../../components/table/table.tsx";
import { countText } from "../../format.ts";
import { useOverview } from "../../state/overview-poll.ts";
import { ChooseQueue } from "./choose-queue.tsx";
import { FilterLine } from "./filter-line.tsx";
import { ItemList } from "./list/item-list.tsx";
import { columnsOf, ghostCount } from "./list/item-table.tsx";
import { ItemPanel } from "./panel/item-panel.tsx";
import { useExplained } from "./panel/item-status.tsx";
import { sourceOf, useCounted, useQueueInfo } from "./source.ts";
import { type ItemState, itemStates, useView, type View } from "./view.ts";

export function ItemsPage(): ReactNode {
  const { view, setCondition, dropCondition, openItem, toState } = useView();
  const explained = useExplained(view.item);
  // The queue of an item that is opened by its id alone.
  const name = view.name || (explained.data?.item?.queue_name ?? "");
  const here = { ...view, name };
  const { data: info, isError } = useQueueInfo(name);
  const deadQueue = info?.dead_queue;
  const field = useRef<HTMLInputElement>(null);
  const step = useRef<(by: number) => void>(() => undefined);
  const overview = useOverview();
  useShortcuts({
    "/": (event) => {
      event.preventDefault();
      field.current?.focus();
    },
  });
  if (view.name === "" && view.item === "" && overview !== null)
    return <ChooseQueue title="Items" />;
  const source = sourceOf(here, deadQueue);
  return (
    <>
      <ItemsHead name={name} title={`${name || view.item} · Items`} info={info} />
      <div className="split">
        <section className="list" aria-label="Items">
          <div className="list-top">
            <StateTabs view={here} deadQueue={deadQueue} toState={toState} />
            <FilterLine
              conditions={view.conditions}
              field={field}
              onSet={setCondition}
              onDrop={dropCondition}
              onOpen={openItem}
            />
          </div>
          {view.state === "dead" && deadQueue === "" && (
            <Empty glyph="dead">
              This queue has no dead queue: items that fail too often, or expire, are removed. Give
              it one with <code>dead_queue</code> of queues.update.
            </Empty>
          )}
          {source !== null && (
            <ItemList
              key={JSON.stringify(source)}
              view={here}
              source={source}
              isGrouped={name === "" || isError ? false : info?.grouped}
              onOpen={openItem}
              step={step}
            />
          )}
          {name === "" && view.item === "" && <GhostList />}
          {name === "" && explained.data === undefined && (
            <QueryFault of={explained} what="The item is not shown." />
          )}
        </section>
        {view.item !== "" && (
          <ItemPanel
            id={view.item}
            explained={explained}
            onStep={(by) => step.current(by)}
            onClose={() => openItem("")}
          />
        )}
      </div>
    </>
  );
}

interface ItemsHeadProps {
  readonly name: string;
  readonly title: string;
  readonly info: QueueInfo | undefined;
}

function ItemsHead({ name, title, info }: ItemsHeadProps): ReactNode {
  const isKnown = useOverview()?.queues.has(name) ?? true;
  if (name === "") return <PageHead title={title} name="Items" crumb={toQueues} />;
  return (
    <PageHead title={title} name={name} crumb={toQueues}>
      <QueueTabs name={name} here="Items" info={info} />
      {!isKnown && <span className="warn">No queue has that name now.</span>}
    </PageHead>
  );
}

/** The list while its queue is not known. */
function GhostList(): ReactNode {
  const props = { state: "ready", goneIds: new Set<string>(), open: "", selection: null } as const;
  const shown = { ...props, isGrouped: false, onOpen: () => undefined };
  return (
    <>
      <div className="scan" />
      <Table
        className="table stack items of-ready choosing"
        label="Items"
        columns={columnsOf(shown)}
        rows={[]}
        keyOf={(_, index) => index}
        ghostCount={ghostCount}
      />
    </>
  );
}

interface StateTabsProps {
  readonly view: View;
  readonly deadQueue: string | undefined;
  readonly toState: (state: ItemState) => string;
}

/** Counts are of all items in a state, whatever the filter. */
export function StateTabs({ view, deadQueue, toState }: StateTabsProps): ReactNode {
  const overview = useOverview();
  const row = overview?.queues.get(view.name);
  const dead = useCounted(sourceOf({ ...view, state: "dead", conditions: [] }, deadQueue));
  const countOf = (state: ItemState) => {
    if (state !== "dead") return row === undefined ? "" : countText(row[state]);
    if (deadQueue === "") return "–";
    return dead === undefined ? "" : `${countText(dead.count)}${dead.isPart ? "+" : ""}`;
  };
  return (
    <nav className="tabs" aria-label="State">
      {itemStates.map((state) => (
        <Link
          key={state}
          to={toState(state)}
          replace
          aria-current={state === view.state ? "page" : undefined}
        >
          <StateGlyph name={state} />
          {state[0]?.toUpperCase()}
          {state.slice(1)} <small>{countOf(state)}</small>
        </Link>
      ))}
    </nav>
  );
}
