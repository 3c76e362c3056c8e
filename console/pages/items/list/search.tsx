import { type ReactNode, useEffect, useState } from "react";
import { Button } from "../../../components/button.tsx";
import { useObservablePart } from "../../../state/observable.ts";
import { pollState } from "../../../state/overview-poll.ts";
import type { QueueRow } from "../../../state/overview-state.ts";
import { pageLimit, type Source, type useFound } from "../source.ts";

interface SearchProgressProps {
  readonly source: Source;
  readonly found: ReturnType<typeof useFound>;
  readonly search: Search;
}

/** Below an incomplete list: the progress of the search, and how to stop or resume it. */
export function SearchProgress({ source, found, search }: SearchProgressProps): ReactNode {
  const scanned = found.data?.pages.reduce((sum, page) => sum + page.scanned, 0) ?? 0;
  const total = useObservablePart(pollState, ({ overview }) =>
    totalOf(source, overview?.queues.get(source.queueName)),
  );
  if (!search.isSearching) {
    return (
      <div className="under">
        <Button disabled={found.isFetchingNextPage} onClick={search.resume}>
          {(found.data?.pages.at(-1)?.items.length ?? 0) < pageLimit
            ? "Continue searching"
            : "Load more"}
        </Button>
      </div>
    );
  }
  return (
    <div className="under look">
      <Button onClick={search.stop} title="Escape does the same; what was found stays">
        Stop searching
      </Button>
      {total !== null && (
        <>
          <progress
            className="meter"
            max={Math.max(total, scanned, 1)}
            value={scanned}
            aria-label="Scanned"
          />
          <span className="mono">{shareText(scanned / Math.max(total, scanned, 1))}</span>
        </>
      )}
    </div>
  );
}

function shareText(share: number): string {
  return `${Math.floor(share * 100)} %`;
}

/** Pure: how many items a complete search scans; `null`: not known. */
export function totalOf(
  { state, holder, partition }: Pick<Source, "state" | "holder" | "partition">,
  row: Pick<QueueRow, "ready" | "leased" | "scheduled"> | undefined,
): number | null {
  if (row === undefined || holder !== null || partition !== null) return null;
  const { ready, leased, scheduled } = row;
  if (state === null) return ready + leased + scheduled;
  // Leased items keep their places among the ready ones.
  return state === "scheduled" ? scheduled : ready + leased;
}

/**
 * A call scans a limited number of items, of which a rare filter may match few. The search continues
 * until a page is full, all items are scanned, or the reader stops it.
 */
export function useSearch(found: ReturnType<typeof useFound>) {
  const { data, hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = found;
  const [wanted, setWanted] = useState(pageLimit);
  const [isStopped, setStopped] = useState(false);
  const count = data?.pages.reduce((sum, { items }) => sum + items.length, 0) ?? 0;
  const isSearching = hasNextPage && !isStopped && !isFetchNextPageError && count < wanted;
  useEffect(() => {
    if (isSearching && !isFetching) void fetchNextPage();
  }, [isSearching, isFetching, fetchNextPage]);
  return {
    isSearching,
    stop: () => setStopped(true),
    resume: () => {
      setStopped(false);
      setWanted(count + pageLimit);
      void fetchNextPage();
    },
  };
}

export type Search = ReturnType<typeof useSearch>;
