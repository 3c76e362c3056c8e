import type { ReactNode } from "react";
import { Button } from "../../../components/button.tsx";
import { useObservedPart } from "../../../state/observable.ts";
import { seen } from "../../../state/overview-poll.ts";
import type { QueueRow } from "../../../state/overview-state.ts";
import { pageLimit, type Source, type useFound } from "../source.ts";
import type { Looking } from "./use-search.ts";

interface LookProgressProps {
  readonly source: Source;
  readonly found: ReturnType<typeof useFound>;
  readonly looking: Looking;
}

/** Below a list that is not whole: how far the look is, and what ends it or goes on with it. */
export function LookProgress({ source, found, looking }: LookProgressProps): ReactNode {
  const lookedAt = found.data?.pages.reduce((sum, page) => sum + page.looked_at, 0) ?? 0;
  const total = useObservedPart(seen, ({ overview }) =>
    totalOf(source, overview?.queues.get(source.queueName)),
  );
  if (!looking.isLooking) {
    return (
      <div className="under">
        <Button disabled={found.isFetchingNextPage} onClick={looking.goOn}>
          {(found.data?.pages.at(-1)?.items.length ?? 0) < pageLimit ? "Look on" : "Load more"}
        </Button>
      </div>
    );
  }
  return (
    <div className="under look">
      <Button onClick={looking.stop} title="Escape does the same; what was found stays">
        Stop looking
      </Button>
      {total !== null && (
        <>
          <progress
            className="meter"
            max={Math.max(total, lookedAt, 1)}
            value={lookedAt}
            aria-label="Looked at"
          />
          <span className="mono">{shareText(lookedAt / Math.max(total, lookedAt, 1))}</span>
        </>
      )}
    </div>
  );
}

function shareText(share: number): string {
  return `${Math.floor(share * 100)} %`;
}

/** Pure: how many items a whole look looks at, as of now; `null`: it is not known. */
export function totalOf(
  { state, holder, partition }: Pick<Source, "state" | "holder" | "partition">,
  row: Pick<QueueRow, "ready" | "leased" | "scheduled"> | undefined,
): number | null {
  if (row === undefined || holder !== null || partition !== null) return null;
  const { ready, leased, scheduled } = row;
  if (state === null) return ready + leased + scheduled;
  // Who holds an item does not take it from its place in the queue.
  return state === "scheduled" ? scheduled : ready + leased;
}
