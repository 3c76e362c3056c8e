import type { ReactNode } from "react";
import { countText } from "../format.ts";
import { useObserved } from "../observed.ts";
import { seen } from "../overview-poll.ts";
import { Button } from "../parts/button.tsx";
import { Noted } from "../parts/figures.tsx";
import type { Counted } from "./source.ts";
import { followedMax, type useFollow } from "./use-follow.ts";
import { useView, type View } from "./view.ts";

interface ScanLineProps {
  readonly counted: Counted | undefined;
  /** By `performance.now()`. */
  readonly seenAt: number | null;
  readonly lookedAt: number;
  readonly shownCount: number;
  readonly view: View;
  readonly follow: ReturnType<typeof useFollow>;
  readonly onLookAgain: () => void;
}

export function ScanLine(props: ScanLineProps): ReactNode {
  const { counted, seenAt, lookedAt, shownCount, view, follow, onLookAgain } = props;
  const { turn } = useView();
  return (
    <div className="scan">
      <span role="status">
        {counted !== undefined && (
          <>
            <b>
              {countText(counted.count)}
              {counted.isPart && "+"}
            </b>{" "}
            match, of {countText(Math.max(counted.lookedAt, lookedAt))} looked at
          </>
        )}
      </span>
      {counted !== undefined && seenAt !== null && (
        <span className="as-of">
          as of <Noted at={seenAt} />
        </span>
      )}
      {counted !== undefined && seenAt !== null && !follow.isOn && (
        <Button look="link" onClick={onLookAgain}>
          <Since view={view} count={counted.count} />
        </Button>
      )}
      <span className="end muted wide-only">
        {follow.isOn && shownCount >= followedMax && `${countText(followedMax)} are followed`}
      </span>
      <span className="toggles">
        <button
          type="button"
          className="b s"
          aria-pressed={view.isNewestFirst}
          title="The last to enter the queue first; otherwise by partition, in queue order"
          onClick={turn}
        >
          Newest first
        </button>
        <button
          type="button"
          className="b s"
          aria-pressed={follow.isOn}
          title="Add items as they arrive"
          onClick={() => follow.setOn(!follow.isOn)}
        >
          Follow
        </button>
      </span>
    </div>
  );
}

interface SinceProps {
  readonly view: View;
  readonly count: number;
}

/** Without a filter the poll knows how the count has changed. */
function Since({ view, count }: SinceProps): ReactNode {
  const { overview } = useObserved(seen);
  const row = overview?.queues.get(view.name);
  if (row === undefined || view.state === "dead" || view.conditions.length > 0) return "look again";
  const more = row[view.state] - count;
  if (more === 0) return "look again";
  return more > 0 ? `${countText(more)} more since` : `${countText(-more)} fewer since`;
}
