import { type ReactNode, useState } from "react";
import { Link, useNavigate } from "react-router";
import type { ItemSummary } from "../../../openapi/schemas.ts";
import { itemsAddress } from "../../addresses.ts";
import { Button } from "../../components/button.tsx";
import { Empty } from "../../components/empty.tsx";
import { Age, ClockTime } from "../../components/figures.tsx";
import { type Column, selectColumn, Table } from "../../components/table/table.tsx";
import { useRowKeys } from "../../components/table/use-row-keys.ts";
import { countText, itemsText, plural } from "../../format.ts";
import {
  type Summaries,
  type SummaryField,
  summaryFields,
  type useSummaries,
} from "./use-summaries.ts";

interface SummaryTableProps {
  readonly name: string;
  readonly by: SummaryField;
  readonly found: ReturnType<typeof useSummaries>;
  /** `null`: the key may change nothing, so nothing can be selected. */
  readonly chosen: ReadonlySet<string> | null;
  readonly onChoose: (chosen: ReadonlySet<string>) => void;
}

/** A longer table would not be an overview. */
const shownMax = 200;

export function SummaryTable({ name, by, found, chosen, onChoose }: SummaryTableProps): ReactNode {
  const { data } = found;
  const summaries = (data?.summaries ?? []).slice(0, shownMax);
  const toggle = (value: string) => {
    const next = new Set(chosen);
    if (!next.delete(value)) next.add(value);
    onChoose(next);
  };
  const [cursor, setCursor] = useState<string | null>(null);
  const navigate = useNavigate();
  useRowKeys({
    ids: summaries.map(({ value }) => value),
    cursor,
    setCursor,
    onOpen: (value) => void navigate(addressOf(name, by, value)),
    onToggle: chosen === null ? undefined : toggle,
    onEscape: () => setCursor(null),
  });
  const isEach = summaries.length > 0 && summaries.every(({ value }) => chosen?.has(value));
  const select = selectColumn<ItemSummary>(
    chosen && {
      allLabel: `Select all ${summaryFields[by].more}`,
      isAll: isEach,
      onAll: () => onChoose(new Set(isEach ? [] : summaries.map(({ value }) => value))),
      nameOf: (summary) => textOf(by, summary),
      isChosen: ({ value }) => chosen.has(value),
      onChoose: ({ value }) => toggle(value),
    },
  );
  const lookOf = ({ value }: ItemSummary) =>
    [value === cursor && "cur", chosen?.has(value) && "sel"].filter(Boolean).join(" ");
  return (
    <section aria-label="Summary">
      <Table
        className="table tall"
        label={`Dead items by ${summaryFields[by].title.toLowerCase()}`}
        columns={[select, ...columnsOf(name, by, data)]}
        rows={summaries}
        keyOf={({ value }) => value}
        ghostCount={data === undefined && found.error === null ? 4 : 0}
        rowLook={lookOf}
      />
      {data !== undefined && summaries.length === 0 && (
        <Empty glyph="idle">
          This queue has no dead items. Items arrive when their attempts are used up, when they
          expire, or when they are rejected.
        </Empty>
      )}
      {data !== undefined && summaries.length > 0 && <Under by={by} data={data} found={found} />}
    </section>
  );
}

function textOf(by: SummaryField, { value }: ItemSummary): string {
  return value === "" ? summaryFields[by].none : value;
}

function addressOf(name: string, by: SummaryField, value: string): string {
  return itemsAddress(name, { [summaryFields[by].param]: value });
}

function columnsOf(
  name: string,
  by: SummaryField,
  data: Summaries | undefined,
): readonly Column<ItemSummary>[] {
  const { itemCount = 1, isPart = false } = data ?? {};
  return [
    {
      title: summaryFields[by].title,
      isHeading: true,
      cell: (summary) => (
        <Link
          className={summary.value === "" ? "cut muted" : "cut"}
          title={textOf(by, summary)}
          to={addressOf(name, by, summary.value)}
        >
          <bdi>{textOf(by, summary)}</bdi>
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

interface UnderProps extends Pick<SummaryTableProps, "by" | "found"> {
  readonly data: Summaries;
}

function Under({ by, data, found }: UnderProps): ReactNode {
  return (
    <div className="under">
      <span role="status">
        {plural(data.summaries.length, summaryFields[by].one, summaryFields[by].more)},{" "}
        {data.isPart && "at least "}
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

function scannedText({ isPart, isGathering, scanned }: Summaries): string {
  if (!isPart) return "all scanned";
  if (isGathering) return `${countText(scanned)} scanned so far…`;
  return `of the first ${countText(scanned)} scanned`;
}
