// Rows of a long list in the window: those that are seen, and a place as high as the rest.

import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, type RefObject, useLayoutEffect, useState } from "react";

/** Rows are as high as the reader's text asks for. */
export const textScale =
  typeof document === "undefined"
    ? 1
    : Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;

export interface VirtualList {
  readonly count: number;
  /** What holds the rows. */
  readonly body: RefObject<HTMLElement | null>;
  readonly rowHeight: number;
  /** Heights at the window's edges under which rows are not seen. */
  readonly coverTop: number;
  readonly coverBottom: number;
}

export function useVirtualRows({ count, body, rowHeight, coverTop, coverBottom }: VirtualList) {
  const [scrollMargin, setScrollMargin] = useState(0);
  // What stands above may have become higher or lower.
  useLayoutEffect(() => {
    const top = (body.current?.getBoundingClientRect().top ?? 0) + scrollY;
    if (Math.abs(top - scrollMargin) > 0.5) setScrollMargin(top);
  });
  const rows = useWindowVirtualizer({
    count,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollMargin,
    scrollPaddingStart: coverTop,
    scrollPaddingEnd: coverBottom,
  });
  useLayoutEffect(() => rows.measure(), [rows, rowHeight]);
  const shown = rows.getVirtualItems();
  const before = (shown[0]?.start ?? scrollMargin) - scrollMargin;
  const after = rows.getTotalSize() - ((shown.at(-1)?.end ?? scrollMargin) - scrollMargin);
  return {
    indexes: shown.map(({ index }) => index),
    before,
    after: Math.max(0, after),
    scrollTo: (index: number) => rows.scrollToIndex(index, { align: "auto" }),
  };
}

interface SpaceProps {
  readonly height: number;
  readonly columnCount: number;
}

/** Stands for rows that are not drawn. */
export function RowSpace({ height, columnCount }: SpaceProps): ReactNode {
  if (height <= 0) return null;
  return (
    <tr className="drop">
      <td colSpan={columnCount} style={{ height }} />
    </tr>
  );
}
