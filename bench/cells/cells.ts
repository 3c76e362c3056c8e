// The cells of the benchmark; each is one way of using a queue. The canonical ones run by default.

import { payloadBytes } from "../load/delivery.ts";

export interface Cell {
  /** `<group> <flow>/<bytes>/<items per call>x<connections>/p<partitions>/b<backlog>` */
  readonly name: string;
  readonly payloadBytes: number;
  readonly itemsPerCall: number;
  readonly connections: number;
  readonly partitions: number;
  /** Waiting items before the measurement. */
  readonly backlog: number;
  /** One phase at a time, or producers and consumers at once. */
  readonly flow: "phases" | "together";
  /** Items produced and consumed during the measurement. */
  readonly items: number;
}

/** The queue of all cells. */
export const queue = "bench";

type Shape = Partial<Omit<Cell, "name" | "payloadBytes">>;

/**
 * Items by items per call: enough for some seconds on a small machine. A cell of less than a second
 * would measure the compilation of the server.
 */
const itemsByCall: Readonly<Record<number, number>> = {
  1: 48_000,
  10: 240_000,
  100: 512_000,
  1000: 800_000,
};

function cell(group: string, shape: Shape): Cell {
  const { itemsPerCall = 100, connections = 64, partitions = 1, backlog = 0 } = shape;
  const { flow = "phases" } = shape;
  const name = `${group} ${flow}/${payloadBytes}B/${itemsPerCall}x${connections}/p${partitions}/b${shortCount(backlog)}`;
  const items = shape.items ?? itemsByCall[itemsPerCall] ?? 100_000;
  return { name, payloadBytes, itemsPerCall, connections, partitions, backlog, flow, items };
}

/** `0`, `1k`, `10M`. */
export function shortCount(count: number): string {
  if (count >= 1_000_000 && count % 1_000_000 === 0) return `${count / 1_000_000}M`;
  if (count >= 1_000 && count % 1_000 === 0) return `${count / 1_000}k`;
  return String(count);
}

export const canonicalCells: readonly Cell[] = [
  cell("canonical", { itemsPerCall: 1 }),
  cell("canonical", { itemsPerCall: 10 }),
  cell("canonical", { itemsPerCall: 100 }),
  cell("canonical", { itemsPerCall: 1_000, connections: 8 }),
  cell("canonical", { itemsPerCall: 100, flow: "together" }),
  cell("canonical", { itemsPerCall: 100, backlog: 1_000_000 }),
];

/** Each cell is next to the one it is compared with. */
export const allCells: readonly Cell[] = [
  ...canonicalCells,
  ...[0, 10_000_000].map((backlog) => cell("backlog", { connections: 8, backlog, items: 200_000 })),
  ...[1, 1_025].flatMap((partitions) =>
    [1, 100].map((itemsPerCall) => cell("partitions", { itemsPerCall, partitions })),
  ),
];
