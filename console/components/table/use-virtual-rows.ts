// Rows of a long list: those in the window, and the heights of the rest.

import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useRef, useState } from "react";
import { useIsPhone } from "../use-is-phone.ts";

/** Rows grow with the reader's text size. */
const textScale =
  typeof document === "undefined"
    ? 1
    : Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;

interface VirtualList {
  readonly count: number;
  /** Heights of bars that cover rows at the edges of the window. */
  readonly coverTop: number;
  readonly coverBottom: number;
}

/** Rows are of one height, and of another on a phone, where a row has two lines. */
export function useVirtualRows({ count, coverTop, coverBottom }: VirtualList) {
  const body = useRef<HTMLTableSectionElement>(null);
  const rowHeight = (useIsPhone() ? 64 : 32) * textScale;
  const [scrollMargin, setScrollMargin] = useState(0);
  // The content above the rows may have changed its height.
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
    body,
    indexes: shown.map(({ index }) => index),
    before,
    after: Math.max(0, after),
    scrollTo: (index: number) => rows.scrollToIndex(index, { align: "auto" }),
  };
}
