// The items of a queue in one of their states, and beside them the one that is open.

import { type ReactNode, useRef } from "react";
import { Link } from "react-router";
import { deadAddress, queueAddress } from "../../addresses.ts";
import { Empty } from "../../components/empty.tsx";
import { useShortcuts } from "../../components/frame/shortcuts.ts";
import { PageTitle } from "../../components/page-title.tsx";
import { Fault } from "../../components/refusal.tsx";
import { useObserved } from "../../state/observable.ts";
import { seen } from "../../state/overview-poll.ts";
import { ChooseQueue } from "./choose-queue.tsx";
import { FilterLine } from "./filter-line.tsx";
import { GhostList } from "./list/ghost-list.tsx";
import { ItemList } from "./list/item-list.tsx";
import { ItemPanel } from "./panel/item-panel.tsx";
import { useExplained } from "./panel/use-explained.ts";
import { sourceOf, useDeadQueue } from "./source.ts";
import { StateTabs } from "./state-tabs.tsx";
import { useView } from "./view.ts";

export function ItemsPage(): ReactNode {
  const { view, setCondition, dropCondition, openItem, toState } = useView();
  const explained = useExplained(view.item);
  // An id alone says which queue it is of.
  const name = view.name || (explained.data?.item?.queue_name ?? "");
  const here = { ...view, name };
  const deadQueue = useDeadQueue(name);
  const field = useRef<HTMLInputElement>(null);
  const step = useRef<(by: number) => void>(() => undefined);
  const { overview } = useObserved(seen);
  useShortcuts({
    "/": (event) => {
      event.preventDefault();
      field.current?.focus();
    },
  });
  if (view.name === "" && view.item === "" && overview !== null) return <ChooseQueue />;
  const source = sourceOf(here, deadQueue);
  return (
    <>
      <PageTitle of={`${name || view.item} · Items`} />
      <ItemsHead name={name} deadQueue={deadQueue} />
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
              onOpen={openItem}
              step={step}
            />
          )}
          {name === "" && view.item === "" && <GhostList />}
          {name === "" && explained.error !== null && (
            <Fault of={explained.error} what="The item is not shown." />
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
  readonly deadQueue: string | undefined;
}

function ItemsHead({ name, deadQueue }: ItemsHeadProps): ReactNode {
  const { overview } = useObserved(seen);
  const isKnown = overview?.queues.has(name) ?? true;
  return (
    <header className="head">
      <Link className="crumb" to="/">
        Queues
      </Link>
      <h1 className="mono cut">{name === "" ? "Items" : <bdi>{name}</bdi>}</h1>
      {name !== "" && (
        <nav className="tabs" aria-label="Of this queue">
          <Link to={queueAddress(name)}>Now</Link>
          <a href="#main" aria-current="page">
            Items
          </a>
          {deadQueue !== undefined && deadQueue !== "" && (
            <Link to={deadAddress(deadQueue)}>Dead</Link>
          )}
        </nav>
      )}
      {name !== "" && !isKnown && <span className="warn">No queue has that name now.</span>}
    </header>
  );
}
