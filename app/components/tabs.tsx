// Tab panels, one of which is shown: the one last chosen in its group (`behaviours/tabs.ts`).
// Without JavaScript all panels are shown below each other.

import { Children, isValidElement, type ReactNode, useId } from "react";

interface TabProps {
  readonly label: string;
  readonly children: ReactNode;
}

export function Tab({ children }: TabProps): ReactNode {
  return children;
}

interface TabsProps {
  /** Tabs of the same group show the same label; without a group they are independent. */
  readonly group?: string;
  readonly children: ReactNode;
}

export function Tabs({ group, children }: TabsProps): ReactNode {
  const id = useId();
  const tabs = Children.toArray(children).filter((child) => isValidElement<TabProps>(child));
  return (
    <div className="tabs" data-group={group}>
      <div className="tabs-list note" role="tablist" aria-label={group ?? "Variants"}>
        {tabs.map(({ props: { label } }, index) => (
          <button
            key={label}
            type="button"
            role="tab"
            id={`${id}tab${index}`}
            aria-selected={index === 0}
            aria-controls={`${id}panel${index}`}
            tabIndex={index === 0 ? 0 : -1}
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
          data-selected={index === 0}
        >
          {tab}
        </div>
      ))}
    </div>
  );
}
