import { type ReactNode, useState } from "react";
import { Link, useSearchParams } from "react-router";
import type { Action } from "../../../openapi/schemas.ts";
import { queueAddress } from "../../addresses.ts";
import { useAsked } from "../../api/use-query.ts";
import { Button } from "../../components/button.tsx";
import { Empty } from "../../components/empty.tsx";
import { Fault } from "../../components/refusal.tsx";
import { countText, instantText } from "../../format.ts";
import { useObserved } from "../../state/observable.ts";
import { zone } from "../../state/preferences.ts";
import { type ActionFilter, filterFrom, isMeant, queryWith } from "./action-filter.ts";
import { At, Outcome } from "./action-row.tsx";

const everyMs = 5_000;
const firstMax = 100;
/** As many as the server keeps. */
const allMax = 1_000;

export function Actions(): ReactNode {
  const [query, setQuery] = useSearchParams();
  const filter = filterFrom(query);
  const [limit, setLimit] = useState(firstMax);
  const body = { limit, ...(filter.queue && { queue_name: filter.queue }) };
  const { data, error, refetch } = useAsked("listActions", body, { everyMs });
  const told = useObserved(zone);
  const all = data?.items ?? [];
  const shown = all.filter((action) => isMeant(filter, action));
  const change = (next: Partial<ActionFilter>) =>
    setQuery((before) => queryWith(before, { ...filter, ...next }), {
      replace: true,
      preventScrollReset: true,
    });
  const isKnown = data !== undefined || error !== null;
  return (
    <section className={isKnown ? "sec actions" : "sec actions unknown"} aria-labelledby="actions">
      <div className="ph">
        <h2 id="actions">who did what</h2>
        <span className="muted end">
          {data &&
            `${countText(shown.length)} of ${countText(all.length)} looked at, since ${instantText(Date.parse(data.since), told)}`}
        </span>
      </div>
      <Filters filter={filter} actions={all} onChange={change} />
      {error !== null && data === undefined && (
        <Fault of={error} what="The actions are not shown." onRetry={() => void refetch()} />
      )}
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
    </section>
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
        <Button
          look="small"
          onClick={() => onChange({ queue: "", key: "", operation: "", isRefused: false })}
        >
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

/** The server chooses by the whole name, so it is asked for one that is whole. */
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
        <option key={each} value={each}>
          {each}
        </option>
      ))}
    </select>
  );
}

function ActionTable({ actions }: { readonly actions: readonly Action[] }): ReactNode {
  return (
    <table className="mini fixed action-table" aria-label="Actions">
      <thead>
        <tr>
          <th scope="col">what</th>
          <th scope="col">queue</th>
          <th scope="col">key</th>
          <th scope="col" className="n">
            when
          </th>
        </tr>
      </thead>
      <tbody>
        {actions.map((action) => (
          <tr key={action.id}>
            <td>
              <Outcome action={action} />
            </td>
            <td className="cut">
              {action.queue_name && (
                <Link className="mono" to={queueAddress(action.queue_name)}>
                  <bdi>{action.queue_name}</bdi>
                </Link>
              )}
            </td>
            <td className="muted cut">{action.key_name || "no key"}</td>
            <td className="n muted">
              <At at={action.at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
