import type { ReactNode, RefObject } from "react";
import { useMay } from "../../api/query-client.ts";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/glyph.tsx";
import { clockText, countText } from "../../format.ts";
import { isTrouble } from "../../state/health.ts";
import { useObserved } from "../../state/observable.ts";
import { seen } from "../../state/overview-poll.ts";
import { zone } from "../../state/preferences.ts";
import type { Filter } from "./order.ts";

interface ToolsProps {
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
  readonly field: RefObject<HTMLInputElement | null>;
  readonly shownCount: number;
  readonly orderedAtMs: number;
  readonly onSortAgain: () => void;
  readonly onCreate: () => void;
}

export function Tools(props: ToolsProps): ReactNode {
  const { filter, onFilter, field, shownCount, orderedAtMs, onSortAgain, onCreate } = props;
  const { overview } = useObserved(seen);
  const told = useObserved(zone);
  const mayChange = useMay("admin");
  const count = overview?.queues.size ?? 0;
  return (
    <search className="tools">
      <label className="filter">
        <span className="vh">Filter queues</span>
        <Icon name="search" />
        <input
          ref={field}
          className="t"
          placeholder="Filter by name"
          autoComplete="off"
          spellCheck={false}
          value={filter.text}
          onChange={({ target }) => onFilter({ ...filter, text: target.value })}
          onKeyDown={({ key, currentTarget }) => {
            if (key !== "Escape") return;
            if (filter.text === "") currentTarget.blur();
            else onFilter({ ...filter, text: "" });
          }}
        />
        <kbd>/</kbd>
      </label>
      <Which filter={filter} onFilter={onFilter} />
      <span className="muted shown grow" role="status">
        {overview &&
          (shownCount === count
            ? `${countText(count)} ${count === 1 ? "queue" : "queues"}`
            : `${countText(shownCount)} of ${countText(count)} queues`)}
      </span>
      <span className="muted wide-only order">
        {orderedAtMs > 0 && (
          <>
            order of {clockText(orderedAtMs, told)}{" "}
            <Button look="link" onClick={onSortAgain}>
              sort again
            </Button>{" "}
            <kbd>s</kbd>
          </>
        )}
      </span>
      {/* Its room is kept, so that nothing moves when a key gains or loses the role. */}
      <Button className={mayChange ? "b" : "b unknown"} onClick={onCreate}>
        Create queue
      </Button>
    </search>
  );
}

type WhichProps = Pick<ToolsProps, "filter" | "onFilter">;

function Which({ filter, onFilter }: WhichProps): ReactNode {
  const { overview } = useObserved(seen);
  const rows = [...(overview?.queues.values() ?? [])];
  const troubled = rows.filter(({ health }) => isTrouble(health)).length;
  const one = (text: string, count: number, isTroubleOnly: boolean) => (
    <button
      type="button"
      aria-pressed={filter.isTroubleOnly === isTroubleOnly}
      onClick={() => onFilter({ ...filter, isTroubleOnly })}
    >
      {text} <small>{countText(count)}</small>
    </button>
  );
  return (
    <fieldset className="seg">
      <legend className="vh">Show</legend>
      {one("All", rows.length, false)}
      {one("In trouble", troubled, true)}
    </fieldset>
  );
}
