import { type ReactNode, useMemo, useState } from "react";
import { Link, useNavigate } from "react-router";
import type { GroupInfo, QueueInfo } from "../../../openapi/schemas.ts";
import { itemAddress, itemsAddress } from "../../addresses.ts";
import { Button } from "../../components/button.tsx";
import { Age, Countdown } from "../../components/figures.tsx";
import { StateGlyph } from "../../components/glyph/glyph.tsx";
import { type Column, Table } from "../../components/table/table.tsx";
import { useRowKeys } from "../../components/table/use-row-keys.ts";
import { countText, withVisibleMarks } from "../../format.ts";
import { shortId } from "../items/source.ts";
import { type GroupLimits, mainState, ownText, stateOf } from "./group-state.ts";

/** The name alone: it is not in the list now, and keeps its place while the table is in use. */
type Row = GroupInfo | string;

interface GroupTableProps {
  readonly name: string;
  readonly queue: QueueInfo | undefined;
  readonly rows: readonly Row[];
  readonly isLoading: boolean;
  /** `null`: not known yet; the buttons have their place. */
  readonly mayChange: boolean | null;
  readonly onSet: (info: GroupInfo) => void;
  readonly onUnblock: (info: GroupInfo) => void;
}

const ghostCount = 12;
const noLimits: GroupLimits = { group_leased_max: 0, group_rate: "" };
const groupOf = (row: Row) => (typeof row === "string" ? row : row.group);

export function GroupTable(props: GroupTableProps): ReactNode {
  const { name, queue = noLimits, rows, isLoading, mayChange, onSet, onUnblock } = props;
  const [cursor, setCursor] = useState<string | null>(null);
  const navigate = useNavigate();
  useRowKeys({
    ids: rows.map(groupOf),
    cursor,
    setCursor,
    scrollTo: scrollToRow,
    onOpen(group) {
      const row = rows.find((one) => groupOf(one) === group);
      void navigate(itemsOf(name, row ?? group));
    },
    onEscape: () => setCursor(null),
  });
  const { group_leased_max, group_rate } = queue;
  const columns = useMemo(
    () =>
      columnsOf({ name, limits: { group_leased_max, group_rate }, mayChange, onSet, onUnblock }),
    // Rows are drawn again if their columns change; both functions only open a dialog.
    [name, group_leased_max, group_rate, mayChange],
  );
  return (
    <Table
      className="table stack groups"
      label="Groups"
      columns={columns}
      rows={rows}
      keyOf={groupOf}
      ghostCount={isLoading ? ghostCount : 0}
      rowLook={(row) => (groupOf(row) === cursor ? "cur" : "")}
    />
  );
}

function scrollToRow(index: number): void {
  document.querySelectorAll(".groups tbody tr")[index]?.scrollIntoView({ block: "nearest" });
}

function itemsOf(name: string, row: Row): string {
  if (typeof row === "string") return itemsAddress(name, { group: row });
  return itemsAddress(name, { state: mainState(row), group: row.group });
}

/** A cell of groups that are in the list. */
function of<Value>(read: (row: GroupInfo) => Value): (row: Row) => Value | undefined {
  return (row) => (typeof row === "string" ? undefined : read(row));
}

function counts(countOf: (row: GroupInfo) => number) {
  return {
    look: of((row) => countOf(row) === 0 && "z"),
    cell: of((row) => countText(countOf(row))),
  };
}

interface ColumnsProps extends Pick<GroupTableProps, "name" | "mayChange" | "onSet" | "onUnblock"> {
  readonly limits: GroupLimits;
}

function columnsOf(props: ColumnsProps): readonly Column<Row>[] {
  const { name, limits, mayChange, onSet, onUnblock } = props;
  return [
    {
      title: "Group",
      className: "m0 c-name",
      isHeading: true,
      hint: (row) => withVisibleMarks(groupOf(row)),
      cell: (row) => (
        <Link to={itemsOf(name, row)} className="cut">
          {groupOf(row) === "" ? <i className="muted">no name</i> : <bdi>{groupOf(row)}</bdi>}
        </Link>
      ),
    },
    {
      title: "State",
      className: "m2 c-state",
      cell: (row) =>
        typeof row === "string" ? (
          <i className="muted">not in the list now</i>
        ) : (
          <State info={row} limits={limits} onUnblock={mayChange ? onUnblock : null} />
        ),
    },
    { title: "Waiting", className: "n m1 labelled", ...counts(({ waiting }) => waiting) },
    { title: "Leased", className: "n c-4", ...counts(({ leased }) => leased) },
    { title: "Scheduled", className: "n c-3", ...counts(({ scheduled }) => scheduled) },
    { title: "Retried", className: "n c-3", ...counts(({ retried }) => retried) },
    {
      title: "Oldest",
      className: "n m4",
      meaning: "When its first waiting item was produced",
      look: of(({ oldest_at: at }) => at === null && "z"),
      cell: of(({ oldest_at: at }) => (at === null ? "–" : <Age at={Date.parse(at)} />)),
    },
    {
      title: "Own settings",
      className: "c-3 c-own mono muted cut",
      hint: of(ownText),
      cell: of(ownText),
    },
    ...(mayChange === false ? [] : [setColumn(mayChange ? onSet : null)]),
  ];
}

function setColumn(onSet: ((info: GroupInfo) => void) | null): Column<Row> {
  return {
    title: "Set",
    className: "c-set",
    heading: <span className="vh">Set</span>,
    cell: of(
      (info) =>
        onSet && (
          <Button look="small" onClick={() => onSet(info)}>
            Set…
          </Button>
        ),
    ),
  };
}

interface StateProps {
  readonly info: GroupInfo;
  readonly limits: GroupLimits;
  /** `null`: the key may not. */
  readonly onUnblock: ((info: GroupInfo) => void) | null;
}

function State({ info, limits, onUnblock }: StateProps): ReactNode {
  const { text, glyph, tone, item, opensAt } = stateOf(info, limits);
  return (
    <span className={`health h-${tone}`}>
      <StateGlyph name={glyph} />
      <span className="cut">
        <b>{text}</b>
        {item !== "" && (
          <>
            {" "}
            <Link className="link mono" to={itemAddress(item)} title={item}>
              {shortId(item)}
            </Link>
          </>
        )}
        {opensAt !== null && (
          <>
            {" "}
            <Countdown at={opensAt} />
          </>
        )}
      </span>
      {info.blocked_by === "dead" && onUnblock && (
        <Button look="link" onClick={() => onUnblock(info)}>
          Unblock…
        </Button>
      )}
    </span>
  );
}
