import type { ReactNode } from "react";
import { useSearchParams } from "react-router";
import { type RangeId, rangeFrom, ranges } from "./ranges.ts";

/** The range of the page's charts, which its address says. */
export function useRange() {
  const [query, setQuery] = useSearchParams();
  const choose = (id: RangeId) =>
    setQuery(
      (before) => {
        if (id === "15m") before.delete("range");
        else before.set("range", id);
        return before;
      },
      { replace: true, preventScrollReset: true },
    );
  return { range: rangeFrom(query.get("range")), choose };
}

interface RangeChoiceProps {
  readonly range: RangeId;
  readonly onChoose: (range: RangeId) => void;
}

export function RangeChoice({ range, onChoose }: RangeChoiceProps): ReactNode {
  return (
    <fieldset className="seg end">
      <legend className="vh">Range</legend>
      {(Object.keys(ranges) as RangeId[]).map((id) => (
        <button type="button" key={id} aria-pressed={id === range} onClick={() => onChoose(id)}>
          {ranges[id].label}
        </button>
      ))}
    </fieldset>
  );
}
