import type { ReactNode } from "react";
import type { Action } from "../../../openapi/schemas.ts";
import { clockText } from "../../format.ts";
import { useObserved } from "../../state/observable.ts";
import { zone } from "../../state/preferences.ts";
import { doneText } from "../access/action-words.ts";

interface Mark {
  readonly id: number;
  readonly atMs: number;
  /** Of the range, from 0 to 1. */
  readonly part: number;
  readonly text: string;
}

const marked = ["pause", "resume", "clear", "redrive", "repair"];

/** What somebody did that a line may owe its shape to. */
export function marksOf(
  actions: readonly Action[],
  fromSeconds: number,
  toSeconds: number,
): readonly Mark[] {
  return actions
    .filter(({ code, operation }) => code === 200 && marked.includes(operation))
    .map(({ id, at, operation, key_name: key }) => {
      const atMs = Date.parse(at);
      const part = (atMs / 1_000 - fromSeconds) / (toSeconds - fromSeconds);
      const by = operation === "pause" && key !== "" ? ` by ${key}` : "";
      return { id, atMs, part, text: doneText(operation) + by };
    })
    .filter(({ part }) => part >= 0 && part <= 1);
}

interface MarksProps {
  readonly marks: readonly Mark[];
  /** With words; the chart below has the same without. */
  readonly isNamed: boolean;
}

/** Marks so near one another that their words would not fit have one word. */
const wordPart = 0.14;

export function Marks({ marks, isNamed }: MarksProps): ReactNode {
  const told = useObserved(zone);
  const inOrder = marks.toSorted((a, b) => a.part - b.part);
  return (
    <div className="marks">
      {inOrder.map(({ id, atMs, part, text }, index) => {
        const before = inOrder[index - 1]?.part ?? 0;
        const after = inOrder[index + 1]?.part ?? 1;
        const side = after - part > wordPart ? "" : part - before > wordPart ? "before" : null;
        return (
          <i
            key={id}
            style={{ left: `${part * 100}%` }}
            title={`${text}, ${clockText(atMs, told)}`}
          >
            {isNamed && side !== null && <span className={side}>{text}</span>}
          </i>
        );
      })}
    </div>
  );
}
