// The table of all queues, and what chooses and orders it.

import { type ReactNode, useEffect, useRef, useState } from "react";
import { useNavigationType, useSearchParams } from "react-router";
import { useShortcuts } from "../../components/frame/shortcuts.ts";
import { useObserved } from "../../state/observable.ts";
import { seen } from "../../state/overview-poll.ts";
import { type Filter, isShown, pressed, type SortKey, sortFrom, sortText } from "./order.ts";
import { QueueTable } from "./queue-table.tsx";
import { Tools } from "./queue-tools.tsx";
import { useHeldOrder } from "./stable-order.ts";

export function QueueList({ onCreate }: { readonly onCreate: () => void }): ReactNode {
  const { overview } = useObserved(seen);
  const { filter, sort, setFilter, setSort } = useChoice();
  const table = useRef<HTMLDivElement>(null);
  const order = useHeldOrder(overview, sort, table);
  const filterField = useRef<HTMLInputElement>(null);
  useShortcuts({
    "/": (event) => {
      event.preventDefault();
      filterField.current?.focus();
      filterField.current?.select();
    },
    s: order.sortAgain,
  });
  const queues = overview?.queues;
  const names = order.names.filter((name) => isShown(queues?.get(name), name, filter));
  return (
    <>
      <Tools
        filter={filter}
        onFilter={setFilter}
        field={filterField}
        shownCount={names.length}
        orderedAtMs={order.atMs}
        onSortAgain={order.sortAgain}
        onCreate={onCreate}
      />
      <div ref={table}>
        <QueueTable
          names={names}
          sort={sort}
          onSort={(key: SortKey) => setSort(pressed(sort, key))}
          onClear={() => setFilter({ text: "", isTroubleOnly: false })}
        />
      </div>
    </>
  );
}

/** Which queues in which order: the address has it, so that it can be sent to others. */
function useChoice() {
  const [query, setQuery] = useSearchParams();
  const inAddress = query.get("q") ?? "";
  // What is typed is shown at once; the address follows, and leads when the reader goes back.
  const [text, setText] = useState(inAddress);
  const navigation = useNavigationType();
  useEffect(() => {
    // What was typed meanwhile is newer than an address that this page wrote itself.
    if (navigation === "POP") setText(inAddress);
  }, [inAddress, navigation]);
  const change = (values: Readonly<Record<string, string>>) =>
    setQuery(
      (before) => {
        for (const [name, value] of Object.entries(values)) {
          if (value === "") before.delete(name);
          else before.set(name, value);
        }
        return before;
      },
      { replace: true, preventScrollReset: true },
    );
  const filter: Filter = { text, isTroubleOnly: query.get("only") === "trouble" };
  return {
    filter,
    sort: sortFrom(query.get("sort")),
    setFilter: (next: Filter) => {
      setText(next.text);
      change({ q: next.text, only: next.isTroubleOnly ? "trouble" : "" });
    },
    setSort: (next: ReturnType<typeof sortFrom>) => {
      const said = sortText(next);
      change({ sort: said === "trouble" ? "" : said });
    },
  };
}
