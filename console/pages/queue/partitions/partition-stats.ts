// The figures of the partitions, as columns, and the cells that show them.

import type { LogicalQueueStats, PartitionStats } from "../../../../openapi/schemas.ts";

export const figures = {
  ready: "ready",
  leased: "leased",
  oldest: "oldest",
  age: "mean age",
  failures: "failures",
} as const;

export type FigureId = keyof typeof figures;

export interface PartitionColumns {
  readonly numbers: readonly number[];
  readonly ready: readonly number[];
  readonly leased: readonly number[];
  readonly scheduled: readonly number[];
  /** Age of the oldest ready item in seconds; empty unless requested. */
  readonly oldest: readonly number[];
  /** Mean seconds since its items were produced. */
  readonly age: readonly number[];
  readonly failures: readonly number[];
  /** Partitions from this index on take no new items, and are removed when empty. */
  readonly drainsFrom: number;
}

export const noPartitions: PartitionColumns = {
  numbers: [],
  ready: [],
  leased: [],
  scheduled: [],
  oldest: [],
  age: [],
  failures: [],
  drainsFrom: 0,
};

interface PartitionSources {
  readonly stats: LogicalQueueStats | undefined;
  /** The number of partitions: columns of zeros are left out. */
  readonly count: number | undefined;
  /** How many the queue is to have: those with a number beyond drain. */
  readonly requested?: number | undefined;
  /** One by one, as they were at `atMs`. */
  readonly details?: readonly PartitionStats[] | undefined;
  readonly atMs?: number;
}

export function partitionsOf({
  stats,
  count,
  requested = Number.POSITIVE_INFINITY,
  details,
  atMs = 0,
}: PartitionSources): PartitionColumns | null {
  const columns = stats?.columns;
  if (columns === undefined || count === undefined) return null;
  const { partition, ...rest } = columns;
  const atLeast = Math.max(count, ...Object.values(rest).map((values) => values.length));
  // Numbers are sent if some are left out, figures if one of them is not 0.
  const numbers = partition.length > 0 ? partition : Array.from({ length: atLeast }, (_, at) => at);
  const whole = (values: readonly number[]) => (values.length > 0 ? values : numbers.map(() => 0));
  const leased = whole(columns.total_leased);
  return {
    numbers,
    leased,
    ready: whole(columns.total).map((total, at) => Math.max(0, total - (leased[at] ?? 0))),
    scheduled: whole(columns.scheduled),
    age: whole(columns.average_age_seconds),
    failures: whole(columns.failures),
    oldest: details ? oldestOf(numbers, details, atMs) : [],
    drainsFrom: numbers.filter((number) => number < requested).length,
  };
}

function oldestOf(
  numbers: readonly number[],
  details: readonly PartitionStats[],
  atMs: number,
): readonly number[] {
  const since = new Map(details.map((one) => [one.partition, one.oldest_ready_at]));
  return numbers.map((number) => {
    const at = since.get(number) ?? null;
    return at === null ? 0 : Math.max(0, (atMs - Date.parse(at)) / 1_000);
  });
}

export const shades = 8;

/** From 0 for nothing to `shades`. */
export function shadeOf(value: number, max: number): number {
  return value <= 0 ? 0 : Math.max(1, Math.ceil((value / Math.max(1, max)) * shades));
}

export interface Grid {
  readonly columns: number;
  readonly rows: number;
  readonly cellWidth: number;
  readonly cellHeight: number;
}

/** More partitions are drawn as shaded cells, fewer as bars. */
export const barsMax = 96;
const cellRatio = 1.6;
const barWidthMax = 32;

/** The largest cells that fit; together they have the height of the element. */
export function gridOf(count: number, width: number, height: number): Grid {
  if (count <= barsMax) {
    const cellWidth = Math.min(barWidthMax, width / Math.max(1, count));
    return { columns: Math.max(1, count), rows: 1, cellWidth, cellHeight: height };
  }
  let rows = 1;
  while (rows < count) {
    const columns = Math.ceil(count / rows);
    if (height / rows <= (width / columns) * cellRatio) break;
    rows += 1;
  }
  const columns = Math.ceil(count / rows);
  return { columns, rows, cellWidth: width / columns, cellHeight: height / rows };
}

/** The cell that an arrow key leads to. */
export function stepOf(key: string, at: number, { columns }: Grid, count: number): number | null {
  const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[key];
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  if (by === undefined) return null;
  const next = at + by;
  return next < 0 || next >= count ? at : next;
}

export function fullest(values: readonly number[], most: number): readonly number[] {
  return values
    .map((_, at) => at)
    .filter((at) => (values[at] ?? 0) > 0)
    .toSorted((a, b) => (values[b] ?? 0) - (values[a] ?? 0))
    .slice(0, most);
}
