// The list of items, with the row under the keyboard and the selection.

import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, type RefObject, useEffect, useState } from "react";
import { Link } from "react-router";
import type { FoundItem } from "../../../../openapi/schemas.ts";
import { itemsAddress } from "../../../addresses.ts";
import { copyCall } from "../../../components/copy.ts";
import { Empty } from "../../../components/empty.tsx";
import { useShortcuts } from "../../../components/frame/shortcuts.ts";
import { Fault } from "../../../components/refusal.tsx";
import { useRowKeys } from "../../../components/table/use-row-keys.ts";
import { useVirtualRows } from "../../../components/table/use-virtual-rows.ts";
import { useIsPhone } from "../../../components/use-is-phone.ts";
import { useObservable } from "../../../state/observable.ts";
import { verbsFor } from "../changes/changes.ts";
import { useVerbs } from "../changes/verb-buttons.tsx";
import {
  changedIds,
  listRequestOf,
  refreshList,
  type Source,
  useCounted,
  useFound,
  withListed,
} from "../source.ts";
import type { View } from "../view.ts";
import { ItemTable } from "./item-table.tsx";
import { MatchCount } from "./match-count.tsx";
import { type Search, SearchProgress, useSearch } from "./search.tsx";
import { BulkBar, type Selection, useSelection } from "./selection.tsx";

interface ItemListProps {
  readonly view: View;
  readonly source: Source;
  /** Whether the items of the queue have groups. */
  /** `undefined` = not known yet. */
  readonly isGrouped: boolean | undefined;
  readonly onOpen: (id: string) => void;
  /** Opens the item before or after the one that is open; set here, as the list knows it. */
  readonly step: RefObject<(by: number) => void>;
}

export function ItemList({ view, source, isGrouped, onOpen, step }: ItemListProps): ReactNode {
  const found = useFound(source);
  const [cursor, setCursor] = useState(view.item);
  const client = useQueryClient();
  const verbs = useVerbs(verbsFor(view.state), source.queueName);
  const mayChange = verbs !== null && verbs.length > 0;
  const { items, isWhole, seenAt, counted } = useListed(source, found);
  const goneIds = useObservable(changedIds);
  const search = useSearch(found);
  const selection = useSelection(items, goneIds);
  const isPhone = useIsPhone();
  const { scrollTo, ...window } = useVirtualRows({
    count: items.length,
    coverTop: isPhone ? 60 : 170,
    coverBottom: isPhone ? 150 : 90,
  });
  useListKeys({
    view,
    source,
    items,
    cursor,
    setCursor,
    scrollTo,
    onOpen,
    step,
    selection,
    search,
  });
  return (
    <>
      <MatchCount
        counted={counted}
        seenAt={seenAt}
        view={view}
        isSearching={search.isSearching}
        onRefresh={() => refreshList(client)}
      />
      <ListFault found={found} search={search} />
      {isWhole && items.length === 0 ? (
        <NoItems view={view} />
      ) : (
        <ItemTable
          items={isGrouped === undefined ? [] : items}
          goneIds={goneIds}
          state={view.state}
          isGrouped={isGrouped ?? false}
          isLoading={isGrouped === undefined || (found.data === undefined && found.error === null)}
          cursor={cursor}
          open={view.item}
          selection={mayChange ? selection : null}
          isChoosing={verbs === null || mayChange}
          window={window}
          onOpen={(id) => {
            setCursor(id);
            onOpen(id);
          }}
        />
      )}
      {found.hasNextPage && <SearchProgress source={source} found={found} search={search} />}
      {selection.ids.size > 0 && mayChange && (
        <BulkBar verbs={verbs} source={source} selection={selection} counted={counted} />
      )}
    </>
  );
}

interface ListKeys extends Omit<ItemListProps, "isGrouped"> {
  readonly items: readonly FoundItem[];
  readonly cursor: string;
  readonly setCursor: (id: string) => void;
  readonly scrollTo: (index: number) => void;
  readonly selection: Selection;
  readonly search: Search;
}

function useListKeys(list: ListKeys): void {
  const { view, source, items, cursor, setCursor, scrollTo, onOpen, step, selection, search } =
    list;
  const { move } = useRowKeys({
    ids: items.map(({ id }) => id),
    cursor: cursor || null,
    setCursor,
    scrollTo,
    onOpen,
    onToggle: selection.toggle,
    onEscape() {
      if (view.item !== "") onOpen("");
      else if (search.isSearching) search.stop();
      else selection.clear();
    },
  });
  const openNeighbour = (by: number) => {
    const id = view.item === "" ? undefined : move(by);
    if (id !== undefined) onOpen(id);
  };
  useEffect(() => {
    step.current = openNeighbour;
  });
  useShortcuts({
    "[": () => openNeighbour(-1),
    "]": () => openNeighbour(1),
    c() {
      const id = view.item || cursor;
      if (id !== "") copyCall({ id: "getItem", body: { id } });
      else copyCall({ id: "findItems", body: listRequestOf(source) });
    },
  });
}

interface ListFaultProps {
  readonly found: ReturnType<typeof useFound>;
  readonly search: Search;
}

/** The items found so far stay, and the search can be resumed. */
function ListFault({ found: { data, error, refetch }, search }: ListFaultProps): ReactNode {
  if (error === null) return null;
  return data === undefined ? (
    <Fault of={error} what="The items are not shown." onRetry={() => void refetch()} />
  ) : (
    <Fault of={error} what="The search was interrupted." onRetry={search.resume} />
  );
}

function useListed(source: Source, { data, hasNextPage }: ReturnType<typeof useFound>) {
  const pages = data?.pages ?? [];
  const items = pages.flatMap(({ items }) => items);
  const scanned = pages.reduce((sum, page) => sum + page.scanned, 0);
  const isWhole = data !== undefined && !hasNextPage;
  const counted = withListed(useCounted(source), { count: items.length, scanned, isWhole });
  return { items, isWhole, seenAt: pages[0]?.seenAt ?? null, counted };
}

const emptyTexts = {
  ready:
    "Nothing is ready. An item produced without enqueue_at is ready at once, until it is leased.",
  leased:
    "No item of this queue is leased. queue.lease leases items to a consumer, until they are completed or the lease lapses.",
  scheduled:
    "Nothing is scheduled. Items produced with enqueue_at are, and items retried with retry_at.",
  dead: "No item of this queue has died. An item dies when its attempts are used up, when it expires, or when it is rejected.",
} as const;

export function NoItems({ view }: { readonly view: View }): ReactNode {
  if (view.conditions.length === 0)
    return <Empty glyph={view.state}>{emptyTexts[view.state]}</Empty>;
  return (
    <Empty glyph={view.state}>
      No {view.state} item matches this filter.{" "}
      <Link className="link" to={itemsAddress(view.name, { state: view.state })}>
        Clear the filter
      </Link>
    </Empty>
  );
}
