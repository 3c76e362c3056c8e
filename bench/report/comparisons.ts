// Figures that are meaningful only relative to another measurement of the same rounds: a backlog
// against an empty queue, many partitions against one. Pure.

import type { Measurement } from "./results.ts";
import { type Spread, spreadOf } from "./statistics.ts";

interface Comparison {
  /** Matches the measurement; `with` names the one it is compared with. */
  readonly of: RegExp;
  readonly with: string;
  /** Source figures by the name of the result. */
  readonly figures: Readonly<Record<string, string>>;
  readonly kind: "ratio" | "difference";
}

const ratesOver = (name: string): Record<string, string> =>
  Object.fromEntries(
    ["produce", "consume", "all"].map((phase) => [
      `${phase}.over${name}`,
      `${phase}.itemsPerSecond`,
    ]),
  );

const comparisons: readonly Comparison[] = [
  {
    of: /^(?<start>.*\/b)(?!0$)\w+$/,
    with: "$<start>0",
    figures: ratesOver("Empty"),
    kind: "ratio",
  },
  {
    of: /^(?<start>partitions .*\/p)(?!1\/)\d+(?<end>\/.*)$/,
    with: "$<start>1$<end>",
    figures: ratesOver("OnePartition"),
    kind: "ratio",
  },
  {
    of: /^(?<start>start b)(?!0$)\w+$/,
    with: "$<start>0",
    figures: { memoryBytesAboveEmpty: "memoryBytes", memoryBytesUsedAboveEmpty: "memoryBytesUsed" },
    kind: "difference",
  },
  {
    of: /^(?<start>drain )1M$/,
    with: "$<start>1k",
    figures: { diskBytesTidyOver1k: "diskBytesTidy" },
    kind: "ratio",
  },
];

/**
 * Adds the comparisons to each measurement, round by round, so that common disturbances cancel out.
 */
export function withComparisons(measurements: readonly Measurement[]): Measurement[] {
  return measurements.map((measurement) => {
    const added: Record<string, Spread> = {};
    for (const { of, with: other, figures, kind } of comparisons) {
      const base = of.test(measurement.name)
        ? measurements.find(({ name }) => name === measurement.name.replace(of, other))
        : undefined;
      for (const [name, figure] of Object.entries(figures)) {
        const spread = compare({ measurement, base, figure, kind });
        if (spread !== null) added[name] = spread;
      }
    }
    return { ...measurement, figures: { ...measurement.figures, ...added } };
  });
}

function compare(compared: {
  readonly measurement: Measurement;
  readonly base: Measurement | undefined;
  readonly figure: string;
  readonly kind: Comparison["kind"];
}): Spread | null {
  const { measurement, base, figure, kind } = compared;
  const values = measurement.figures[figure]?.values ?? [];
  const others = base?.figures[figure]?.values ?? [];
  if (values.length === 0 || values.length !== others.length) return null;
  return spreadOf(
    values.map((value, round) => {
      const other = others[round] ?? 0;
      return kind === "ratio" ? value / other : value - other;
    }),
  );
}
