// The order holds still while somebody looks at the table: it is made anew on demand, when another
// order is chosen, and once nobody has touched the table for ten seconds.

import { type RefObject, useEffect, useRef, useState } from "react";
import type { Overview } from "../../state/overview-state.ts";
import { ordered, type Sort, sortText } from "./order.ts";

const stillMs = 10_000;

export interface Held {
  readonly names: readonly string[];
  readonly sort: string;
  /** By the server's clock; 0 = there was nothing to put in order yet. */
  readonly atMs: number;
}

export interface HeldOrder extends Held {
  readonly sortAgain: () => void;
}

interface Look {
  readonly overview: Overview;
  readonly sort: Sort;
  readonly sinceTouchedMs: number;
  /** The pointer, the focus or the row of the keyboard is in the table, however long it rests. */
  readonly isHere: boolean;
}

/** Pure; `before` itself where it holds. */
export function heldBy(before: Held, { overview, sort, sinceTouchedMs, isHere }: Look): Held {
  const isOld = overview.asOfMs - before.atMs >= stillMs;
  const isChosen = before.atMs === 0 || before.sort !== sortText(sort);
  if (isChosen || (isOld && !isHere && sinceTouchedMs >= stillMs)) return heldNow(overview, sort);
  // One that is new stands at the end until then; one that is gone keeps its place.
  const known = new Set(before.names);
  const added = [...overview.queues.keys()].filter((name) => !known.has(name));
  return added.length === 0 ? before : { ...before, names: [...before.names, ...added] };
}

function heldNow(overview: Overview, sort: Sort): Held {
  return { names: ordered(overview, sort), sort: sortText(sort), atMs: overview.asOfMs };
}

export function useHeldOrder(
  overview: Overview | null,
  sort: Sort,
  table: RefObject<HTMLElement | null>,
): HeldOrder {
  const [held, setHeld] = useState<Held>({ names: [], sort: "", atMs: 0 });
  const touchedAt = useTouched(table);
  let shown = held;
  if (overview !== null && (held.atMs === 0 || held.sort !== sortText(sort))) {
    shown = heldNow(overview, sort);
    setHeld(shown);
  }
  useEffect(() => {
    if (overview === null) return;
    const sinceTouchedMs = performance.now() - touchedAt.current;
    const isHere = isIn(table.current);
    setHeld((before) => heldBy(before, { overview, sort, sinceTouchedMs, isHere }));
  });
  return {
    ...shown,
    sortAgain: () => {
      if (overview !== null) setHeld(heldNow(overview, sort));
    },
  };
}

function isIn(table: HTMLElement | null): boolean {
  return table?.matches(":hover, :focus-within, :has(tr.cur)") ?? false;
}

/** When the table was last touched: by pointer, key or focus. */
function useTouched(table: RefObject<HTMLElement | null>): RefObject<number> {
  const touchedAt = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const element = table.current;
    if (element === null) return;
    const note = () => {
      touchedAt.current = performance.now();
    };
    const events = ["pointermove", "pointerdown", "keydown", "focusin"] as const;
    for (const name of events) element.addEventListener(name, note, { passive: true });
    return () => {
      for (const name of events) element.removeEventListener(name, note);
    };
  }, [table]);
  return touchedAt;
}
