// The mark as a picture, for those who take no SVG: tabs of old browsers and home screens.

import type { ReactNode } from "react";
import { markPaths } from "./mark.tsx";
import { cardColors } from "./og-card.tsx";

/** On the dark ground: such a picture cannot follow the reader's colours. */
export function AppIcon({ size }: { readonly size: number }): ReactNode {
  const { x, y, size: side } = markPaths.item;
  const markSize = Math.round(size * 0.75);
  return (
    <div
      style={{
        display: "flex",
        alignItems: "center",
        justifyContent: "center",
        width: size,
        height: size,
        background: cardColors.ground,
      }}
    >
      <svg width={markSize} height={markSize} viewBox="0 0 32 32" fill="none" aria-hidden="true">
        <path d={markPaths.left} stroke={cardColors.text} strokeWidth="3.5" />
        <path d={markPaths.right} stroke={cardColors.text} strokeWidth="3.5" />
        <rect x={x} y={y} width={side} height={side} fill={cardColors.accent} />
      </svg>
    </div>
  );
}
