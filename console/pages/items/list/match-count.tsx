import type { ReactNode } from "react";
import { Button } from "../../../components/button.tsx";
import { Noted } from "../../../components/figures.tsx";
import { countText, spanText } from "../../../format.ts";
import { useObservedPart } from "../../../state/observable.ts";
import { seen } from "../../../state/overview-poll.ts";
import type { Counted } from "../source.ts";
import { useView, type View } from "../view.ts";
import { type Followed, followedMax, type useFollow } from "./use-follow.ts";

interface ScanLineProps {
  readonly counted: Counted | undefined;
  /** By `performance.now()`. */
  readonly seenAt: number | null;
  readonly isLooking: boolean;
  readonly shownCount: number;
  readonly view: View;
  readonly follow: ReturnType<typeof useFollow>;
  readonly onLookAgain: () => void;
}

export function ScanLine(props: ScanLineProps): ReactNode {
  const { counted, seenAt, isLooking, shownCount, view, follow, onLookAgain } = props;
  const { turn } = useView();
  return (
    <div className="scan">
      {/* Said when it is through, not with each piece. */}
      <span role="status" aria-busy={isLooking}>
        {counted !== undefined && (
          <>
            <b>
              {countText(counted.count)}
              {counted.isPart && "+"}
            </b>{" "}
            match, of {countText(counted.lookedAt)} looked at
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
          <Since view={view} counted={counted} />
        </Button>
      )}
      <span className="end muted wide-only">
        {follow.isOn && followedWords(follow.followed, shownCount)}
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

/** Looks that take long are made seldom, which who waits for an item should know. */
function followedWords(followed: Followed | null, shownCount: number): string {
  if (shownCount >= followedMax) return `${countText(followedMax)} are followed`;
  const pauseMs = followed?.pauseMs ?? 0;
  return pauseMs < slowMs ? "" : `a look takes long: one every ${spanText(pauseMs)}`;
}

const slowMs = 2_000;

interface SinceProps {
  readonly view: View;
  readonly counted: Counted;
}

/** Without a filter the poll knows how the count has changed. */
function Since({ view, counted }: SinceProps): ReactNode {
  const { state, conditions } = view;
  const now = useObservedPart(seen, ({ overview }) =>
    state === "dead" ? undefined : overview?.queues.get(view.name)?.[state],
  );
  if (now === undefined || conditions.length > 0 || counted.isPart) return "look again";
  const more = now - counted.count;
  if (more === 0) return "look again";
  return more > 0 ? `${countText(more)} more since` : `${countText(-more)} fewer since`;
}
