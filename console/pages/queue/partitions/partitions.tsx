import { type ReactNode, useMemo, useState } from "react";
import { Link, useNavigate, useSearchParams } from "react-router";
import { itemsAddress } from "../../../addresses.ts";
import { useAsked } from "../../../api/use-query.ts";
import { Fault } from "../../../components/refusal.tsx";
import { countText, many, spanText } from "../../../format.ts";
import { serverNow } from "../../../state/server-time.ts";
import type { QueueState } from "../queue-state.ts";
import { Strip } from "./partition-heatmap.tsx";
import {
  barsMax,
  type FigureId,
  figures,
  fullest,
  type Partitions as Known,
  partitionsOf,
} from "./partition-stats.ts";

const meanings: Readonly<Record<FigureId, string>> = {
  ready: "how many items are ready",
  leased: "how many items are leased",
  oldest: "how long its oldest ready item has been ready",
  age: "how long ago its items were produced, in the mean",
  failures: "how often its store failed",
};

/** All partitions of the queue at a glance, however many. */
export function Partitions({ state }: { readonly state: QueueState }): ReactNode {
  const { stats } = state;
  const [query, setQuery] = useSearchParams();
  const shown = figureFrom(query.get("shade"));
  const partitions = usePartitions(state, shown);
  const draining = partitions ? partitions.numbers.length - partitions.drainsFrom : 0;
  const choose = (id: FigureId) =>
    setQuery(
      (before) => {
        if (id === "ready") before.delete("shade");
        else before.set("shade", id);
        return before;
      },
      { replace: true, preventScrollReset: true },
    );
  return (
    <section className="sec" aria-labelledby="partitions">
      <div className="ph">
        <h2 id="partitions">
          {partitions ? many(partitions.numbers.length, "partition", "partitions") : "partitions"}
        </h2>
        {draining > 0 && <span className="muted">{countText(draining)} take no new items</span>}
        <span className="muted wide-only">arrow keys move, Enter opens its items</span>
        <fieldset className="seg end">
          <legend className="vh">Shade by</legend>
          {(Object.keys(figures) as FigureId[]).map((id) => (
            <button type="button" key={id} aria-pressed={id === shown} onClick={() => choose(id)}>
              {figures[id]}
            </button>
          ))}
        </fieldset>
      </div>
      {stats.error !== null && partitions === null ? (
        <Fault
          of={stats.error}
          what="The partitions are not known."
          onRetry={() => void stats.refetch()}
        />
      ) : (
        <Shaded partitions={partitions} shown={shown} name={state.name} />
      )}
    </section>
  );
}

const detailsMs = 2_000;
/** One by one they are ten times the bytes of columns. */
const detailsOfManyMs = 10_000;

function usePartitions({ name, stats, inspect, info }: QueueState, shown: FigureId): Known | null {
  const logical = stats.data?.logical_queues[0];
  const count = inspect.data?.partitions;
  const requested = info.data?.requested_partitions;
  const everyMs = (count ?? 0) > barsMax ? detailsOfManyMs : detailsMs;
  const isWanted = shown === "oldest" && info.data !== undefined;
  const { data, dataUpdatedAt } = useAsked("stats", { queue_name: name }, { everyMs, isWanted });
  const details = data?.logical_queues[0]?.partitions;
  return useMemo(
    () => partitionsOf({ stats: logical, count, requested, details, atMs: serverNow() }),
    // What has not changed has grown older.
    [logical, count, requested, details, dataUpdatedAt],
  );
}

function figureFrom(text: string | null): FigureId {
  return text !== null && text in figures ? (text as FigureId) : "ready";
}

interface ShadedProps {
  readonly partitions: Known | null;
  readonly shown: FigureId;
  readonly name: string;
}

const nothing: Known = {
  numbers: [],
  ready: [],
  leased: [],
  scheduled: [],
  oldest: [],
  age: [],
  failures: [],
  drainsFrom: 0,
};

