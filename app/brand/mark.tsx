// The mark: a clamp that grips one item.

import type { ReactNode } from "react";

interface MarkProps {
  readonly size?: number;
  /** Colour of the item; the clamp has the colour of the surrounding text. */
  readonly itemColor?: string;
}

/** Decorative: the name is beside it. */
export function Mark({ size = 24, itemColor = "var(--accent)" }: MarkProps): ReactNode {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" fill="none" aria-hidden="true">
      <path d="M11 3H4v26h7" stroke="currentColor" strokeWidth="3.5" />
      <path d="M21 3h7v26h-7" stroke="currentColor" strokeWidth="3.5" />
      <rect x="10.5" y="10.5" width="11" height="11" fill={itemColor} />
    </svg>
  );
}
