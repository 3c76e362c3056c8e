// The order holds still while somebody looks at the table: it is made anew on demand, when another
// order is chosen, and once nobody has touched the table for ten seconds.

import { type RefObject, useEffect, useRef, useState } from "react";
import type { Overview } from "../overview-state.ts";
import { ordered, type Sort, sortText } from "./order.ts";

const stillMs = 10_000;

interface Held {
  readonly names: readonly string[];
  readonly sort: string;
  /** By the server's clock; 0 = there was nothing to put in order yet. */
  readonly atMs: number;
}

export interface HeldOrder extends Held {
  readonly sortAgain: () => void;
}

export function useHeldOrder(
  overview: Overview | null,
  sort: Sort,
  table: RefObject<HTMLElement | null>,
): HeldOrder {
  const [held, setHeld] = useState<Held>({ names: [], sort: "", atMs: 0 });
  const touchedAt = useTouched(table);
  const wanted = sortText(sort);
  const madeNow = (of: Overview): Held => ({
    names: ordered(of, sort),
    sort: wanted,
    atMs: of.asOfMs,
  });
  let shown = held;
  if (overview !== null && (held.atMs === 0 || held.sort !== wanted)) {
    shown = madeNow(overview);
    setHeld(shown);
  }
  const isOld = overview !== null && overview.asOfMs - shown.atMs >= stillMs;
  const isNew = overview !== null && overview.queues.size !== shown.names.length;
  useEffect(() => {
    if (overview === null || !(isOld || isNew)) return;
    if (isOld && performance.now() - touchedAt.current >= stillMs) setHeld(madeNow(overview));
    // One that is new stands at the end until then; one that is gone keeps its place.
    else if (isNew) setHeld((before) => ({ ...before, names: withNew(before.names, overview) }));
  });
  return {
    ...shown,
    sortAgain: () => {
      if (overview !== null) setHeld(madeNow(overview));
    },
  };
}

function withNew(names: readonly string[], { queues }: Overview): readonly string[] {
  const known = new Set(names);
  const added = [...queues.keys()].filter((name) => !known.has(name));
  return added.length === 0 ? names : [...names, ...added];
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
