// The mark: a clamp that grips one item.

import type { ReactNode } from "react";

/** Drawn in a square of 32. */
export const markPaths = {
  left: "M11 3H4v26h7",
  right: "M21 3h7v26h-7",
  item: { x: 10.5, y: 10.5, size: 11 },
} as const;

interface MarkProps {
  readonly size?: number;
  /** Colour of the item; the clamp takes the colour of the text around it. */
  readonly itemColor?: string;
}

/** Decoration: the name stands beside it. */
export function Mark({ size = 24, itemColor = "var(--accent)" }: MarkProps): ReactNode {
  const { x, y, size: side } = markPaths.item;
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" fill="none" aria-hidden="true">
      <path d={markPaths.left} stroke="currentColor" strokeWidth="3.5" />
      <path d={markPaths.right} stroke="currentColor" strokeWidth="3.5" />
      <rect x={x} y={y} width={side} height={side} fill={itemColor} />
    </svg>
  );
}
