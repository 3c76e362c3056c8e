import type { ReactNode } from "react";
import type { Action } from "../../../openapi/schemas.ts";
import { clockText } from "../../format.ts";
import { useZone } from "../../state/preferences.ts";
import { actionText } from "../access/action-table.tsx";

interface Mark {
  readonly id: number;
  readonly atMs: number;
  /** Its place in the range, from 0 to 1. */
  readonly part: number;
  readonly text: string;
}

const marked = ["pause", "resume", "clear", "redrive", "repair"];

/** Actions that may explain the shape of a line. */
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
      return { id, atMs, part, text: actionText(operation) + by };
    })
    .filter(({ part }) => part >= 0 && part <= 1);
}

interface MarksProps {
  readonly actions: readonly Action[];
  /** Seconds since 1970. */
  readonly from: number;
  readonly to: number;
  /** With words; the chart below has the same marks without. */
  readonly isNamed?: boolean;
}

/** Marks closer than this share one word. */
const wordPart = 0.14;

export function Marks({ actions, from, to, isNamed = false }: MarksProps): ReactNode {
  const zone = useZone();
  const inOrder = marksOf(actions, from, to).toSorted((a, b) => a.part - b.part);
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
            title={`${text}, ${clockText(atMs, zone)}`}
          >
            {isNamed && side !== null && <span className={side}>{text}</span>}
          </i>
        );
      })}
    </div>
  );
}
