import { type ReactNode, useState } from "react";
import type { Action } from "../../../openapi/schemas.ts";
import { useQuery } from "../../api/use-query.ts";
import { Button } from "../../components/button.tsx";
import { Empty } from "../../components/empty.tsx";
import { QueryFault } from "../../components/refusal.tsx";
import { Section } from "../../components/section.tsx";
import { useAddress } from "../../components/use-address.ts";
import { countText, instantText } from "../../format.ts";
import { useZone } from "../../state/preferences.ts";
import {
  type ActionFilter,
  filterFrom,
  matchesFilter,
  noFilter,
  queryOf,
} from "./action-filter.ts";
import { ActionTable } from "./action-table.tsx";

const everyMs = 5_000;
const firstMax = 100;
/** The most that the server keeps. */
const allMax = 1_000;

export function Actions(): ReactNode {
  const [query, setQuery] = useAddress();
  const filter = filterFrom(query);
  const [limit, setLimit] = useState(firstMax);
  const body = { limit, ...(filter.queue && { queue_name: filter.queue }) };
  const actions = useQuery("listActions", body, { everyMs });
  const { data, error } = actions;
  const zone = useZone();
  const all = data?.items ?? [];
  const shown = all.filter((action) => matchesFilter(filter, action));
  const isKnown = data !== undefined || error !== null;
  return (
    <Section
      className={isKnown ? "sec actions" : "sec actions unknown"}
      id="actions"
      title="actions"
      aside={
        <span className="muted end">
          {data &&
            `${countText(shown.length)} of ${countText(all.length)}, since ${instantText(Date.parse(data.since), zone)}`}
        </span>
      }
    >
      <Filters
        filter={filter}
        actions={all}
        onChange={(next) => setQuery(queryOf({ ...filter, ...next }))}
      />
      {actions.data === undefined && <QueryFault of={actions} what="The actions are not shown." />}
      {data !== undefined && shown.length === 0 && (
        <Empty glyph="note">
          {all.length === 0
            ? "Nothing yet. Creating, changing, pausing, clearing or deleting something is listed here, with the answer."
            : "None of them matches the filter."}
        </Empty>
      )}
      {shown.length > 0 && (
        <>
          <ActionTable actions={shown} />
          <p className="under">Dry runs, which only count, are not listed.</p>
        </>
      )}
      {all.length === limit && limit < allMax && (
        <p className="under">
          <Button look="small" onClick={() => setLimit(allMax)}>
            Older ones too
          </Button>
        </p>
      )}
    </Section>
  );
}

interface FiltersProps {
  readonly filter: ActionFilter;
  readonly actions: readonly Action[];
  readonly onChange: (next: Partial<ActionFilter>) => void;
}

function Filters({ filter, actions, onChange }: FiltersProps): ReactNode {
  const { queue, key, operation, isRefused } = filter;
  const isFiltered = queue !== "" || key !== "" || operation !== "" || isRefused;
  return (
    <div className="acts action-filters">
      <QueueField key={queue} queue={queue} onChange={(next) => onChange({ queue: next })} />
      <Choice
        label="Key"
        all="every key"
        value={key}
        of={actions.map((action) => action.key_name)}
        onChange={(next) => onChange({ key: next })}
      />
      <Choice
        label="Operation"
        all="everything"
        value={operation}
        of={actions.map((action) => action.operation)}
        onChange={(next) => onChange({ operation: next })}
      />
      <label className="check">
        <input
          type="checkbox"
          checked={isRefused}
          onChange={({ target }) => onChange({ isRefused: target.checked })}
        />
        only refused
      </label>
      {isFiltered && (
        <Button look="small" onClick={() => onChange(noFilter)}>
          Show all
        </Button>
      )}
    </div>
  );
}

interface QueueFieldProps {
  readonly queue: string;
  readonly onChange: (queue: string) => void;
}

/** The server filters by the whole name, so a request is made once the name is complete. */
function QueueField({ queue, onChange }: QueueFieldProps): ReactNode {
  const [text, setText] = useState(queue);
  const choose = () => {
    if (text.trim() !== queue) onChange(text.trim());
  };
  return (
    <input
      className="t"
      aria-label="Queue"
      placeholder="Queue, by its whole name"
      autoComplete="off"
      spellCheck={false}
      value={text}
      onChange={({ target }) => setText(target.value)}
      onBlur={choose}
      onKeyDown={({ key }) => key === "Enter" && choose()}
    />
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly all: string;
  readonly value: string;
  readonly of: readonly string[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, all, value, of, onChange }: ChoiceProps): ReactNode {
  const values = [...new Set([...of, value])].filter((each) => each !== "").toSorted();
  return (
    <select
      className="t"
      aria-label={label}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    >
      <option value="">{all}</option>
      {values.map((each) => (
        <option key={each}>{each}</option>
      ))}
    </select>
  );
}
