// Lines through points with rounded corners, as SVG path texts; pure.

export type Point = readonly [x: number, y: number];

const cornerRadius = 7;
const headLength = 7;
const headWidth = 4;

function towards([x, y]: Point, [toX, toY]: Point, distance: number): Point {
  const length = Math.hypot(toX - x, toY - y) || 1;
  return [x + ((toX - x) * distance) / length, y + ((toY - y) * distance) / length];
}

function at([x, y]: Point): string {
  return `${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`;
}

/** Corners are cut by a curve, but never by more than half of a side. */
export function roundedPath(points: readonly Point[]): string {
  return points
    .map((point, index) => {
      const before = points[index - 1];
      const after = points[index + 1];
      if (before === undefined) return `M${at(point)}`;
      if (after === undefined) return `L${at(point)}`;
      const radius = Math.min(
        cornerRadius,
        Math.hypot(point[0] - before[0], point[1] - before[1]) / 2,
        Math.hypot(after[0] - point[0], after[1] - point[1]) / 2,
      );
      return `L${at(towards(point, before, radius))}Q${at(point)} ${at(towards(point, after, radius))}`;
    })
    .join("");
}

/** A triangle at the last point, in the direction of the last side. */
export function arrowHead(points: readonly Point[]): string {
  const tip = points.at(-1) ?? [0, 0];
  const before = points.at(-2) ?? tip;
  const base = towards(tip, before, headLength);
  const [acrossX, acrossY] = [
    ((tip[1] - base[1]) * headWidth) / headLength,
    ((base[0] - tip[0]) * headWidth) / headLength,
  ];
  return `M${at(tip)}L${at([base[0] + acrossX, base[1] + acrossY])}L${at([base[0] - acrossX, base[1] - acrossY])}Z`;
}
