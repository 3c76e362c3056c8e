import { type ReactNode, useState } from "react";
import { Button } from "../../../components/button.tsx";
import { countText } from "../../../format.ts";
import { ItemChange } from "../changes/change-dialog.tsx";
import { type Meant, meantByIds, type Verb } from "../changes/changes.ts";
import { wordings } from "../changes/wording.ts";
import type { Counted, Source } from "../source.ts";
import type { Selection } from "./use-selection.ts";

interface BulkBarProps {
  readonly verbs: readonly Verb[];
  readonly source: Source;
  readonly selection: Selection;
  readonly counted: Counted | undefined;
}

/** What may be done with all that are chosen. */
export function BulkBar({ verbs, source, selection, counted }: BulkBarProps): ReactNode {
  const [chosen, setChosen] = useState<{ verb: Verb; meant: Meant } | null>(null);
  const meant = () => (selection.isAll ? byFilter(source) : byIds(source, selection));
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
      {verbs.map((verb) => (
        <button
          key={verb}
          type="button"
          className={wordings[verb].isHarm ? "b s harm" : "b s"}
          onClick={() => setChosen({ verb, meant: meant() })}
        >
          {wordings[verb].open}
        </button>
      ))}
      {chosen !== null && (
        <ItemChange {...chosen} onDone={selection.clear} onClose={() => setChosen(null)} />
      )}
    </section>
  );
}

/** Tasks know filters, of what nobody holds; a holder or a partition is none of what they ask for. */
function isByFilter({ state, holder, partition }: Source): boolean {
  return state !== "leased" && holder === null && partition === null;
}

function byFilter({ queueName, state, filter }: Source): Meant {
  return { queueName, state, parts: [{ filter }] };
}

function byIds({ queueName, state }: Source, { items }: Selection): Meant {
  const meant = meantByIds(queueName, items);
  return state === null ? { ...meant, state } : meant;
}
