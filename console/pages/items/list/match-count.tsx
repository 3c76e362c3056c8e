import type { ReactNode } from "react";
import { Button } from "../../../components/button.tsx";
import { ClockTime } from "../../../components/figures.tsx";
import { countText } from "../../../format.ts";
import { useObservablePart } from "../../../state/observable.ts";
import { pollState } from "../../../state/overview-poll.ts";
import type { Counted } from "../source.ts";
import { useView, type View } from "../view.ts";

interface MatchCountProps {
  readonly counted: Counted | undefined;
  /** By `performance.now()`. */
  readonly seenAt: number | null;
  readonly isSearching: boolean;
  readonly view: View;
  readonly onRefresh: () => void;
}

export function MatchCount(props: MatchCountProps): ReactNode {
  const { counted, seenAt, isSearching, view, onRefresh } = props;
  const { turn } = useView();
  return (
    <div className="scan">
      {/* Read out once the search is complete, not with each page. */}
      <span role="status" aria-busy={isSearching}>
        {counted !== undefined && (
          <>
            <b>
              {countText(counted.count)}
              {counted.isPart && "+"}
            </b>{" "}
            match, of {countText(counted.scanned)} scanned
          </>
        )}
      </span>
      {counted !== undefined && seenAt !== null && (
        <span className="as-of">
          as of <ClockTime at={seenAt} />
        </span>
      )}
      {counted !== undefined && seenAt !== null && (
        <Button look="link" onClick={onRefresh}>
          <Since view={view} counted={counted} />
        </Button>
      )}
      <span className="toggles end">
        <button
          type="button"
          className="b s"
          aria-pressed={view.isNewestFirst}
          title="The last to enter the queue first; otherwise by partition, in queue order"
          onClick={turn}
        >
          Newest first
        </button>
      </span>
    </div>
  );
}

/** Without a filter the poll has the current count. */
function Since({ view, counted }: { readonly view: View; readonly counted: Counted }): ReactNode {
  const { state, conditions } = view;
  const now = useObservablePart(pollState, ({ overview }) =>
    state === "dead" ? undefined : overview?.queues.get(view.name)?.[state],
  );
  if (now === undefined || conditions.length > 0 || counted.isPart) return "refresh";
  const more = now - counted.count;
  if (more === 0) return "refresh";
  return more > 0 ? `${countText(more)} more since` : `${countText(-more)} fewer since`;
}
