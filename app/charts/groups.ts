// Which bars stand beside each other. Pure. Bars of one panel were measured in one
// run, do the same work and promise the same durability.

import { durabilityTexts } from "../../bench/peers/peer.ts";
import type { Results } from "../../bench/results.ts";
import { type BenchData, type Range, type Source, sourceText } from "./bench-data.ts";
import { count } from "./figures.ts";

export type Group = "produce" | "consume" | "all" | "backlog" | "peers";

export interface Bar {
  readonly name: string;
  /** `floor`: what a part of the work costs alone. */
  readonly look: "own" | "floor" | "peer";
  readonly range: Range;
}

export interface Panel {
  readonly title: string;
  readonly detail: string;
  readonly bars: readonly Bar[];
}

export interface Chart {
  readonly title: string;
  readonly durability: string;
  readonly note: string;
  readonly unit: string;
  readonly panels: readonly Panel[];
  readonly source: string;
  readonly madeAt: string;
  readonly rounds: string;
}

const phases = {
  produce: "Produce",
  consume: "Lease and complete",
  all: "Produce, lease and complete",
} as const;

const sqliteNote =
  "SQLite alone writes the same rows with commits of the same size and syncs them, without HTTP. Each group of bars has a scale of its own.";
const httpNote = "HTTP alone is an Elysia server that takes the same bodies and stores nothing.";

const itemsText = (items: number): string =>
  items === 1 ? "1 item a call" : `${count(items)} items a call`;

function described(results: Results): Pick<Chart, "unit" | "source" | "madeAt" | "rounds"> {
  return {
    unit: "items/s",
    source: sourceText(results),
    madeAt: results.madeAt.slice(0, 10),
    rounds: `${results.machine.cores} cores shared with the load, ${results.machine.fileSystem}; medians of ${results.settings["rounds"]} rounds, the line from lowest to highest`,
  };
}

/** `null` where no file has what the group shows. */
export function chartOf(data: BenchData, group: Group): Chart | null {
  switch (group) {
    case "produce":
    case "consume":
    case "all":
      return floorsChart(data, group);
    case "backlog":
      return backlogChart(data);
    case "peers":
      return peersChart(data);
  }
}

function floorsChart(data: BenchData, phase: keyof typeof phases): Chart | null {
  const results = data.newest(({ name }) => name.startsWith("canonical phases/100B/"));
  if (results === null) return null;
  const panels = results.measurements.flatMap(({ cell, figures }): Panel[] => {
    const own = figures[`${phase}.itemsPerSecond`];
    const isPlain = cell?.name.startsWith("canonical phases/100B/") === true && cell.backlog === 0;
    if (!isPlain || cell === undefined || own === undefined) return [];
    const sqlite = figures[`S.${phase}.itemsPerSecond`];
    const http = figures[`E.${phase}.itemsPerSecond`];
    return [
      {
        title: itemsText(cell.itemsPerCall),
        detail: `${cell.connections} connections`,
        bars: [
          { name: "Holdfast", look: "own", range: own },
          ...(sqlite === undefined ? [] : [floor("SQLite alone", sqlite)]),
          ...(http === undefined ? [] : [floor("HTTP alone", http)]),
        ],
      },
    ];
  });
  return {
    title: `${phases[phase]}: 100-byte items a second`,
    durability: durabilityTexts.D2,
    note: panels.some(({ bars }) => bars.length > 2) ? `${sqliteNote} ${httpNote}` : sqliteNote,
    panels,
    ...described(results),
  };
}

function floor(name: string, range: Range): Bar {
  return { name, look: "floor", range };
}

function backlogChart(data: BenchData): Chart | null {
  const waiting = /^(?<start>canonical .*\/b)(?!0$)(?<count>\w+)$/;
  const results = data.newest(({ name, cell }) => cell !== undefined && waiting.test(name));
  const full = results?.measurements.find(({ name }) => waiting.test(name));
  const match = full?.name.match(waiting)?.groups;
  const empty = results?.measurements.find(({ name }) => name === `${match?.["start"]}0`);
  if (results === null || full === undefined || empty === undefined) return null;
  const panels = (["produce", "consume"] as const).flatMap((phase): Panel[] => {
    const [before, after] = [empty, full].map(({ figures }) => figures[`${phase}.itemsPerSecond`]);
    if (before === undefined || after === undefined) return [];
    return [
      {
        title: phases[phase],
        detail: itemsText(full.cell?.itemsPerCall ?? 0),
        bars: [
          { name: "empty queue", look: "floor", range: before },
          { name: `${match?.["count"]} waiting`, look: "own", range: after },
        ],
      },
    ];
  });
  return {
    title: "The same work on an empty queue and on a full one",
    durability: durabilityTexts.D2,
    note: "Items a second, 100 bytes each. What waits was produced before the clock started.",
    panels,
    ...described(results),
  };
}

function peersChart({ peers }: BenchData): Chart | null {
  const rows = (peers?.rows ?? []).filter(({ durabilityClass }) => durabilityClass === "D2");
  if (peers === null || rows.length === 0) return null;
  const sizes = [...new Set(rows.map(({ itemsPerCall }) => itemsPerCall))].sort((a, b) => a - b);
  return {
    title: "Produce, lease and complete beside what people pick today",
    durability: durabilityTexts.D2,
    note: "Items a second through all three calls, each peer with the batch calls and connections that serve it best. Peers that do not sync every call before they answer are not in this chart.",
    unit: "items/s",
    panels: sizes.map((size) => ({
      title: itemsText(size),
      detail: "",
      bars: rows
        .filter(({ itemsPerCall }) => itemsPerCall === size)
        .toSorted((a, b) => b.total.median - a.total.median)
        .map(({ peer, total }) => ({
          name: peer,
          look: peer.startsWith("Holdfast") ? "own" : "peer",
          range: total,
        })),
    })),
    source: sourceText(peers.source satisfies Source),
    madeAt: peers.source.madeAt.slice(0, 10),
    rounds: "medians, the line from lowest to highest",
  };
}
