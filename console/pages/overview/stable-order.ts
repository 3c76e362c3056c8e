// The order of the table stays while the reader uses the table, and for ten seconds after a touch;
// otherwise it is renewed every ten seconds, at once on demand and when another order is chosen.

import { type RefObject, useState } from "react";
import { useTableUse } from "../../components/table/use-table-use.ts";
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
  const use = useTableUse(table);
  let order = before;
  if (overview !== null) {
    const [isInUse, sinceTouchMs] = [use.isInUse(), use.sinceTouchMs()];
    order = nextOrder(before, { overview, sort, isInUse, sinceTouchMs });
    if (order !== before) setOrder(order);
  }
  return { ...order, sortAgain: () => overview && setOrder(orderOf(overview, sort)) };
}
