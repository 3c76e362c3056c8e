import type { ReactNode } from "react";
import { Link } from "react-router";
import { StateGlyph } from "../../components/glyph.tsx";
import { countText } from "../../format.ts";
import { useObserved } from "../../state/observable.ts";
import { seen } from "../../state/overview-poll.ts";
import { sourceOf, useCounted } from "./source.ts";
import { type ItemState, itemStates, type View } from "./view.ts";

interface StateTabsProps {
  readonly view: View;
  readonly deadQueue: string | undefined;
  readonly toState: (state: ItemState) => string;
}

/** Counts are of all items in a state, whatever the filter. */
export function StateTabs({ view, deadQueue, toState }: StateTabsProps): ReactNode {
  const { overview } = useObserved(seen);
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
