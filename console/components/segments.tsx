import type { ReactNode } from "react";

interface SegmentsProps<Id extends string> {
  readonly legend: string;
  /** Each with its label. */
  readonly of: Readonly<Partial<Record<Id, ReactNode>>>;
  readonly chosen: Id;
  readonly onChoose: (id: Id) => void;
  readonly isAtEnd?: boolean;
}

/** One of a few choices. */
export function Segments<Id extends string>(props: SegmentsProps<Id>): ReactNode {
  const { legend, of, chosen, onChoose, isAtEnd = false } = props;
  return (
    <fieldset className={isAtEnd ? "seg end" : "seg"}>
      <legend className="vh">{legend}</legend>
      {(Object.keys(of) as Id[]).map((id) => (
        <button type="button" key={id} aria-pressed={id === chosen} onClick={() => onChoose(id)}>
          {of[id]}
        </button>
      ))}
    </fieldset>
  );
}
