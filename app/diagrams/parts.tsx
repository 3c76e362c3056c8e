// What the diagrams are drawn with: an item is a square, a lease is a clamp around
// it with a bar that runs down, a way is a line with a head.

import type { ReactNode } from "react";
import { arrowHead, type Point, roundedPath } from "./paths.ts";

/** How an item looks; `away` is one that waits for an instant, `done` one that is completed. */
export type Look = "ready" | "leased" | "done" | "dead" | "away";

interface ItemProps {
  readonly x: number;
  readonly y: number;
  readonly look?: Look;
  readonly size?: number;
}

/** A square with its centre at x, y. */
export function Item({ x, y, look = "ready", size = 16 }: ItemProps): ReactNode {
  const half = size / 2;
  return (
    <>
      <rect
        className={`hf-d-item hf-d-${look}`}
        x={x - half}
        y={y - half}
        width={size}
        height={size}
        rx={1.5}
      />
      {look === "dead" && (
        <path
          className="hf-d-cross"
          d={`M${x - 3.5} ${y - 3.5}l7 7m0 -7l-7 7`}
          strokeLinecap="square"
        />
      )}
    </>
  );
}

export function Items({
  x,
  y,
  count,
  look = "ready",
  pitch = 24,
  size = 16,
}: ItemProps & { readonly count: number; readonly pitch?: number }): ReactNode {
  return Array.from({ length: count }, (_, index) => x + index * pitch).map((at) => (
    <Item key={at} x={at} y={y} look={look} size={size} />
  ));
}

interface ClampProps {
  readonly x: number;
  readonly y: number;
  /** Share of the lease that is left. */
  readonly left?: number;
  readonly size?: number;
}

/** A leased item in its clamp, with the bar of its lease below. */
export function Clamp({ x, y, left = 0.6, size = 16 }: ClampProps): ReactNode {
  const reach = size * 0.95;
  const foot = size * 0.35;
  const side = (sign: 1 | -1): string =>
    `M${x + sign * (reach - foot)} ${y - reach}h${sign * foot}v${2 * reach}h${-sign * foot}`;
  const width = 2 * reach;
  return (
    <>
      <Item x={x} y={y} look="leased" size={size} />
      <path className="hf-d-clamp" d={side(-1)} />
      <path className="hf-d-clamp" d={side(1)} />
      <path className="hf-d-track" d={`M${x - reach} ${y + reach + 7}h${width}`} />
      <path className="hf-d-bar" d={`M${x - reach} ${y + reach + 7}h${width * left}`} />
    </>
  );
}

interface WayProps {
  readonly points: readonly Point[];
  readonly kind?: "plain" | "lease" | "dead" | "quiet";
  /** Without a head it is only a line. */
  readonly head?: boolean;
  readonly dashed?: boolean;
}

export function Way({ points, kind = "plain", head = true, dashed = false }: WayProps): ReactNode {
  return (
    <g className={`hf-d-way hf-d-way-${kind}`}>
      <path d={roundedPath(points)} {...(dashed ? { strokeDasharray: "4 4" } : {})} />
      {head && <path className="hf-d-head" d={arrowHead(points)} />}
    </g>
  );
}

interface TextProps {
  readonly x: number;
  readonly y: number;
  /** `name` is what a thing is called, `code` a word of the API, `eyebrow` a quiet heading. */
  readonly kind?: "text" | "name" | "code" | "eyebrow" | "accent" | "dead";
  readonly anchor?: "start" | "middle" | "end";
  readonly children: ReactNode;
}

export function Text({ x, y, kind = "text", anchor = "start", children }: TextProps): ReactNode {
  return (
    <text className={`hf-d-text hf-d-text-${kind}`} x={x} y={y} textAnchor={anchor}>
      {children}
    </text>
  );
}

/** A word of the API within a text. */
export function Code({ children }: { readonly children: ReactNode }): ReactNode {
  return <tspan className="hf-d-text-code">{children}</tspan>;
}

interface TrayProps {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly name?: string;
  readonly kind?: "plain" | "lease" | "dead" | "sunken" | "dashed";
}

/** What holds something: a state, a partition, a thread. Its name stands at the top left. */
export function Tray({ x, y, width, height, name, kind = "plain" }: TrayProps): ReactNode {
  return (
    <>
      <rect
        className={`hf-d-tray hf-d-tray-${kind}`}
        x={x}
        y={y}
        width={width}
        height={height}
        rx={3}
      />
      {name !== undefined && (
        <Text x={x + 14} y={y + 24} kind="name">
          {name}
        </Text>
      )}
    </>
  );
}

/** A file on disk, with a corner turned down. */
export function Sheet({ x, y, width, height }: Omit<TrayProps, "name" | "kind">): ReactNode {
  const corner = 12;
  return (
    <path
      className="hf-d-tray hf-d-tray-sunken"
      d={`M${x} ${y}h${width - corner}l${corner} ${corner}v${height - corner}h${-width}z m${width - corner} 0v${corner}h${corner}`}
    />
  );
}
