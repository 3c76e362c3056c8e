// The list: what is shown of what matches, which row is under the keyboard, which are chosen.

import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, type RefObject, useState } from "react";
import { Fault } from "../../../components/refusal.tsx";
import { useObserved } from "../../../state/observable.ts";
import { verbsFor } from "../changes/changes.ts";
import { useVerbs } from "../changes/use-verbs.ts";
import { changedIds, lookAgain, type Source, useCounted, useFound, withListed } from "../source.ts";
import type { View } from "../view.ts";
import { BulkBar } from "./bulk-bar.tsx";
import { ItemTable } from "./item-table.tsx";
import { ScanLine } from "./match-count.tsx";
import { NoItems } from "./no-items.tsx";
import { LookProgress } from "./search-progress.tsx";
import { useFollow } from "./use-follow.ts";
import { useListKeys } from "./use-list-keys.ts";
import { type Looking, useLooking } from "./use-search.ts";
import { useSelection } from "./use-selection.ts";

interface ItemListProps {
  readonly view: View;
  readonly source: Source;
  readonly onOpen: (id: string) => void;
  /** Opens the item before or after the one that is open; set here, as the list knows it. */
  readonly step: RefObject<(by: number) => void>;
}

export function ItemList({ view, source, onOpen, step }: ItemListProps): ReactNode {
  const found = useFound(source);
  const [cursor, setCursor] = useState(view.item);
  const client = useQueryClient();
  const verbs = useVerbs(verbsFor(view.state), source.queueName);
  const mayChange = verbs !== null && verbs.length > 0;
  const { listed, isWhole, firstSeenAt, counted } = useListed(source, found);
  const follow = useFollow(source, listed, lastPageOf(found));
  const changed = useObserved(changedIds);
  const { items, goneIds } = follow.followed ?? { items: listed, goneIds: changed };
  const looking = useLooking(found, { isHeld: follow.isOn });
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
    stopLooking: looking.isLooking ? looking.stop : null,
  });
  return (
    <>
      <ScanLine
        counted={counted}
        seenAt={follow.followed?.seenAt ?? firstSeenAt}
        shownCount={items.length}
        view={view}
        follow={follow}
        isLooking={looking.isLooking}
        onLookAgain={() => {
          follow.startOver();
          lookAgain(client);
        }}
      />
      <ListFault found={found} looking={looking} />
      {isWhole && items.length === 0 ? (
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
      {found.hasNextPage && follow.followed === null && (
        <LookProgress source={source} found={found} looking={looking} />
      )}
      {selection.ids.size > 0 && mayChange && (
        <BulkBar verbs={verbs} source={source} selection={selection} counted={counted} />
      )}
    </>
  );
}

interface ListFaultProps {
  readonly found: ReturnType<typeof useFound>;
  readonly looking: Looking;
}

/** What was found before it stays, and the look goes on from there. */
function ListFault({ found: { data, error, refetch }, looking }: ListFaultProps): ReactNode {
  if (error === null) return null;
  return data === undefined ? (
    <Fault of={error} what="The items are not shown." onRetry={() => void refetch()} />
  ) : (
    <Fault of={error} what="The look broke off." onRetry={looking.goOn} />
  );
}

function useListed(source: Source, { data, hasNextPage }: ReturnType<typeof useFound>) {
  const pages = data?.pages ?? [];
  const listed = pages.flatMap(({ items }) => items);
  const lookedAt = pages.reduce((sum, { looked_at }) => sum + looked_at, 0);
  const isWhole = data !== undefined && !hasNextPage;
  const counted = withListed(useCounted(source), { count: listed.length, lookedAt, isWhole });
  return { listed, isWhole, firstSeenAt: pages[0]?.seenAt ?? null, counted };
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
