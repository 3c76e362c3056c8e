// What is measured: cells, each one way of using a queue. The canonical ones are
// few; the matrix covers every size, call, number of connections and partitions.

export interface Cell {
  /** `<group> <flow>/<bytes>/<items a call>x<connections>/p<partitions>/b<backlog>` */
  readonly name: string;
  readonly payloadBytes: number;
  readonly itemsPerCall: number;
  readonly connections: number;
  readonly partitions: number;
  /** Items waiting before the clock starts. */
  readonly backlog: number;
  /** One phase at a time, or producers and consumers at once. */
  readonly flow: "phases" | "together";
  /** Produced and consumed while the clock runs. */
  readonly items: number;
}

type Shape = Partial<Omit<Cell, "name" | "items">> & { readonly items?: number };

/**
 * Enough for some seconds on a small machine, and a multiple of every number of items a call. With less
 * than a second to a cell it is the compiling of the server that is measured.
 */
const itemsByCall: Readonly<Record<number, Readonly<Record<number, number>>>> = {
  1: { 1: 3_000, 8: 10_000, 64: 48_000 },
  10: { 1: 20_000, 8: 60_000, 64: 240_000 },
  100: { 1: 80_000, 8: 200_000, 64: 512_000 },
  1000: { 1: 200_000, 8: 800_000, 64: 512_000 },
};

function cell(group: string, shape: Shape): Cell {
  const {
    payloadBytes = 100,
    itemsPerCall = 100,
    connections = 64,
    partitions = 1,
    backlog = 0,
    flow = "phases",
  } = shape;
  const items = shape.items ?? itemsByCall[itemsPerCall]?.[connections] ?? 100_000;
  const size = payloadBytes === 1_000 ? "1kB" : `${payloadBytes}B`;
  return {
    name: `${group} ${flow}/${size}/${itemsPerCall}x${connections}/p${partitions}/b${shortCount(backlog)}`,
    payloadBytes,
    itemsPerCall,
    connections,
    partitions,
    backlog,
    flow,
    items,
  };
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

const calls = [1, 10, 100, 1_000];
const connectionCounts = [1, 8, 64];

function matrix(): Cell[] {
  const cells: Cell[] = [];
  for (const payloadBytes of [100, 1_000]) {
    for (const partitions of [1, 4]) {
      for (const connections of connectionCounts) {
        for (const itemsPerCall of calls) {
          for (const flow of ["phases", "together"] as const) {
            const shape = { payloadBytes, partitions, connections, itemsPerCall, flow };
            cells.push(cell("matrix", shape));
          }
        }
      }
    }
  }
  return cells;
}

/** Each next to the same without a backlog, because only the two together say something. */
function backlogs(): Cell[] {
  return calls.flatMap((itemsPerCall) =>
    [0, 1_000_000, 10_000_000].flatMap((backlog) => [
      cell("backlog", { itemsPerCall, connections: 8, backlog }),
      cell("backlog", { itemsPerCall, connections: 8, backlog, flow: "together" }),
    ]),
  );
}

function partitions(): Cell[] {
  return [1, 1_025].flatMap((count) =>
    [1, 100].map((itemsPerCall) => cell("partitions", { itemsPerCall, partitions: count })),
  );
}

export const allCells: readonly Cell[] = [
  ...canonicalCells,
  ...matrix(),
  ...backlogs(),
  ...partitions(),
];
