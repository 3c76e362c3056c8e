// The order of the queues, and the filter. Pure.

import { isTrouble, severityOf } from "../../state/health.ts";
import { type Overview, type QueueRow, ratesOf } from "../../state/overview-state.ts";

export const sortKeys = ["trouble", "name", "ready", "dead", "in", "oldest"] as const;
export type SortKey = (typeof sortKeys)[number];

export interface Sort {
  readonly key: SortKey;
  readonly isAscending: boolean;
}

/** The form in the address: `ready`, or reversed `-ready`; anything else is trouble first. */
export function sortFrom(text: string | null): Sort {
  const isTurned = text?.startsWith("-") ?? false;
  const key = sortKeys.find((one) => one === text?.replace(/^-/, "")) ?? "trouble";
  return { key, isAscending: (key === "name") !== isTurned };
}

export function sortText({ key, isAscending }: Sort): string {
  return (key === "name") === isAscending ? key : `-${key}`;
}

/** A press on a heading sorts by it, and a second press reverses the order. */
export function pressed(sort: Sort, key: SortKey): Sort {
  if (sort.key === key) return { key, isAscending: !sort.isAscending };
  return { key, isAscending: key === "name" };
}

/** The largest first. */
function weightOf(key: SortKey, nowMs: number): (row: QueueRow) => number {
  switch (key) {
    case "trouble":
      return ({ health }) => -severityOf(health);
    case "name":
      return () => 0;
    case "ready":
      return ({ ready }) => ready;
    case "dead":
      return ({ dead_total: dead }) => dead;
    case "in":
      return (row) => ratesOf(row, nowMs).in ?? 0;
    case "oldest":
      return ({ oldest_ready_at_ms: at }) => (at === 0 ? 0 : nowMs - at);
  }
}

const byName = (a: QueueRow, b: QueueRow) =>
  a.queue_name < b.queue_name ? -1 : a.queue_name > b.queue_name ? 1 : 0;

export function ordered(
  { queues, asOfMs }: Overview,
  { key, isAscending }: Sort,
): readonly string[] {
  const rows = [...queues.values()];
  const way = isAscending ? -1 : 1;
  if (key === "name") {
    rows.sort((a, b) => -way * byName(a, b));
  } else {
    const weight = weightOf(key, asOfMs);
    const busy = weightOf("in", asOfMs);
    const weighed = rows.map((row) => ({ row, by: weight(row), traffic: busy(row) }));
    weighed.sort((a, b) => way * (b.by - a.by) || b.traffic - a.traffic || byName(a.row, b.row));
    return weighed.map(({ row }) => row.queue_name);
  }
  return rows.map(({ queue_name: name }) => name);
}

export interface Filter {
  readonly text: string;
  readonly isTroubleOnly: boolean;
}

export function isShown(row: QueueRow | undefined, name: string, filter: Filter): boolean {
  if (!name.toLowerCase().includes(filter.text.trim().toLowerCase())) return false;
  return !filter.isTroubleOnly || (row !== undefined && isTrouble(row.health));
}