function Shaded({ partitions, shown, name }: ShadedProps): ReactNode {
  const [chosen, setChosen] = useState<number | null>(null);
  const navigate = useNavigate();
  const known = partitions ?? nothing;
  const { numbers, drainsFrom } = known;
  const draining = numbers.length - drainsFrom;
  const values = known[shown].length > 0 ? known[shown] : numbers.map(() => 0);
  const at = chosen !== null && chosen < values.length ? chosen : null;
  const top = fullest(values, 3).map(
    (index) => `${numbers[index]} with ${figureText(shown, values[index] ?? 0)}`,
  );
  const label = [
    `${many(values.length, "partition", "partitions")}, shaded by ${meanings[shown]}.`,
    top.length === 0 ? "All are at 0." : `The first: ${top.join(", ")}.`,
    ...(draining === 0 ? [] : [`${countText(draining)} take no new items.`]),
  ].join(" ");
  return (
    <>
      <Strip
        values={values}
        drainsFrom={drainsFrom}
        label={label}
        at={at}
        onAt={setChosen}
        onOpen={(index) => void navigate(partitionAddress(name, numbers[index]))}
      />
      <Reading known={known} at={at} shown={shown} name={name} />
      <PartitionTable known={known} />
    </>
  );
}

function partitionAddress(name: string, partition = 0): string {
  return itemsAddress(name, { partition: String(partition) });
}

function figureText(of: FigureId, value: number): string {
  return isSpan(of) ? spanText(value * 1_000) : countText(value);
}

function isSpan(of: FigureId): boolean {
  return of === "age" || of === "oldest";
}

interface ReadingProps {
  readonly known: Known;
  readonly at: number | null;
  readonly shown: FigureId;
  readonly name: string;
}

function Reading({ known, at, shown, name }: ReadingProps): ReactNode {
  const most = Math.max(0, ...known[shown]);
  return (
    <div className="strip-read">
      <span className="grow" aria-live="polite">
        {at === null ? (
          "Point at one, or go to it with the arrow keys."
        ) : (
          <>
            partition <b>{known.numbers[at]}</b> {at >= known.drainsFrom && "takes no new items "}
            ready <b>{countText(known.ready[at] ?? 0)}</b> leased{" "}
            <b>{countText(known.leased[at] ?? 0)}</b> scheduled{" "}
            <b>{countText(known.scheduled[at] ?? 0)}</b>{" "}
            {known.oldest.length > 0 && (
              <>
                oldest <b>{spanText((known.oldest[at] ?? 0) * 1_000)}</b>{" "}
              </>
            )}
            mean age <b>{spanText((known.age[at] ?? 0) * 1_000)}</b>{" "}
            <Link className="link" to={partitionAddress(name, known.numbers[at])}>
              Items
            </Link>
          </>
        )}
      </span>
      <span className="scale" aria-hidden="true">
        0 <i /> {figureText(shown, most)} {isSpan(shown) ? "" : shown}
      </span>
    </div>
  );
}

/** The same for who cannot see a strip, and for whoever wants figures. Made when it is opened. */
function PartitionTable({ known }: { readonly known: Known }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="as-table" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>As a table</summary>
      {isOpen && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls.
        <section className="scrolls" tabIndex={0} aria-label="Partitions, scrolls">
          <table className="mini" aria-label="Partitions">
            <thead>
              <tr>
                {["partition", "ready", "leased", "scheduled", "mean age", "failures"].map(
                  (title) => (
                    <th scope="col" className="n" key={title}>
                      {title}
                    </th>
                  ),
                )}
              </tr>
            </thead>
            <tbody>
              {known.numbers.map((number, at) => (
                <tr key={number}>
                  <th scope="row" className="n">
                    {number}
                    {at >= known.drainsFrom && <small> drains</small>}
                  </th>
                  <td className="n">{countText(known.ready[at] ?? 0)}</td>
                  <td className="n">{countText(known.leased[at] ?? 0)}</td>
                  <td className="n">{countText(known.scheduled[at] ?? 0)}</td>
                  <td className="n">{spanText((known.age[at] ?? 0) * 1_000)}</td>
                  <td className="n">{countText(known.failures[at] ?? 0)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </details>
  );
}
