// What the project aims at, and how far it is. Pure. A goal that no results file speaks
// of is said to be open, not left out.

import type { BenchData, Range } from "./bench-data.ts";

export type Verdict = "met" | "missed" | "open";

export interface Goal {
  readonly what: string;
  /** As it is written. */
  readonly goal: string;
  readonly bound: { readonly atLeast: number } | { readonly atMost: number };
  /** A figure by its name, or what came of Holdfast and of others by one run beside them. */
  readonly of: string | { readonly peers: RegExp; readonly itemsPerCall: number };
  /** From the figure to the unit. */
  readonly scale?: number;
  readonly unit: string;
}

export interface Judged extends Goal {
  readonly range: Range | null;
  readonly verdict: Verdict;
}

const holdfast = "Holdfast";

const cell = (shape: string): string => `canonical phases/100B/${shape}/p1`;

export const goals: readonly Goal[] = [
  {
    what: "Produce, 1 item a call: of what HTTP alone reaches",
    goal: "≥ 0.5 ×",
    bound: { atLeast: 0.5 },
    of: `${cell("1x64")}/b0: produce.overE`,
    unit: "×",
  },
  {
    what: "Produce, 100 items a call: of what SQLite alone reaches",
    goal: "≥ 0.7 ×",
    bound: { atLeast: 0.7 },
    of: `${cell("100x64")}/b0: produce.overS`,
    unit: "×",
  },
  {
    what: "Produce, 1,000 items a call: of what SQLite alone reaches",
    goal: "≥ 0.7 ×",
    bound: { atLeast: 0.7 },
    of: `${cell("1000x8")}/b0: produce.overS`,
    unit: "×",
  },
  {
    what: "All three calls, 100 items each, against Redis Streams that syncs",
    goal: "≥ 2.5 ×",
    bound: { atLeast: 2.5 },
    of: { peers: /^Redis Streams/, itemsPerCall: 100 },
    unit: "×",
  },
  {
    what: "The same against the best of BullMQ, pg-boss, beanstalkd",
    goal: "≥ 20 ×",
    bound: { atLeast: 20 },
    of: { peers: /^(BullMQ|pg-boss|beanstalkd)/, itemsPerCall: 100 },
    unit: "×",
  },
  {
    what: "All three calls, 1 item each, against the best of all",
    goal: "≥ 1.5 ×",
    bound: { atLeast: 1.5 },
    of: { peers: /./, itemsPerCall: 1 },
    unit: "×",
  },
  {
    what: "All three calls with 1 M items waiting, against an empty queue",
    goal: "≥ 0.9 ×",
    bound: { atLeast: 0.9 },
    of: `${cell("100x64")}/b1M: all.overEmpty`,
    unit: "×",
  },
  {
    what: "The same with 10 M items waiting",
    goal: "≥ 0.9 ×",
    bound: { atLeast: 0.9 },
    of: "backlog phases/100B/100x8/p1/b10M: all.overEmpty",
    unit: "×",
  },
  {
    what: "Memory with 10 M items waiting, above that of an empty server",
    goal: "≤ 128 MB",
    bound: { atMost: 128 },
    of: "start b10M: memoryBytesAboveEmpty",
    scale: 1e-6,
    unit: "MB",
  },
  {
    what: "A waiting lease woken by a produce, p99",
    goal: "≤ 3 ms",
    bound: { atMost: 3 },
    of: "wake: wake.p99Ms",
    unit: "ms",
  },
  {
    what: "Ready after a start with 10 M items waiting",
    goal: "≤ 2 s",
    bound: { atMost: 2 },
    of: "start b10M: readyMs",
    scale: 0.001,
    unit: "s",
  },
  {
    what: "Disk after draining 1 M items, against 1,000",
    goal: "≤ 2 ×",
    bound: { atMost: 2 },
    of: "drain 1M: diskBytesTidyOver1k",
    unit: "×",
  },
  {
    what: "1,025 partitions against one, the same work",
    goal: "≥ 0.8 ×",
    bound: { atLeast: 0.8 },
    of: "partitions phases/100B/100x64/p1025/b0: all.overOnePartition",
    unit: "×",
  },
];

export function judge(goal: Goal, data: Pick<BenchData, "find" | "peers">): Judged {
  const range = typeof goal.of === "string" ? measured(goal, goal.of, data) : over(goal.of, data);
  if (range === null) return { ...goal, range, verdict: "open" };
  const { bound } = goal;
  const met = "atLeast" in bound ? range.median >= bound.atLeast : range.median <= bound.atMost;
  return { ...goal, range, verdict: met ? "met" : "missed" };
}

function measured(
  { scale = 1 }: Goal,
  name: string,
  { find }: Pick<BenchData, "find">,
): Range | null {
  const found = find(name);
  if (found === null) return null;
  const { median, min, max } = found.range;
  return { median: median * scale, min: min * scale, max: max * scale };
}

/** Holdfast over the fastest of the peers that are named, where both sync before they answer. */
function over(
  { peers, itemsPerCall }: Exclude<Goal["of"], string>,
  data: Pick<BenchData, "peers">,
): Range | null {
  const rows = (data.peers?.rows ?? []).filter(
    (row) => row.itemsPerCall === itemsPerCall && row.durabilityClass === "D2",
  );
  const own = rows.find(({ peer }) => peer === holdfast)?.total;
  const others = rows.filter(({ peer }) => peer !== holdfast && peers.test(peer));
  const [best] = others.toSorted((a, b) => b.total.median - a.total.median);
  if (own === undefined || best === undefined) return null;
  return {
    median: own.median / best.total.median,
    min: own.min / best.total.max,
    max: own.max / best.total.min,
  };
}
