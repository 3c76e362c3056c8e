import { type ReactNode, useState } from "react";
import type { FoundItem } from "../../../../openapi/schemas.ts";
import { Button } from "../../../components/button.tsx";
import { countText } from "../../../format.ts";
import { type ChangeTarget, targetByIds, type Verb } from "../changes/changes.ts";
import { VerbButtons } from "../changes/verb-buttons.tsx";
import type { Counted, Source } from "../source.ts";

interface BulkBarProps {
  readonly verbs: readonly Verb[];
  readonly source: Source;
  readonly selection: Selection;
  readonly counted: Counted | undefined;
}

/** The changes of the selected items. */
export function BulkBar({ verbs, source, selection, counted }: BulkBarProps): ReactNode {
  const target = () => (selection.isAll ? byFilter(source) : byIds(source, selection));
  return (
    <section className="bulk" aria-label="What is selected">
      <b role="status">
        {selection.isAll ? "all that match" : `${countText(selection.ids.size)} selected`}
      </b>
      {selection.isFull && !selection.isAll && <span className="muted">the most of one call</span>}
      {!selection.isAll && isByFilter(source) && counted !== undefined && (
        <Button look="link" onClick={selection.takeAll}>
          all {countText(counted.count)}
          {counted.isPart && "+"} that match
        </Button>
      )}
      <Button look="link" onClick={selection.clear}>
        none
      </Button>
      <span className="end" />
      <VerbButtons verbs={verbs} targetNow={target} onDone={selection.clear} />
    </section>
  );
}

/** A task takes a filter, but of items that are not leased, and without holder and partition. */
function isByFilter({ state, holder, partition }: Source): boolean {
  return state !== "leased" && holder === null && partition === null;
}

function byFilter({ queueName, state, filter }: Source): ChangeTarget {
  return { queueName, state, parts: [{ filter }] };
}

function byIds({ queueName, state }: Source, { items }: Selection): ChangeTarget {
  const target = targetByIds(queueName, items);
  return state === null ? { ...target, state } : target;
}

export type Selection = ReturnType<typeof useSelection>;

/** The number of ids that a call takes. */
export const selectedMax = 1_000;

const none: ReadonlySet<string> = new Set();

export function useSelection(listed: readonly FoundItem[], goneIds: ReadonlySet<string>) {
  const [chosen, setChosen] = useState(none);
  const [isAll, setAll] = useState(false);
  const there = listed.filter(({ id }) => !goneIds.has(id));
  const items = there.filter(({ id }) => chosen.has(id));
  const ids = new Set(items.map(({ id }) => id));
  const isFull = ids.size === selectedMax;
  const isEachListed = there.length > 0 && (isFull || ids.size === there.length);
  const choose = (next: ReadonlySet<string>) => {
    setAll(false);
    setChosen(next);
  };
  return {
    ids,
    items,
    /** All items that match the filter, listed or not. */
    isAll,
    /** Every listed item, or as many as a call takes. */
    isEachListed,
    isFull,
    toggle(id: string) {
      const next = new Set(ids);
      if (!next.delete(id) && !isFull) next.add(id);
      choose(next);
    },
    toggleEach: () =>
      choose(isEachListed ? none : new Set(there.slice(0, selectedMax).map(({ id }) => id))),
    takeAll: () => setAll(true),
    clear: () => choose(none),
  };
}
