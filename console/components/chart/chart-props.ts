// The lines of a chart. They are apart from it because its drawing is loaded later.

export interface ChartLine {
  readonly label: string;
  /** A custom property of the sheet: `--s-in`. */
  readonly color: string;
  /** For readers who cannot tell the colours apart; absent = solid. */
  readonly dash?: "dashed" | "dotted";
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  readonly label: string;
  /** Seconds since 1970, for each value. */
  readonly times: readonly number[];
  readonly fromSeconds: number;
  readonly toSeconds: number;
  readonly lines: readonly ChartLine[];
  /** Colours the area between the first two lines. */
  readonly isBetween?: boolean;
  /** The point under the pointer or the arrow keys. */
  readonly point: number | null;
  readonly onPoint: (index: number | null) => void;
}
