import { useEffect, useState } from "react";
import { pageLimit, type useFound } from "../source.ts";

/**
 * A call looks at so many items, where a rare filter may mean none or few: then it goes on by itself
 * until a page is full, all is looked at, or its reader stops it.
 */
export function useLooking(found: ReturnType<typeof useFound>, { isHeld }: { isHeld: boolean }) {
  const { data, hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = found;
  const [wanted, setWanted] = useState(pageLimit);
  const [isStopped, setStopped] = useState(false);
  const count = data?.pages.reduce((sum, { items }) => sum + items.length, 0) ?? 0;
  const isLooking = hasNextPage && !isHeld && !isStopped && !isFetchNextPageError && count < wanted;
  useEffect(() => {
    if (isLooking && !isFetching) void fetchNextPage();
  }, [isLooking, isFetching, fetchNextPage]);
  return {
    isLooking,
    stop: () => setStopped(true),
    goOn: () => {
      setStopped(false);
      setWanted(count + pageLimit);
      void fetchNextPage();
    },
  };
}

export type Looking = ReturnType<typeof useLooking>;
