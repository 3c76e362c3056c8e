// What a redrive, or a delete, of the chosen groups is about: the newest of their items, to be read
// before anything is done to them.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "react-router";
import type { FoundItem, ItemFilter, ItemGroup } from "../../../openapi/schemas.ts";
import { itemsAddress } from "../../addresses.ts";
import { ask } from "../../api/call.ts";
import { session } from "../../api/session.ts";
import { Age } from "../../components/figures.tsx";
import { StateGlyph } from "../../components/glyph.tsx";
import { Fault } from "../../components/refusal.tsx";
import { countText } from "../../format.ts";
import { useObserved } from "../../state/observable.ts";
import { bytesOf, plainOf, textOf } from "../items/payload/payload.ts";
import { itemsKey, shortId } from "../items/source.ts";
import { filterOf, type Grouping, groupings } from "./use-groups.ts";

const shownMax = 5;
/** Of each payload: more than a row has room for. */
const headBytes = 200;
/** Each looks at up to 100,000 items. */
const callsMax = 3;
/** An address with more values is none that a browser sends again. */
const linkedMax = 20;

interface NewestItemsProps {
  readonly name: string;
  readonly by: Grouping;
  readonly groups: readonly ItemGroup[];
  /** There may be more of each group. */
  readonly isPart: boolean;
}

export function NewestItems({ name, by, groups, isPart }: NewestItemsProps): ReactNode {
  const { data, error, refetch } = useNewest(name, filterOf(by, groups));
  const count = groups.reduce((sum, group) => sum + group.count, 0);
  const { items, lookedAt, isCut } = data ?? {};
  const values = groups.map(({ value }) => value);
  return (
    <section className="sec" aria-labelledby="newest">
      <div className="ph">
        <h2 id="newest">
          newest of the {isPart && "at least "}
          {countText(count)} selected
        </h2>
        {values.length <= linkedMax && (
          <Link
            className="link end"
            to={itemsAddress(name, { [groupings[by].param]: values, order: "newest" })}
          >
            All of them
          </Link>
        )}
      </div>
      {error === null ? (
        <NewestTable name={name} items={items} ghostCount={Math.min(shownMax, count)} />
      ) : (
        <Fault of={error} what="They are not shown." onRetry={() => void refetch()} />
      )}
      {isCut && (
        <p className="under">Of the newest {countText(lookedAt ?? 0)} items of the queue.</p>
      )}
    </section>
  );
}

interface Newest {
  readonly items: readonly FoundItem[];
  readonly lookedAt: number;
  /** Older items were not looked at, and too few were found. */
  readonly isCut: boolean;
}

function useNewest(name: string, filter: ItemFilter) {
  const { visit, asksKey } = useObserved(session);
  return useQuery({
    // As the key of lists: what is changed is asked for again.
    queryKey: [itemsKey, visit, "newest", name, filter],
    queryFn: ({ signal }) => newestOf(name, filter, signal),
    enabled: !asksKey,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

async function newestOf(name: string, filter: ItemFilter, signal: AbortSignal): Promise<Newest> {
  const asked = { queue_name: name, filter, order: "newest", payload_head: headBytes };
  const items: FoundItem[] = [];
  let lookedAt = 0;
  let pivot = "";
  for (let call = 0; call < callsMax; call += 1) {
    const page = { ...asked, pivot, limit: shownMax - items.length };
    const reply = await ask("findItems", page, { signal });
    items.push(...reply.items);
    lookedAt += reply.looked_at;
    pivot = reply.next_pivot;
    if (pivot === "" || items.length >= shownMax) break;
  }
  return { items, lookedAt, isCut: pivot !== "" && items.length < shownMax };
}

interface NewestTableProps {
  readonly name: string;
  readonly items: readonly FoundItem[] | undefined;
  readonly ghostCount: number;
}

function NewestTable({ name, items, ghostCount }: NewestTableProps): ReactNode {
  return (
    <table className="mini fixed newest" aria-labelledby="newest">
      <thead>
        <tr>
          <th scope="col">Died</th>
          <th scope="col">Id</th>
          <th scope="col" className="c-2">
            Kind
          </th>
          <th scope="col" className="c-2">
            Reference
          </th>
          <th scope="col" className="c-head">
            Payload
          </th>
        </tr>
      </thead>
      <tbody>
        {items?.map((item) => (
          <NewestRow key={item.id} name={name} item={item} />
        ))}
        {items === undefined &&
          Array.from({ length: ghostCount }, (_, at) => (
            <tr key={at} className="ghost">
              <td colSpan={5}>
                <i />
              </td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}

function NewestRow({ name, item }: { readonly name: string; readonly item: FoundItem }) {
  const { text } = plainOf(textOf(bytesOf(item.payload)).text);
  return (
    <tr>
      <td className="muted">
        <Age at={Date.parse(item.created_at)} />
      </td>
      <th scope="row">
        <Link title={item.id} to={itemsAddress(name, { item: item.id })}>
          {shortId(item.id)}
        </Link>
        {item.state !== "ready" && <NotReady state={item.state} />}
      </th>
      <td className="cut c-2">{item.kind}</td>
      <td className="mono muted cut c-2">{item.reference}</td>
      <td className="mono muted cut">{text === "" ? "empty" : <bdi>{text}</bdi>}</td>
    </tr>
  );
}

/** A redrive leaves it where it is. */
function NotReady({ state }: { readonly state: string }): ReactNode {
  const name = state === "leased" ? "leased" : "scheduled";
  return <StateGlyph name={name} label={`${name}: a redrive leaves it`} />;
}
