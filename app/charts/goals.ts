// What the project aims at, and how far it is. Pure. A goal that no results file speaks
// of is said to be open, not left out.

import { type BenchData, overPeers, type Range } from "./bench-data.ts";

export type Verdict = "met" | "missed" | "open";

type Bound = { readonly atLeast: number } | { readonly atMost: number };

export type Goal = Bound & {
  readonly what: string;
  readonly unit: string;
  /** A figure by its name, or Holdfast over the fastest of other queues. */
  readonly of: string | { readonly among: RegExp; readonly itemsPerCall: number };
  /** From the figure to the unit. */
  readonly scale?: number;
};

export interface Judged {
  readonly what: string;
  readonly goal: string;
  readonly unit: string;
  readonly range: Range | null;
  readonly verdict: Verdict;
}

const cell = (shape: string): string => `canonical phases/100B/${shape}/p1`;

export const goals: readonly Goal[] = [
  {
    what: "Produce, 1 item a call: of what HTTP alone reaches",
    atLeast: 0.5,
    unit: "×",
    of: `${cell("1x64")}/b0: produce.overE`,
  },
  {
    what: "Produce, 100 items a call: of what SQLite alone reaches",
    atLeast: 0.7,
    unit: "×",
    of: `${cell("100x64")}/b0: produce.overS`,
  },
  {
    what: "Produce, 1,000 items a call: of what SQLite alone reaches",
    atLeast: 0.7,
    unit: "×",
    of: `${cell("1000x8")}/b0: produce.overS`,
  },
  {
    what: "All three calls, 100 items each, against Redis Streams that syncs",
    atLeast: 2.5,
    unit: "×",
    of: { among: /^Redis Streams/, itemsPerCall: 100 },
  },
  {
    what: "The same against the best of BullMQ, pg-boss, beanstalkd",
    atLeast: 20,
    unit: "×",
    of: { among: /^(BullMQ|pg-boss|beanstalkd)/, itemsPerCall: 100 },
  },
  {
    what: "All three calls, 1 item each, against the best of all",
    atLeast: 1.5,
    unit: "×",
    of: { among: /./, itemsPerCall: 1 },
  },
  {
    what: "All three calls with 1 M items waiting, against an empty queue",
    atLeast: 0.9,
    unit: "×",
    of: `${cell("100x64")}/b1M: all.overEmpty`,
  },
  {
    what: "The same with 10 M items waiting",
    atLeast: 0.9,
    unit: "×",
    of: "backlog phases/100B/100x8/p1/b10M: all.overEmpty",
  },
  {
    what: "Memory with 10 M items waiting, above that of an empty server",
    atMost: 128,
    unit: "MB",
    of: "start b10M: memoryBytesAboveEmpty",
    scale: 1e-6,
  },
  {
    what: "A waiting lease woken by a produce, p99",
    atMost: 3,
    unit: "ms",
    of: "wake: wake.p99Ms",
  },
  {
    what: "Ready after a start with 10 M items waiting",
    atMost: 2,
    unit: "s",
    of: "start b10M: readyMs",
    scale: 0.001,
  },
  {
    what: "Disk after draining 1 M items, against 1,000",
    atMost: 2,
    unit: "×",
    of: "drain 1M: diskBytesTidyOver1k",
  },
  {
    what: "1,025 partitions against one, the same work",
    atLeast: 0.8,
    unit: "×",
    of: "partitions phases/100B/100x64/p1025/b0: all.overOnePartition",
  },
];

export function judge(goal: Goal, data: Pick<BenchData, "find" | "peers">): Judged {
  const { what, unit, of, scale = 1 } = goal;
  const measured = typeof of === "string" ? data.find(of) : overPeers(data, of);
  const range = measured === null ? null : scaled(measured.range, scale);
  const [sign, bound] = "atLeast" in goal ? ["≥", goal.atLeast] : ["≤", goal.atMost];
  const isMet = range !== null && (sign === "≥" ? range.median >= bound : range.median <= bound);
  const verdict = range === null ? "open" : isMet ? "met" : "missed";
  return { what, unit, range, verdict, goal: `${sign} ${bound} ${unit}` };
}

function scaled({ median, min, max }: Range, scale: number): Range {
  return { median: median * scale, min: min * scale, max: max * scale };
}
