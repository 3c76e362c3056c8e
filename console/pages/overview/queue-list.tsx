// The table of all queues, with its filter and its order.

import { type ReactNode, type RefObject, useRef } from "react";
import { useMay } from "../../api/permissions.ts";
import { Button } from "../../components/button.tsx";
import { useShortcuts } from "../../components/frame/shortcuts.ts";
import { Icon } from "../../components/glyph/glyph.tsx";
import { Segments } from "../../components/segments.tsx";
import { useAddress, useTypedText } from "../../components/use-address.ts";
import { clockText, countText, plural } from "../../format.ts";
import { isTrouble } from "../../state/health.ts";
import { useOverview } from "../../state/overview-poll.ts";
import { useZone } from "../../state/preferences.ts";
import { type Filter, isShown, pressed, type Sort, sortFrom, sortText } from "./order.ts";
import { QueueTable } from "./queue-table.tsx";
import { useStableOrder } from "./stable-order.ts";

export function QueueList({ onCreate }: { readonly onCreate: () => void }): ReactNode {
  const overview = useOverview();
  const { filter, sort, setFilter, setSort } = useChoice();
  const table = useRef<HTMLDivElement>(null);
  const { names, atMs, sortAgain } = useStableOrder(overview, sort, table);
  const filterField = useRef<HTMLInputElement>(null);
  useShortcuts({
    "/": (event) => {
      event.preventDefault();
      filterField.current?.focus();
      filterField.current?.select();
    },
    s: sortAgain,
  });
  const shown = names.filter((name) => isShown(overview?.queues.get(name), name, filter));
  return (
    <>
      <QueueTools
        filter={filter}
        onFilter={setFilter}
        field={filterField}
        shownCount={shown.length}
        orderedAtMs={atMs}
        onSortAgain={sortAgain}
        onCreate={onCreate}
      />
      <div ref={table}>
        <QueueTable
          names={shown}
          sort={sort}
          onSort={(key) => setSort(pressed(sort, key))}
          onClear={() => setFilter({ text: "", isTroubleOnly: false })}
        />
      </div>
    </>
  );
}

/** Filter and order are in the address, so that it can be sent to others. */
function useChoice() {
  const [query, change] = useAddress();
  const [text, setText] = useTypedText(query.get("q") ?? "");
  return {
    filter: { text, isTroubleOnly: query.get("only") === "trouble" },
    sort: sortFrom(query.get("sort")),
    setFilter: (next: Filter) => {
      setText(next.text);
      change({ q: next.text, only: next.isTroubleOnly ? "trouble" : "" });
    },
    setSort: (next: Sort) => change({ sort: sortText(next).replace(/^trouble$/, "") }),
  };
}

interface QueueToolsProps {
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
  readonly field: RefObject<HTMLInputElement | null>;
  readonly shownCount: number;
  readonly orderedAtMs: number;
  readonly onSortAgain: () => void;
  readonly onCreate: () => void;
}

export function QueueTools(props: QueueToolsProps): ReactNode {
  const { filter, onFilter, field, shownCount, orderedAtMs, onSortAgain, onCreate } = props;
  const overview = useOverview();
  const zone = useZone();
  const mayChange = useMay("admin");
  const rows = [...(overview?.queues.values() ?? [])];
  const count = rows.length;
  return (
    <search className="tools">
      <label className="filter">
        <span className="vh">Filter queues</span>
        <Icon name="search" />
        <input
          ref={field}
          className="t"
          placeholder="Filter by name"
          autoComplete="off"
          spellCheck={false}
          value={filter.text}
          onChange={({ target }) => onFilter({ ...filter, text: target.value })}
          onKeyDown={({ key, currentTarget }) => {
            if (key !== "Escape") return;
            if (filter.text === "") currentTarget.blur();
            else onFilter({ ...filter, text: "" });
          }}
        />
        <kbd>/</kbd>
      </label>
      <Segments
        legend="Show"
        of={{
          all: segment("All", count),
          trouble: segment("In trouble", rows.filter(({ health }) => isTrouble(health)).length),
        }}
        chosen={filter.isTroubleOnly ? "trouble" : "all"}
        onChoose={(id) => onFilter({ ...filter, isTroubleOnly: id === "trouble" })}
      />
      <span className="muted shown grow" role="status">
        {overview &&
          (shownCount === count
            ? plural(count, "queue", "queues")
            : `${countText(shownCount)} of ${countText(count)} queues`)}
      </span>
      <span className="muted wide-only order">
        {orderedAtMs > 0 && (
          <>
            order of {clockText(orderedAtMs, zone)}{" "}
            <Button look="link" onClick={onSortAgain}>
              sort again
            </Button>{" "}
            <kbd>s</kbd>
          </>
        )}
      </span>
      {/* Invisible without the role, so that nothing moves when a key gains or loses it. */}
      <Button className={mayChange ? "b" : "b unknown"} onClick={onCreate}>
        Create queue
      </Button>
    </search>
  );
}

function segment(text: string, count: number): ReactNode {
  return (
    <>
      {text} <small>{countText(count)}</small>
    </>
  );
}
