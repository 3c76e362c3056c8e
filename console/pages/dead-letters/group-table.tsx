import { type ReactNode, useState } from "react";
import { Link, useNavigate } from "react-router";
import type { ItemGroup } from "../../../openapi/schemas.ts";
import { itemsAddress } from "../../addresses.ts";
import { Button } from "../../components/button.tsx";
import { Empty } from "../../components/empty.tsx";
import { Age, ClockTime } from "../../components/figures.tsx";
import { type Column, selectColumn, Table } from "../../components/table/table.tsx";
import { useRowKeys } from "../../components/table/use-row-keys.ts";
import { countText, itemsText, plural } from "../../format.ts";
import { type Grouping, type Groups, groupings, type useGroups } from "./use-groups.ts";

interface GroupTableProps {
  readonly name: string;
  readonly by: Grouping;
  readonly found: ReturnType<typeof useGroups>;
  /** `null`: the key may change nothing, so nothing can be selected. */
  readonly chosen: ReadonlySet<string> | null;
  readonly onChoose: (chosen: ReadonlySet<string>) => void;
}

/** A longer table would not be an overview. */
const shownMax = 200;

export function GroupTable({ name, by, found, chosen, onChoose }: GroupTableProps): ReactNode {
  const { data } = found;
  const groups = (data?.groups ?? []).slice(0, shownMax);
  const toggle = (value: string) => {
    const next = new Set(chosen);
    if (!next.delete(value)) next.add(value);
    onChoose(next);
  };
  const [cursor, setCursor] = useState<string | null>(null);
  const navigate = useNavigate();
  useRowKeys({
    ids: groups.map(({ value }) => value),
    cursor,
    setCursor,
    onOpen: (value) => void navigate(addressOf(name, by, value)),
    onToggle: chosen === null ? undefined : toggle,
    onEscape: () => setCursor(null),
  });
  const isEach = groups.length > 0 && groups.every(({ value }) => chosen?.has(value));
  const select = selectColumn<ItemGroup>(
    chosen && {
      allLabel: "Select all groups",
      isAll: isEach,
      onAll: () => onChoose(new Set(isEach ? [] : groups.map(({ value }) => value))),
      nameOf: (group) => textOf(by, group),
      isChosen: ({ value }) => chosen.has(value),
      onChoose: ({ value }) => toggle(value),
    },
  );
  const lookOf = ({ value }: ItemGroup) =>
    [value === cursor && "cur", chosen?.has(value) && "sel"].filter(Boolean).join(" ");
  return (
    <section aria-label="Groups">
      <Table
        className="table tall"
        label={`Dead items by ${groupings[by].title.toLowerCase()}`}
        columns={[select, ...columnsOf(name, by, data)]}
        rows={groups}
        keyOf={({ value }) => value}
        ghostCount={data === undefined && found.error === null ? 4 : 0}
        rowLook={lookOf}
      />
      {data !== undefined && groups.length === 0 && (
        <Empty glyph="idle">
          This queue has no dead items. Items arrive when their attempts are used up, when they
          expire, or when they are rejected.
        </Empty>
      )}
      {data !== undefined && groups.length > 0 && <Under by={by} data={data} found={found} />}
    </section>
  );
}

function textOf(by: Grouping, { value }: ItemGroup): string {
  return value === "" ? groupings[by].none : value;
}

function addressOf(name: string, by: Grouping, value: string): string {
  return itemsAddress(name, { [groupings[by].param]: value });
}

function columnsOf(
  name: string,
  by: Grouping,
  data: Groups | undefined,
): readonly Column<ItemGroup>[] {
  const { itemCount = 1, isPart = false } = data ?? {};
  return [
    {
      title: groupings[by].title,
      isHeading: true,
      cell: (group) => (
        <Link
          className={group.value === "" ? "cut muted" : "cut"}
          title={textOf(by, group)}
          to={addressOf(name, by, group.value)}
        >
          <bdi>{textOf(by, group)}</bdi>
        </Link>
      ),
    },
    {
      title: "Items",
      className: "n c-count",
      cell: ({ count }) => `${countText(count)}${isPart ? "+" : ""}`,
    },
    {
      title: "Share",
      className: "c-share c-2",
      cell: ({ count }) => (
        <span className="share" aria-hidden="true">
          <i style={{ width: `${((count / itemCount) * 100).toFixed(1)}%` }} />
        </span>
      ),
    },
    {
      title: "First",
      className: "n muted c-when c-2",
      cell: ({ first_at: at }) => <Age at={Date.parse(at)} />,
    },
    {
      title: "Last",
      className: "n muted c-when",
      cell: ({ last_at: at }) => <Age at={Date.parse(at)} />,
    },
  ];
}

interface UnderProps extends Pick<GroupTableProps, "by" | "found"> {
  readonly data: Groups;
}

function Under({ by, data, found }: UnderProps): ReactNode {
  return (
    <div className="under">
      <span role="status">
        {plural(data.groups.length, "group", "groups")}, {data.isPart && "at least "}
        {itemsText(data.itemCount)}, {scannedText(data)}
      </span>
      <span className="wide-only">
        as of <ClockTime at={data.seenAt} />
      </span>
      <Button look="link" onClick={() => void found.refetch()}>
        refresh
      </Button>
      {by === "reason" && (
        <span className="end wide-only">Numbers, times and ids in a reason are ignored.</span>
      )}
    </div>
  );
}

function scannedText({ isPart, isGathering, scanned }: Groups): string {
  if (!isPart) return "all scanned";
  if (isGathering) return `${countText(scanned)} scanned so far…`;
  return `of the first ${countText(scanned)} scanned`;
}
