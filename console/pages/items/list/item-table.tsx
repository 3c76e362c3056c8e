import type { MouseEvent, ReactNode } from "react";
import type { FoundItem } from "../../../../openapi/schemas.ts";
import { Age, Countdown } from "../../../components/figures.tsx";
import { LeaseLeft } from "../../../components/lease-left.tsx";
import { type Column, selectColumn, Table } from "../../../components/table/table.tsx";
import type { useVirtualRows } from "../../../components/table/use-virtual-rows.ts";
import { bytesText, withVisibleMarks } from "../../../format.ts";
import { shortId } from "../source.ts";
import type { ItemState } from "../view.ts";
import { Attempts, attemptsOf } from "./attempts.tsx";
import type { Selection } from "./selection.tsx";

interface ItemTableProps {
  readonly items: readonly FoundItem[];
  /** Changed since they were listed; their rows stay until the list is refreshed. */
  readonly goneIds: ReadonlySet<string>;
  readonly state: ItemState;
  readonly isGrouped: boolean;
  readonly isLoading: boolean;
  /** The row under the keyboard. */
  readonly cursor: string;
  readonly open: string;
  /** `null`: the key may change nothing, so nothing can be selected. */
  readonly selection: Selection | null;
  /** The column of boxes has its place, also while the rights of the key are unknown. */
  readonly isChoosing: boolean;
  readonly window: Omit<ReturnType<typeof useVirtualRows>, "scrollTo">;
  readonly onOpen: (id: string) => void;
}

export const ghostCount = 12;

export function ItemTable(props: ItemTableProps): ReactNode {
  const { items, goneIds, state, isGrouped, isLoading, isChoosing, cursor, open } = props;
  const { selection, window, onOpen } = props;
  const lookOf = ({ id }: FoundItem) =>
    [id === (cursor || open) && "cur", selection?.ids.has(id) && "sel", goneIds.has(id) && "gone"]
      .filter(Boolean)
      .join(" ");
  const onRow = ({ id }: FoundItem, { target }: MouseEvent) => {
    if (!(target instanceof Element) || target.closest("input, a") !== null) return;
    // A finger may miss the box.
    if (selection !== null && target.closest(".c-x") !== null) selection.toggle(id);
    else onOpen(id);
  };
  return (
    <Table
      className={`table stack items of-${state} ${isChoosing ? "choosing" : ""} ${isGrouped ? "of-groups" : ""}`}
      label={`Items: ${state}`}
      columns={columnsOf(props)}
      rows={items}
      keyOf={({ id }) => id}
      ghostCount={isLoading ? ghostCount : 0}
      window={window}
      rowLook={lookOf}
      onRow={onRow}
    />
  );
}

const timeTitles = {
  ready: "Since",
  leased: "Lapses in",
  scheduled: "Due in",
  dead: "Died",
} as const satisfies Record<ItemState, string>;

type ColumnsProps = Pick<
  ItemTableProps,
  "state" | "isGrouped" | "goneIds" | "open" | "selection" | "onOpen"
>;

export function columnsOf(props: ColumnsProps): readonly Column<FoundItem>[] {
  const { state, isGrouped, goneIds, open, selection, onOpen } = props;
  return [
    selectColumn<FoundItem>(
      selection && {
        allLabel: "Select all in the list",
        isAll: selection.isEachListed,
        onAll: selection.toggleEach,
        nameOf: ({ id }) => shortId(id),
        isChosen: ({ id }) => selection.ids.has(id),
        isDisabled: ({ id }) => goneIds.has(id),
        onChoose: ({ id }) => selection.toggle(id),
      },
    ),
    {
      title: "Id",
      className: "m0 c-id",
      isHeading: true,
      cell: ({ id }) => <IdLink id={id} isOpen={id === open} onOpen={onOpen} />,
    },
    {
      title: "Kind",
      className: "m2 cut",
      cell: ({ kind, priority }) => (
        <>
          {priority > 0 && (
            <b className="rank" title={`Priority ${priority}`}>
              P{priority}
            </b>
          )}
          {kind || <span className="z">–</span>}
        </>
      ),
    },
    ...(isGrouped ? [groupColumn] : []),
    { title: "Reference", className: "c-2 mono muted cut", cell: ({ reference }) => reference },
    {
      title: "Attempts",
      className: "m3 c-tries",
      cell: (item) => <Attempts {...attemptsOf(item)} />,
    },
    ...stateColumns[state],
    {
      title: timeTitles[state],
      className: "m1 c-time",
      cell: (item) =>
        goneIds.has(item.id) ? (
          <span className="muted">gone</span>
        ) : (
          <When item={item} state={state} />
        ),
    },
    {
      title: "Size",
      className: "n c-2 c-size",
      cell: ({ payload_bytes: bytes }) => bytesText(bytes),
    },
  ];
}

const groupColumn: Column<FoundItem> = {
  title: "Group",
  className: "m4 mono cut",
  hint: ({ group = "" }) => withVisibleMarks(group),
  cell: ({ group = "" }) => (group === "" ? <span className="z">–</span> : <bdi>{group}</bdi>),
};

const stateColumns: Readonly<Record<ItemState, readonly Column<FoundItem>[]>> = {
  ready: [],
  scheduled: [],
  dead: [
    {
      title: "Reason",
      className: "mono cut reason-cell",
      hint: ({ reason }) => reason,
      cell: ({ reason, death = "" }) => reason ?? <span className="muted">{death}</span>,
    },
  ],
  leased: [
    {
      title: "Held by",
      className: "mono cut reason-cell",
      hint: ({ holder }) => holder,
      cell: ({ holder }) =>
        holder === "" ? <span className="muted">not known</span> : <bdi>{holder}</bdi>,
    },
  ],
};

interface IdLinkProps {
  readonly id: string;
  readonly isOpen: boolean;
  readonly onOpen: (id: string) => void;
}

function IdLink({ id, isOpen, onOpen }: IdLinkProps): ReactNode {
  return (
    <a
      href={`?item=${id}`}
      aria-current={isOpen ? "true" : undefined}
      title={id}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        onOpen(id);
      }}
    >
      {shortId(id)}
    </a>
  );
}

function When({ item, state }: { readonly item: FoundItem; readonly state: ItemState }): ReactNode {
  if (state === "leased" && item.lease_deadline !== null) {
    const until = Date.parse(item.lease_deadline);
    return <LeaseLeft from={Date.parse(item.updated_at)} until={until} />;
  }
  if (state === "scheduled" && item.enqueue_at !== null) {
    return <Countdown at={Date.parse(item.enqueue_at)} />;
  }
  return <Age at={Date.parse(state === "dead" ? item.created_at : item.updated_at)} />;
}
