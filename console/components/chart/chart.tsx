// A chart of lines over time, with a name, keys and a table of values. The drawing is a canvas whose
// code is loaded after the page.

import type { ReactNode } from "react";
import { clockText, rateText } from "../../format.ts";
import { useZone } from "../../state/preferences.ts";
import { lazyPart } from "../lazy-part.tsx";
import { type Column, Table } from "../table/table.tsx";
import type { ChartProps } from "./chart-props.ts";

const drawing = lazyPart<ChartProps>({ name: "The chart" }, () =>
  import("./uplot-chart.tsx").then((file) => file.UplotChart),
);

export function Chart({ point, ...props }: ChartProps): ReactNode {
  const { label, lines, times, onPoint } = props;
  const zone = useZone();
  const at = point === null ? undefined : times[point];
  const drawn = <drawing.Component point={point} {...props} />;
  // The content of an image is not read out.
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
        {at !== undefined && <time>{clockText(at * 1_000, zone)}</time>}
        {drawn}
      </div>
      <ValueTable label={label} lines={lines} times={times} />
    </>
  );
}

type ValueTableProps = Pick<ChartProps, "label" | "times" | "lines">;

const tableRowsMax = 24;

/** For readers of the page who cannot see the drawing: some points, over the whole range. */
function ValueTable({ label, times, lines }: ValueTableProps): ReactNode {
  const zone = useZone();
  const step = Math.max(1, Math.ceil(times.length / tableRowsMax));
  const columns: readonly Column<number>[] = [
    {
      title: "time",
      isHeading: true,
      cell: (index) => clockText((times[index] ?? 0) * 1_000, zone),
    },
    ...lines.map(({ label: title, values }) => ({
      title,
      cell: (index: number) => rateText(values[index] ?? null),
    })),
  ];
  const rows = times.map((_, index) => index).filter((index) => index % step === 0);
  return (
    <div className="vh">
      <Table className="" label={label} columns={columns} rows={rows} keyOf={(index) => index} />
    </div>
  );
}
