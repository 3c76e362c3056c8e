// Elements of the drawings: an item is a square; a lease is a clamp around it with a bar that
// shrinks; a path is a line with a head. Positions are texts, "x,y x,y", as in SVG.

import type { ReactNode } from "react";

/** Blue = leased; green = on disk and acknowledged; red = failed. */
type Kind = "plain" | "lease" | "kept" | "dead" | "quiet";

function numbersIn(at: string): number[] {
  return at.split(/[ ,]+/).map(Number);
}

interface ItemProps {
  /** Its centre. */
  readonly at: string;
  readonly kind?: Kind;
  readonly size?: number;
}

export function Item({ at, kind = "plain", size = 16 }: ItemProps): ReactNode {
  const [x = 0, y = 0] = numbersIn(at);
  const half = size / 2;
  return (
    <g className={`diagram-item diagram-${kind}`}>
      <rect x={x - half} y={y - half} width={size} height={size} rx={1.5} />
      {kind === "dead" && <path d={`M${x - 3.5} ${y - 3.5}l7 7m0-7l-7 7`} />}
    </g>
  );
}

/** A row of items, starting at `at`. */
export function Items({ at, count, ...rest }: ItemProps & { readonly count: number }): ReactNode {
  const [x = 0, y = 0] = numbersIn(at);
  return Array.from({ length: count }, (_, index) => `${x + index * 23},${y}`).map((place) => (
    <Item key={place} at={place} {...rest} />
  ));
}

/** A leased item, with the remaining share of its lease. */
export function Clamp({
  at,
  left = 0.6,
}: {
  readonly at: string;
  readonly left?: number;
}): ReactNode {
  const [x = 0, y = 0] = numbersIn(at);
  return (
    <g className="diagram-clamp diagram-lease">
      <Item at={at} kind="lease" />
      <path
        d={`M${x - 9} ${y - 15}h-6v30h6M${x + 9} ${y - 15}h6v30h-6M${x - 15} ${y + 22}h${30 * left}`}
      />
    </g>
  );
}

interface WayProps {
  readonly at: string;
  readonly kind?: Kind;
  readonly hasHead?: boolean;
}

export function Way({ at, kind = "plain", hasHead = true }: WayProps): ReactNode {
  const [fromX = 0, fromY = 0, x = 0, y = 0] = numbersIn(at).slice(-4);
  const angle = (Math.atan2(y - fromY, x - fromX) * 180) / Math.PI;
  return (
    <g className={`diagram-way diagram-${kind}`}>
      <polyline points={at} {...(hasHead ? {} : { strokeDasharray: "4 4" })} />
      {hasHead && <path d="M0 0l-7-4v8z" transform={`translate(${x} ${y}) rotate(${angle})`} />}
    </g>
  );
}

interface TextProps {
  readonly at: string;
  readonly says: string;
  /** An API term that follows the text, or is alone. */
  readonly code?: string;
  readonly kind?: Kind | "name" | "eyebrow";
  readonly anchor?: "start" | "middle" | "end";
}

export function Text({ at, says, code, kind = "plain", anchor = "start" }: TextProps): ReactNode {
  const [x, y] = numbersIn(at);
  return (
    <text className={`diagram-text diagram-${kind}`} x={x} y={y} textAnchor={anchor}>
      {says}
      {code !== undefined && <tspan className="diagram-code">{code}</tspan>}
    </text>
  );
}

interface TrayProps {
  /** Corner and size. */
  readonly at: string;
  readonly name?: string;
  readonly kind?: Kind;
  readonly look?: "plain" | "dashed" | "sunken";
}

/** A container: a state, a partition, a thread. Its name is at the top left. */
export function Tray({ at, name, kind = "quiet", look = "plain" }: TrayProps): ReactNode {
  const [x = 0, y = 0, width, height] = numbersIn(at);
  return (
    <>
      <rect
        className={`diagram-tray diagram-${kind} diagram-${look}`}
        {...{ x, y, width, height }}
        rx={3}
      />
      {name !== undefined && <Text at={`${x + 14},${y + 24}`} says={name} kind="name" />}
    </>
  );
}
