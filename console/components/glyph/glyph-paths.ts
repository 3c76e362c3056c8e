// An item is a square, a lease is a clamp around it. In a box of 20 by 14.

const left = "M5.5 1H2v12h3.5";
const right = "M14.5 1H18v12h-3.5";
const clamp = left + right;
const box = (x: number, y: number, width: number, height: number) =>
  `M${x} ${y}h${width}v${height}h${-width}z`;
const small = box(7, 4, 6, 6);
const large = box(5, 2.5, 9, 9);

export interface GlyphPaths {
  readonly lines?: string;
  readonly dashed?: string;
  readonly filled?: string;
  /** Outlined and lightly filled. */
  readonly shaded?: string;
}

export const glyphs = {
  flows: { lines: clamp, filled: small },
  idle: { lines: clamp },
  leased: { lines: clamp, shaded: small },
  max: { lines: clamp, filled: box(5.5, 3.5, 9, 7) },
  paused: { lines: `${clamp}M8.5 4v6M11.5 4v6` },
  noConsumers: { lines: large },
  behind: { lines: right + box(5.8, 4.7, 3, 4.6) + box(1, 4.7, 3, 4.6), filled: box(11, 4, 5, 6) },
  lapse: { lines: `${left}M16.5 1l2.4 2.6M16.5 13l2.4-2.6`, shaded: small },
  scheduled: { dashed: large },
  clear: { dashed: clamp, lines: small },
  down: { lines: `${left}M9 4l6 6M15 4l-6 6` },
  full: { lines: clamp, filled: box(4.5, 1, 11, 12) },
  ready: { lines: large },
  dead: { lines: `${large}M7.2 4.7l4.6 4.6m0-4.6L7.2 9.3` },
  done: { filled: box(4.5, 2, 10, 10) },
  in: { lines: `M1 7h7M5.5 4.2L8.3 7 5.5 9.8${box(11, 3, 7.5, 8)}` },
  out: { filled: box(1.5, 3, 7, 8), lines: "M11 7h7M15.5 4.2L18.3 7l-2.8 2.8" },
  clients: {
    lines: "M4.5 7a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0M11.5 7a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0",
  },
  age: { lines: "M4.8 7a5.2 5.2 0 1 0 10.4 0a5.2 5.2 0 1 0-10.4 0M10 4v3l2 1.4" },
  retry: { lines: "M15 7.5A5 5 0 1 1 13.4 3.6M14 1v3h-3" },
  note: { lines: "M4 3h12M4 7h12M4 11h7" },
} as const satisfies Record<string, GlyphPaths>;

export type GlyphName = keyof typeof glyphs;

/** In a box of 16 by 16. */
export const icons = {
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.4 10.4L14 14",
  theme: "M13 9.3A5.4 5.4 0 0 1 6.7 3 5.4 5.4 0 1 0 13 9.3z",
  close: "M4 4l8 8M12 4l-8 8",
  prev: "M10 3L5 8l5 5",
  next: "M6 3l5 5-5 5",
  down: "M4 6l4 4 4-4",
} as const;

export type IconName = keyof typeof icons;
