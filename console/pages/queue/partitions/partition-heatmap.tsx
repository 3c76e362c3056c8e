import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { barsMax, type Grid, gridOf, shadeOf, shades, stepOf } from "./partition-stats.ts";

interface PartitionHeatmapProps {
  readonly values: readonly number[];
  /** Cells from this index on are outlined. */
  readonly drainsFrom: number;
  readonly label: string;
  readonly at: number | null;
  readonly onAt: (at: number | null) => void;
  readonly onOpen: (at: number) => void;
}

/** A cell for each partition: one path for each shade, however many there are. */
export function PartitionHeatmap({
  values,
  drainsFrom,
  label,
  at,
  onAt,
  onOpen,
}: PartitionHeatmapProps): ReactNode {
  const { place, width, height } = useSize();
  const grid = gridOf(values.length, width, height);
  const paths = pathsOf(values, grid);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && at !== null) return onOpen(at);
    const next = stepOf(event.key, at ?? -1, grid, values.length);
    if (next === null) return;
    event.preventDefault();
    onAt(Math.max(0, next));
  };
  const under = (event: PointerEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / grid.cellWidth);
    const index = Math.floor((event.clientY - box.top) / grid.cellHeight) * grid.columns + column;
    onAt(column < grid.columns && index < values.length && index >= 0 ? index : null);
  };
  return (
    <div
      className="strip"
      ref={place}
      role="img"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys read single partitions.
      tabIndex={0}
      onKeyDown={onKeyDown}
      onPointerMove={under}
      onPointerDown={under}
    >
      <svg width={width} height={height} aria-hidden="true">
        {paths.map((path, shade) => (
          <path key={shade} className={`shade-${shade}`} d={path} />
        ))}
        <path className="drains" d={outlinesOf(values.length, drainsFrom, grid)} />
        {at !== null && <Cursor at={at} grid={grid} />}
      </svg>
    </div>
  );
}

function useSize() {
  const place = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    const measure = () => {
      const { clientWidth: width, clientHeight: height } = element;
      setSize({ width, height });
    };
    measure();
    const fit = new ResizeObserver(measure);
    fit.observe(element);
    return () => fit.disconnect();
  }, []);
  return { place, ...size };
}

function Cursor({ at, grid }: { readonly at: number; readonly grid: Grid }): ReactNode {
  const { x, y, width, height } = cellOf(at, grid);
  return (
    <rect className="held" x={x} y={y} width={Math.max(2, width)} height={Math.max(2, height)} />
  );
}

/** A field of bars is calmer than one of the fullest cells. */
const barShade = 5;

const gapOf = (size: number) => (size > 4 ? 2 : size > 2 ? 1 : 0);

function cellOf(at: number, { columns, cellWidth, cellHeight }: Grid) {
  return {
    x: (at % columns) * cellWidth,
    y: Math.floor(at / columns) * cellHeight,
    width: cellWidth - gapOf(cellWidth),
    height: cellHeight - gapOf(cellHeight),
  };
}

function outlinesOf(count: number, from: number, grid: Grid): string {
  let path = "";
  for (let at = from; at < count && grid.cellWidth > 0; at += 1) {
    const { x, y, width, height } = cellOf(at, grid);
    // The outline is inside its cell.
    path += box(x + 0.5, y + 0.5, Math.max(1, width - 1), Math.max(1, height - 1));
  }
  return path;
}

function pathsOf(values: readonly number[], grid: Grid): readonly string[] {
  if (grid.cellWidth <= 0) return [];
  const max = Math.max(0, ...values);
  const paths = Array.from({ length: shades + 1 }, () => "");
  for (const [index, value] of values.entries()) {
    const shade = shadeOf(value, max);
    const { x, y, width, height } = cellOf(index, grid);
    if (values.length > barsMax) {
      paths[shade] += box(x, y, width, height);
      continue;
    }
    // A bar is drawn in a background of the full height.
    const part = max === 0 ? 0 : value / max;
    const high = value > 0 ? Math.max(2, part * height) : 0;
    paths[0] += box(x, y, width, height);
    paths[barShade] += high > 0 ? box(x, y + height - high, width, high) : "";
  }
  return paths;
}

function box(x: number, y: number, width: number, height: number): string {
  const one = (value: number) => value.toFixed(1);
  return `M${one(x)} ${one(y)}h${one(width)}v${one(height)}h${one(-width)}z`;
}
