// The newest items of the selected values, to be read before a redrive or a delete.

import type { ReactNode } from "react";
import { Link } from "react-router";
import type { FoundItem, ItemFilter, ItemSummary } from "../../../openapi/schemas.ts";
import { itemsAddress } from "../../addresses.ts";
import { ask } from "../../api/call.ts";
import { useFetched } from "../../api/use-query.ts";
import { Age } from "../../components/figures.tsx";
import { StateGlyph } from "../../components/glyph/glyph.tsx";
import { QueryFault } from "../../components/refusal.tsx";
import { Section } from "../../components/section.tsx";
import { type Column, Table } from "../../components/table/table.tsx";
import { countText } from "../../format.ts";
import { bytesOf, plainOf, textOf } from "../items/payload/payload.ts";
import { itemsKey, shortId } from "../items/source.ts";
import { filterOf, type SummaryField, summaryFields } from "./use-summaries.ts";

const shownMax = 5;
/** The beginning of each payload: more than fits a row. */
const headBytes = 200;
/** Each scans up to 100,000 items. */
const callsMax = 3;
/** With more values the address gets too long. */
const linkedMax = 20;

interface NewestItemsProps {
  readonly name: string;
  readonly by: SummaryField;
  readonly summaries: readonly ItemSummary[];
  /** There may be more of each. */
  readonly isPart: boolean;
}

export function NewestItems({ name, by, summaries, isPart }: NewestItemsProps): ReactNode {
  const newest = useNewest(name, filterOf(by, summaries));
  const count = summaries.reduce((sum, summary) => sum + summary.count, 0);
  const { items, scanned = 0, isCut } = newest.data ?? {};
  const title = `newest of the ${isPart ? "at least " : ""}${countText(count)} selected`;
  const values = summaries.map(({ value }) => value);
  const isAwaited = items === undefined && newest.error === null;
  return (
    <Section
      id="newest"
      title={title}
      aside={
        values.length <= linkedMax && (
          <Link
            className="link end"
            to={itemsAddress(name, { [summaryFields[by].param]: values, order: "newest" })}
          >
            All of them
          </Link>
        )
      }
    >
      <QueryFault of={newest} what="They could not be read." />
      <Table
        className="mini fixed newest"
        label={title}
        columns={columnsOf(name)}
        rows={items ?? []}
        keyOf={({ id }) => id}
        ghostCount={isAwaited ? Math.min(shownMax, count) : 0}
      />
      {isCut && <p className="under">Of the newest {countText(scanned)} items of the queue.</p>}
    </Section>
  );
}

interface Newest {
  readonly items: readonly FoundItem[];
  readonly scanned: number;
  /** Older items were not scanned, and too few were found. */
  readonly isCut: boolean;
}

/** Refreshed with the lists of items. */
function useNewest(name: string, filter: ItemFilter) {
  const read = (signal: AbortSignal) => newestOf(name, filter, signal);
  return useFetched([itemsKey, "newest", name, filter], read, { staleMs: Infinity, keptMs: 0 });
}

async function newestOf(name: string, filter: ItemFilter, signal: AbortSignal): Promise<Newest> {
  const asked = { queue_name: name, filter, order: "newest", payload_head: headBytes };
  const items: FoundItem[] = [];
  let scanned = 0;
  let pivot = "";
  for (let call = 0; call < callsMax; call += 1) {
    const page = { ...asked, pivot, limit: shownMax - items.length };
    const reply = await ask("findItems", page, { signal });
    items.push(...reply.items);
    scanned += reply.scanned;
    pivot = reply.next_pivot;
    if (pivot === "" || items.length >= shownMax) break;
  }
  return { items, scanned, isCut: pivot !== "" && items.length < shownMax };
}

const columnsOf = (name: string): readonly Column<FoundItem>[] => [
  {
    title: "Died",
    className: "muted",
    cell: ({ created_at: at }) => <Age at={Date.parse(at)} />,
  },
  {
    title: "Id",
    isHeading: true,
    cell: ({ id, state }) => (
      <>
        <Link title={id} to={itemsAddress(name, { item: id })}>
          {shortId(id)}
        </Link>
        {state !== "ready" && <NotReady state={state} />}
      </>
    ),
  },
  { title: "Kind", className: "cut c-2", cell: ({ kind }) => kind },
  {
    title: "Reference",
    className: "mono muted cut c-2",
    cell: ({ reference }) => reference,
  },
  {
    title: "Payload",
    className: "mono muted cut c-head",
    cell: ({ payload }) => {
      const { text } = plainOf(textOf(bytesOf(payload)).text);
      return text === "" ? "empty" : <bdi>{text}</bdi>;
    },
  },
];

/** A redrive does not move it. */
function NotReady({ state }: { readonly state: string }): ReactNode {
  const name = state === "leased" ? "leased" : "scheduled";
  return <StateGlyph name={name} label={`${name}: a redrive leaves it`} />;
}
