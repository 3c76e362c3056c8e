// Panels of which one shows. Tabs of one group change together and are remembered.
// Without JavaScript every panel shows, one below the other.

import { Children, isValidElement, type KeyboardEvent, type ReactNode, useId, useRef } from "react";
import { useSelectedTab } from "./tab-groups.ts";
import "./tabs.css";

interface TabProps {
  readonly label: string;
  readonly children: ReactNode;
}

export function Tab({ children }: TabProps): ReactNode {
  return children;
}

interface TabsProps {
  /** Tabs with the same group show the same label; none: they stand alone. */
  readonly group?: string;
  readonly children: ReactNode;
}

const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

export function Tabs({ group, children }: TabsProps): ReactNode {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const tabs = Children.toArray(children).filter((child) => isValidElement<TabProps>(child));
  const labels = tabs.map((tab) => tab.props.label);
  const [selected, select] = useSelectedTab(group, labels);

  const move = (event: KeyboardEvent) => {
    const step = steps[event.key];
    const last = labels.length - 1;
    let next = selected + (step ?? 0);
    if (event.key === "Home") next = 0;
    else if (event.key === "End") next = last;
    else if (step === undefined) return;
    event.preventDefault();
    const index = (next + labels.length) % labels.length;
    select(labels[index] ?? "");
    list.current?.querySelectorAll("button")[index]?.focus();
  };

  return (
    <div className="tabs">
      <div className="tabs-list" role="tablist" aria-label={group ?? "Variants"} ref={list}>
        {labels.map((label, index) => (
          <button
            key={label}
            type="button"
            role="tab"
            id={`${id}tab${index}`}
            aria-selected={index === selected}
            aria-controls={`${id}panel${index}`}
            tabIndex={index === selected ? 0 : -1}
            onClick={() => select(label)}
            onKeyDown={move}
          >
            {label}
          </button>
        ))}
      </div>
      {tabs.map((tab, index) => (
        <div
          key={tab.props.label}
          className="tabs-panel"
          role="tabpanel"
          id={`${id}panel${index}`}
          aria-labelledby={`${id}tab${index}`}
          data-label={tab.props.label}
          data-selected={index === selected}
        >
          {tab}
        </div>
      ))}
    </div>
  );
}
