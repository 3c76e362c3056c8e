// The order of the table stays while the reader uses the table, and for ten seconds after a touch;
// otherwise it is renewed every ten seconds, at once on demand and when another order is chosen.

import { type RefObject, useEffect, useRef, useState } from "react";
import type { Overview } from "../../state/overview-state.ts";
import { ordered, type Sort, sortText } from "./order.ts";

const stableMs = 10_000;

export interface Order {
  readonly names: readonly string[];
  readonly sort: string;
  /** By the server's clock; 0 = no overview has arrived yet. */
  readonly atMs: number;
}

function orderOf(overview: Overview, sort: Sort): Order {
  return { names: ordered(overview, sort), sort: sortText(sort), atMs: overview.asOfMs };
}

interface OrderContext {
  readonly overview: Overview;
  readonly sort: Sort;
  /** The table has the pointer, the focus or the current row. */
  readonly isInUse: boolean;
  readonly sinceTouchMs: number;
}

/** Pure; returns `before` while it is kept: new queues are last, deleted ones keep their place. */
export function nextOrder(
  before: Order,
  { overview, sort, isInUse, sinceTouchMs }: OrderContext,
): Order {
  const isOld = Math.min(overview.asOfMs - before.atMs, sinceTouchMs) >= stableMs;
  if (before.sort !== sortText(sort) || (isOld && !isInUse)) return orderOf(overview, sort);
  const known = new Set(before.names);
  const added = overview.names.filter((name) => !known.has(name));
  return added.length === 0 ? before : { ...before, names: [...before.names, ...added] };
}

export function useStableOrder(
  overview: Overview | null,
  sort: Sort,
  table: RefObject<HTMLElement | null>,
) {
  const [before, setOrder] = useState<Order>({ names: [], sort: "", atMs: 0 });
  const touchedAt = useTouchedAt(table);
  let order = before;
  if (overview !== null) {
    const isInUse = table.current?.matches(":hover, :focus-within, :has(tr.cur)") ?? false;
    const sinceTouchMs = performance.now() - touchedAt.current;
    order = nextOrder(before, { overview, sort, isInUse, sinceTouchMs });
    if (order !== before) setOrder(order);
  }
  return { ...order, sortAgain: () => overview && setOrder(orderOf(overview, sort)) };
}

/** By `performance.now()`. A finger that scrolls leaves neither hover nor focus. */
function useTouchedAt(table: RefObject<HTMLElement | null>): RefObject<number> {
  const touchedAt = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const left = new AbortController();
    const note = () => {
      touchedAt.current = performance.now();
    };
    for (const name of ["pointerdown", "pointermove", "keydown", "focusin"]) {
      table.current?.addEventListener(name, note, { signal: left.signal, passive: true });
    }
    return () => left.abort();
  }, [table]);
  return touchedAt;
}
