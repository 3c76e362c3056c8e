// The goals of the project and their progress. Pure. A goal without a results file is shown as
// open.

import { type BenchData, overPeers, type Range } from "./bench-data.ts";

export interface Goal {
  readonly what: string;
  /** A bound with its unit, such as `≥ 0.5 ×`. */
  readonly goal: string;
  /** A figure by name, or the ratio of Holdfast to the fastest of other queues. */
  readonly of: string | { readonly among: RegExp; readonly itemsPerCall: number };
  /** Factor from the figure to the unit; default 1. */
  readonly scale?: number;
}

export interface Judged {
  readonly what: string;
  readonly goal: string;
  readonly unit: string;
  readonly range: Range | null;
  readonly verdict: "met" | "missed" | "open";
}

const cell = (shape: string): string => `canonical phases/100B/${shape}/p1`;

export const goals: readonly Goal[] = [
  {
    what: "Produce, 1 item per call: of what HTTP alone reaches",
    goal: "≥ 0.5 ×",
    of: `${cell("1x64")}/b0: produce.overE`,
  },
  {
    what: "Produce, 100 items per call: of what SQLite alone reaches",
    goal: "≥ 0.7 ×",
    of: `${cell("100x64")}/b0: produce.overS`,
  },
  {
    what: "Produce, 1,000 items per call: of what SQLite alone reaches",
    goal: "≥ 0.7 ×",
    of: `${cell("1000x8")}/b0: produce.overS`,
  },
  {
    what: "All three calls, 100 items each, against Redis Streams that syncs",
    goal: "≥ 2.5 ×",
    of: { among: /^Redis Streams/, itemsPerCall: 100 },
  },
  {
    what: "The same against the best of BullMQ, pg-boss, beanstalkd",
    goal: "≥ 20 ×",
    of: { among: /^(BullMQ|pg-boss|beanstalkd)/, itemsPerCall: 100 },
  },
  {
    what: "All three calls, 1 item each, against the best of all",
    goal: "≥ 1.5 ×",
    of: { among: /./, itemsPerCall: 1 },
  },
  {
    what: "All three calls with 1 M items waiting, against an empty queue",
    goal: "≥ 0.9 ×",
    of: `${cell("100x64")}/b1M: all.overEmpty`,
  },
  {
    what: "The same with 10 M items waiting",
    goal: "≥ 0.9 ×",
    of: "backlog phases/100B/100x8/p1/b10M: all.overEmpty",
  },
  {
    what: "Memory with 10 M items waiting, above that of an empty server",
    goal: "≤ 128 MB",
    of: "start b10M: memoryBytesAboveEmpty",
    scale: 1e-6,
  },
  {
    what: "A waiting lease woken by a produce, p99",
    goal: "≤ 3 ms",
    of: "wake: wake.p99Ms",
  },
  {
    what: "Ready after a start with 10 M items waiting",
    goal: "≤ 2 s",
    of: "start b10M: readyMs",
    scale: 0.001,
  },
  {
    what: "Disk after draining 1 M items, against 1,000",
    goal: "≤ 2 ×",
    of: "drain 1M: diskBytesTidyOver1k",
  },
  {
    what: "1,025 partitions against one, the same work",
    goal: "≥ 0.8 ×",
    of: "partitions phases/100B/100x64/p1025/b0: all.overOnePartition",
  },
];

export function judge(one: Goal, data: Pick<BenchData, "find" | "peers">): Judged {
  const { what, goal, of, scale = 1 } = one;
  const [sign, bound = "", unit = ""] = goal.split(" ");
  const measured = typeof of === "string" ? data.find(of) : overPeers(data, of);
  if (measured === null) return { what, goal, unit, range: null, verdict: "open" };
  const range = scaled(measured.range, scale);
  const isMet = sign === "≥" ? range.median >= Number(bound) : range.median <= Number(bound);
  return { what, goal, unit, range, verdict: isMet ? "met" : "missed" };
}

function scaled({ median, min, max }: Range, scale: number): Range {
  return { median: median * scale, min: min * scale, max: max * scale };
}
