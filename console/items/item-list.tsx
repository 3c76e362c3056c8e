// The list: what is shown of what matches, which row is under the keyboard, which are chosen.

import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, type RefObject, useEffect, useState } from "react";
import { Button } from "../parts/button.tsx";
import { Fault } from "../parts/refusal.tsx";
import { BulkBar } from "./bulk-bar.tsx";
import { verbsFor } from "./changes.ts";
import { ItemTable } from "./item-table.tsx";
import { NoItems } from "./no-items.tsx";
import { ScanLine } from "./scan-line.tsx";
import { atLeast, itemsKey, type Source, useCounted, useFound } from "./source.ts";
import { useFollow } from "./use-follow.ts";
import { useListKeys } from "./use-list-keys.ts";
import { useSelection } from "./use-selection.ts";
import { useVerbs } from "./use-verbs.ts";
import type { View } from "./view.ts";

interface ItemListProps {
  readonly view: View;
  readonly source: Source;
  readonly onOpen: (id: string) => void;
  /** Opens the item before or after the one that is open; set here, as the list knows it. */
  readonly step: RefObject<(by: number) => void>;
}

const none: ReadonlySet<string> = new Set();

export function ItemList({ view, source, onOpen, step }: ItemListProps): ReactNode {
  const found = useFound(source);
  const [cursor, setCursor] = useState(view.item);
  const client = useQueryClient();
  const verbs = useVerbs(verbsFor(view.state), source.queueName);
  const mayChange = verbs !== null && verbs.length > 0;
  const pages = found.data?.pages ?? [];
  const listed = pages.flatMap(({ items }) => items);
  const counted = atLeast(useCounted(source), listed.length);
  const follow = useFollow(source, listed, lastPageOf(found));
  const { items, goneIds } = follow.followed ?? { items: listed, goneIds: none };
  const selection = useSelection(items, goneIds);
  const keys = useListKeys({
    items,
    open: view.item,
    cursor,
    setCursor,
    onOpen,
    selection,
    source,
    step,
  });
  const lookAgain = () => {
    follow.startOver();
    void client.invalidateQueries({ queryKey: [itemsKey] });
  };
  const isDone = found.data !== undefined && !found.hasNextPage && items.length === 0;
  return (
    <>
      <ScanLine
        counted={counted}
        seenAt={follow.followed?.seenAt ?? pages[0]?.seenAt ?? null}
        lookedAt={pages.reduce((sum, { looked_at }) => sum + looked_at, 0)}
        shownCount={items.length}
        view={view}
        follow={follow}
        onLookAgain={lookAgain}
      />
      {found.error !== null && (
        <Fault
          of={found.error}
          what="The items are not shown."
          onRetry={() => void found.refetch()}
        />
      )}
      {isDone ? (
        <NoItems view={view} />
      ) : (
        <ItemTable
          items={items}
          goneIds={goneIds}
          state={view.state}
          isLoading={found.data === undefined && found.error === null}
          cursor={cursor}
          open={view.item}
          selection={mayChange ? selection : null}
          isChoosing={verbs === null || mayChange}
          scroller={keys.scroller}
          onOpen={(id) => {
            setCursor(id);
            onOpen(id);
          }}
        />
      )}
      {found.hasNextPage && follow.followed === null && <More found={found} />}
      {selection.ids.size > 0 && mayChange && (
        <BulkBar verbs={verbs} source={source} selection={selection} counted={counted} />
      )}
    </>
  );
}

function lastPageOf({ data }: ReturnType<typeof useFound>) {
  const pivot = String(data?.pageParams.at(-1) ?? "");
  if (data === undefined || pivot === "") return null;
  return {
    pivot,
    after: data.pages
      .slice(0, -1)
      .flatMap(({ items }) => items)
      .at(-1),
  };
}

interface MoreProps {
  readonly found: ReturnType<typeof useFound>;
}

/** The server looks at so many items a call, where a rare filter may mean none: then it goes on. */
function More({ found }: MoreProps): ReactNode {
  const { data, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = found;
  const [isStopped, setStopped] = useState(false);
  const isBarren = data?.pages.at(-1)?.items.length === 0;
  const isSearching = isBarren && !isStopped && !isFetchNextPageError;
  useEffect(() => {
    if (isSearching && !isFetchingNextPage) void fetchNextPage();
  }, [isSearching, isFetchingNextPage, fetchNextPage]);
  const loadMore = () => {
    setStopped(false);
    void fetchNextPage();
  };
  return (
    <div className="under">
      {isSearching ? (
        <Button onClick={() => setStopped(true)}>Stop looking</Button>
      ) : (
        <Button disabled={isFetchingNextPage} onClick={loadMore}>
          Load more
        </Button>
      )}
    </div>
  );
}
