import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { barsMax, type Grid, gridOf, shadeOf, shades, stepOf } from "./partition-figures.ts";

interface StripProps {
  readonly values: readonly number[];
  readonly label: string;
  readonly at: number | null;
  readonly onAt: (at: number | null) => void;
  readonly onOpen: (at: number) => void;
}

/** A cell for each partition: one path for each shade, however many there are. */
export function Strip({ values, label, at, onAt, onOpen }: StripProps): ReactNode {
  const { place, width, height } = useRoom();
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
        {at !== null && <Held at={at} grid={grid} />}
      </svg>
    </div>
  );
}

function useRoom() {
  const place = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    const measure = () => {
      const { clientWidth: width, clientHeight: height } = element;
      setRoom({ width, height });
    };
    measure();
    const fit = new ResizeObserver(measure);
    fit.observe(element);
    return () => fit.disconnect();
  }, []);
  return { place, ...room };
}

function Held({ at, grid }: { readonly at: number; readonly grid: Grid }): ReactNode {
  const { columns, cellWidth, cellHeight } = grid;
  return (
    <rect
      className="held"
      x={(at % columns) * cellWidth}
      y={Math.floor(at / columns) * cellHeight}
      width={Math.max(2, cellWidth - gapOf(cellWidth))}
      height={Math.max(2, cellHeight - gapOf(cellHeight))}
    />
  );
}

/** A field of bars is calmer than one of the fullest cells. */
const barShade = 5;

const gapOf = (size: number) => (size > 4 ? 2 : size > 2 ? 1 : 0);

function pathsOf(values: readonly number[], grid: Grid): readonly string[] {
  const { columns, cellWidth, cellHeight } = grid;
  if (cellWidth <= 0) return [];
  const max = Math.max(0, ...values);
  const paths = Array.from({ length: shades + 1 }, () => "");
  const [width, height] = [cellWidth - gapOf(cellWidth), cellHeight - gapOf(cellHeight)];
  for (const [index, value] of values.entries()) {
    const shade = shadeOf(value, max);
    const x = (index % columns) * cellWidth;
    const y = Math.floor(index / columns) * cellHeight;
    if (values.length > barsMax) {
      paths[shade] += box(x, y, width, height);
      continue;
    }
    // A bar stands on the floor, in a place that shows how high it could be.
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
