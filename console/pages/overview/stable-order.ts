// The order of the table stays while someone uses the table; otherwise it is renewed every ten
// seconds, at once on demand and when another order is chosen.

import { type RefObject, useState } from "react";
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

/** Pure; `before` itself while it stands. New queues are last until then, deleted ones keep their place. */
export function nextOrder(
  before: Order,
  { overview, sort, isInUse }: { overview: Overview; sort: Sort; isInUse: boolean },
): Order {
  const isOld = overview.asOfMs - before.atMs >= stableMs;
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
  let order = before;
  if (overview !== null) {
    const isInUse = table.current?.matches(":hover, :focus-within, :has(tr.cur)") ?? false;
    order = nextOrder(before, { overview, sort, isInUse });
    if (order !== before) setOrder(order);
  }
  return { ...order, sortAgain: () => overview && setOrder(orderOf(overview, sort)) };
}
