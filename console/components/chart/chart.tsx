// A chart of lines over time. The drawing is a canvas and its code comes after the page; its name,
// its keys and a table of its values are here.

import type { ReactNode } from "react";
import { clockText, rateText } from "../../format.ts";
import { useObserved } from "../../state/observable.ts";
import { zone } from "../../state/preferences.ts";
import { partOf } from "../lazy-part.tsx";

export interface ChartLine {
  readonly label: string;
  /** A custom property of the sheet: `--s-in`. */
  readonly color: string;
  /** What tells it apart where colours do not; absent = solid. */
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
  /** Colours what lies between the first two. */
  readonly isBetween?: boolean;
  /** The one under pointer or arrow keys; `null`: none is. */
  readonly point: number | null;
  readonly onPoint: (index: number | null) => void;
}

const drawing = partOf<ChartProps>({ name: "The chart" }, () =>
  import("./uplot-chart.tsx").then((file) => file.UplotChart),
);

export function Chart({ point, ...props }: ChartProps): ReactNode {
  const { label, lines, times, onPoint } = props;
  const told = useObserved(zone);
  const at = point === null ? undefined : times[point];
  const drawn = <drawing.Component point={point} {...props} />;
  // Nothing within an image is read out.
  if (drawing.useIsMissing()) return <div className="plot">{drawn}</div>;
  return (
    <>
      <div
        className="plot"
        role="img"
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys read single values.
        tabIndex={0}
        onBlur={() => onPoint(null)}
        onKeyDown={(event) => {
          const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
          if (by === undefined) return;
          event.preventDefault();
          onPoint(Math.max(0, Math.min(times.length - 1, (point ?? times.length) + by)));
        }}
      >
        {at !== undefined && <time>{clockText(at * 1_000, told)}</time>}
        {drawn}
      </div>
      <ValueTable label={label} lines={lines} times={times} />
    </>
  );
}

interface ValueTableProps {
  readonly label: string;
  readonly times: readonly number[];
  readonly lines: readonly ChartLine[];
}

const tableRowsMax = 24;

/** The same for who cannot see a drawing: not every point, but all of the range. */
function ValueTable({ label, times, lines }: ValueTableProps): ReactNode {
  const told = useObserved(zone);
  const step = Math.max(1, Math.ceil(times.length / tableRowsMax));
  const shown = times
    .map((time, index) => ({ time, index }))
    .filter(({ index }) => index % step === 0);
  return (
    <div className="vh">
      <table>
        <caption>{label}</caption>
        <thead>
          <tr>
            <th scope="col">time</th>
            {lines.map((line) => (
              <th scope="col" key={line.label}>
                {line.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(({ time, index }) => (
            <tr key={time}>
              <th scope="row">{clockText(time * 1_000, told)}</th>
              {lines.map(({ label: name, values }) => (
                <td key={name}>{rateText(values[index] ?? null)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
