import type { ReactNode } from "react";

interface SparkProps {
  readonly lines: readonly (readonly (number | null)[])[];
  readonly look?: "hot";
}

const width = 104;
const height = 20;

/** A few lines on one scale; decoration beside figures that say the same. */
export function Sparkline({ lines, look }: SparkProps): ReactNode {
  const max = Math.max(0, ...lines.flat().map((value) => value ?? 0)) * 1.1;
  const kind = max === 0 ? "none" : (look ?? "");
  return (
    <svg
      className={`spark ${kind}`}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {lines.map((values, index) => (
        <path key={index} d={sparkPath(values, max || 1)} />
      ))}
    </svg>
  );
}

/** Unknown values are gaps. */
export function sparkPath(values: readonly (number | null)[], max: number): string {
  let isDrawing = false;
  let path = "";
  for (const [index, value] of values.entries()) {
    if (value === null) {
      isDrawing = false;
      continue;
    }
    const x = ((index / Math.max(1, values.length - 1)) * width).toFixed(1);
    const y = (height - 1 - (value / max) * (height - 2)).toFixed(1);
    path += `${isDrawing ? "L" : "M"}${x} ${y}`;
    isDrawing = true;
  }
  return path;
}
