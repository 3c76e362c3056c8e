import { type ReactNode, type RefObject, useEffect, useRef } from "react";
import type { FoundItem } from "../../../../openapi/schemas.ts";
import { RowSpace, textScale, useVirtualRows } from "../../../components/table/virtual-rows.tsx";
import { useIsPhone } from "../../../components/use-is-phone.ts";
import type { ItemState } from "../view.ts";
import { GhostItemRow, ItemRow } from "./item-row.tsx";
import type { Selection } from "./use-selection.ts";

interface ItemTableProps {
  readonly items: readonly FoundItem[];
  readonly goneIds: ReadonlySet<string>;
  readonly state: ItemState;
  readonly isLoading: boolean;
  readonly cursor: string;
  readonly open: string;
  /** `null`: nothing may be changed, so nothing is chosen. */
  readonly selection: Selection | null;
  /** There is room for boxes, also while it is not known whether there are any. */
  readonly isChoosing: boolean;
  readonly scroller: RefObject<(index: number) => void>;
  readonly onOpen: (id: string) => void;
}

const timeTitles = {
  ready: "Since",
  leased: "Lapses in",
  scheduled: "Due in",
  dead: "Died",
} as const satisfies Record<ItemState, string>;

const ghostCount = 12;

export function ItemTable(props: ItemTableProps): ReactNode {
  const { items, goneIds, state, isLoading, isChoosing, cursor, open } = props;
  const { selection, scroller, onOpen } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const isPhone = useIsPhone();
  const rows = useVirtualRows({
    count: items.length,
    body,
    rowHeight: (isPhone ? 64 : 32) * textScale,
    coverTop: isPhone ? 60 : 170,
    coverBottom: isPhone ? 150 : 90,
  });
  useEffect(() => {
    scroller.current = rows.scrollTo;
  });
  const columnCount = state === "dead" || state === "leased" ? 8 : 7;
  return (
    <table
      className={`table stack items of-${state} ${isChoosing ? "choosing" : ""}`}
      aria-label={`Items: ${state}`}
      aria-rowcount={items.length + 1}
    >
      <TableHead state={state} selection={selection} />
      <tbody ref={body}>
        {isLoading &&
          Array.from({ length: ghostCount }, (_, at) => (
            <GhostItemRow key={at} columnCount={columnCount} />
          ))}
        {/* Of one column: it would make columns of those that a narrow list leaves out. */}
        <RowSpace height={rows.before} columnCount={1} />
        {rows.indexes.map((index) => {
          const item = items[index];
          if (item === undefined) return null;
          return (
            <ItemRow
              key={item.id}
              item={item}
              state={state}
              index={index}
              isGone={goneIds.has(item.id)}
              isCurrent={item.id === (cursor || open)}
              isOpen={item.id === open}
              isChosen={selection?.ids.has(item.id) ?? false}
              onChoose={selection?.toggle ?? null}
              onOpen={onOpen}
            />
          );
        })}
        <RowSpace height={rows.after} columnCount={1} />
      </tbody>
    </table>
  );
}

interface TableHeadProps {
  readonly state: ItemState;
  readonly selection: Selection | null;
}

function TableHead({ state, selection }: TableHeadProps): ReactNode {
  return (
    <thead>
      <tr>
        <th scope="col" className="c-x">
          <SelectEach selection={selection} />
        </th>
        <th scope="col" className="c-id">
          Id
        </th>
        <th scope="col">Kind</th>
        <th scope="col" className="c-2">
          Reference
        </th>
        <th scope="col" className="c-tries">
          Attempts
        </th>
        {state === "dead" && <th scope="col">Reason</th>}
        {state === "leased" && <th scope="col">Held by</th>}
        <th scope="col" className="c-time">
          {timeTitles[state]}
        </th>
        <th scope="col" className="n c-2 c-size">
          Size
        </th>
      </tr>
    </thead>
  );
}

function SelectEach({ selection }: { readonly selection: Selection | null }): ReactNode {
  if (selection === null) return <span className="vh">State</span>;
  return (
    <input
      type="checkbox"
      aria-label="Select all in the list"
      checked={selection.isEachListed}
      onChange={selection.toggleEach}
    />
  );
}
