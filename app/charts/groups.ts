// Groups of bars that are shown together. Pure. Bars of one panel come from one run, do the same
// work and have the same durability.

import { durabilityTexts } from "../../bench/peers/peer.ts";
import type { PeerRow, PeersResult } from "../../bench/peers/peers.ts";
import type { Results } from "../../bench/report/results.ts";
import { type BenchData, isOwn, type Range, sourceText, syncingRows } from "./bench-data.ts";
import { count } from "./figures.ts";

export const groups = ["produce", "consume", "all", "backlog", "peers"] as const;
export type Group = (typeof groups)[number];

export interface Bar {
  readonly name: string;
  /** `floor`: the cost of a part of the work alone. */
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
  /** Missing bars, with the reasons. */
  readonly absent: readonly string[];
  readonly source: string;
}

const phases = {
  produce: "Produce",
  consume: "Lease and complete",
  all: "Produce, lease and complete",
} as const;

const itemsText = (items: number): string =>
  items === 1 ? "1 item per call" : `${count(items)} items per call`;

/** `null` if no file contains the group's figures. */
export function chartOf(data: BenchData, group: Group): Chart | null {
  if (group === "backlog") return backlogChart(data);
  return group === "peers" ? peersChart(data) : floorsChart(data, group);
}

function floorsChart(data: BenchData, phase: keyof typeof phases): Chart | null {
  const cells = "canonical phases/100B/";
  const results = data.newest(({ name }) => name.startsWith(cells));
  if (results === null) return null;
  const panels = results.measurements.flatMap(({ cell, figures }): Panel[] => {
    if (cell?.name.startsWith(cells) !== true || cell.backlog !== 0) return [];
    const rate = `${phase}.itemsPerSecond`;
    return [
      {
        title: itemsText(cell.itemsPerCall),
        detail: `${cell.connections} connections`,
        bars: [
          ...bar("Holdfast", "own", figures[rate]),
          ...bar("SQLite alone", "floor", figures[`S.${rate}`]),
          ...bar("HTTP alone", "floor", figures[`E.${rate}`]),
        ],
      },
    ];
  });
  const hasHttp = panels.some(({ bars }) => bars.some(({ name }) => name === "HTTP alone"));
  return {
    title: phases[phase],
    note: `Items of 100 bytes. SQLite alone writes the same rows with commits of the same size and syncs them, without HTTP.${hasHttp ? " HTTP alone is an Elysia server that takes the same bodies and stores nothing." : ""}`,
    panels,
    absent: absences(panels, () => "not measured"),
    ...measuredBy(results),
  };
}

function bar(name: string, look: Bar["look"], range: Range | undefined): Bar[] {
  return range === undefined ? [] : [{ name, look, range }];
}

function backlogChart(data: BenchData): Chart | null {
  const waiting = /^(?<start>canonical .*\/b)(?!0$)(?<count>\w+)$/;
  const results = data.newest(({ name, cell }) => cell !== undefined && waiting.test(name));
  const full = results?.measurements.find(({ name }) => waiting.test(name));
  const match = full?.name.match(waiting)?.groups;
  const empty = results?.measurements.find(({ name }) => name === `${match?.["start"]}0`);
  if (results === null || full === undefined || empty === undefined) return null;
  const panels = (["produce", "consume"] as const).map((phase) => ({
    title: phases[phase],
    detail: itemsText(full.cell?.itemsPerCall ?? 0),
    bars: [
      ...bar("empty queue", "floor", empty.figures[`${phase}.itemsPerSecond`]),
      ...bar(`${match?.["count"]} waiting`, "own", full.figures[`${phase}.itemsPerSecond`]),
    ],
  }));
  return {
    title: "The same work on an empty queue and on a full one",
    note: "Items of 100 bytes. What waits was produced before the clock started.",
    panels,
    absent: absences(panels, () => "not measured"),
    ...measuredBy(results),
  };
}

function measuredBy(results: Results): Pick<Chart, "durability" | "unit" | "source"> {
  const { machine, settings, madeAt } = results;
  return {
    durability: durabilityTexts.D2,
    unit: "items/s",
    source: `${machine.cores} cores shared with the load, ${machine.fileSystem}; medians of ${settings["rounds"]} rounds, the line from lowest to highest. Measured ${madeAt.slice(0, 10)}, ${sourceText(results)}`,
  };
}

function peersChart({ peers }: BenchData): Chart | null {
  const rows = peers === null ? [] : syncingRows(peers);
  if (peers === null || rows.length === 0) return null;
  const sizes = [...new Set(rows.map(({ itemsPerCall }) => itemsPerCall))].sort((a, b) => a - b);
  const panels = sizes.map((size) => ({
    title: itemsText(size),
    detail: "",
    bars: rows
      .filter(({ itemsPerCall }) => itemsPerCall === size)
      .toSorted((a, b) => b.total.median - a.total.median)
      .flatMap((row) => bar(row.peer, isOwn(row) ? "own" : "peer", row.total)),
  }));
  const reasonOf = (name: string, index: number): string =>
    peers.failures.find(({ peer, itemsPerCall }) => peer === name && itemsPerCall === sizes[index])
      ?.reason ?? "not measured";
  return {
    title: "Produce, lease and complete, beside other queues",
    durability: durabilityTexts.D2,
    note: "Items of 100 bytes through all three calls. Each queue has the batch calls and connections that serve it best.",
    unit: "items/s",
    panels,
    absent: [...unsynced(peers), ...absences(panels, reasonOf)],
    source: `Medians of ${peers.rounds} rounds, the line from lowest to highest. Measured ${peers.madeAt.slice(0, 10)}, ${sourceText(peers)}`,
  };
}

function unsynced({ rows }: PeersResult): string[] {
  return firstOfEach(rows.filter(({ durabilityClass }) => durabilityClass !== "D2")).map(
    ({ peer, durabilityClass, caveat }) =>
      `${peer} is not in the chart: ${durabilityTexts[durabilityClass]}${noted("; ", caveat)}.`,
  );
}

function absences(
  panels: readonly Panel[],
  reasonOf: (name: string, panel: number) => string,
): string[] {
  const names = [...new Set(panels.flatMap(({ bars }) => bars.map(({ name }) => name)))];
  return panels.flatMap(({ title, bars }, index) =>
    names
      .filter((name) => bars.every((other) => other.name !== name))
      .map((name) => `${name} is missing at ${title}: ${reasonOf(name, index)}.`),
  );
}

/** The best settings of each queue. */
export function peerSettings({ peers }: BenchData): readonly string[] {
  return firstOfEach(peers?.rows ?? []).map(
    ({ peer, version, settings, caveat }) =>
      `${peer} (${version}): ${settings}${noted(". Note: ", caveat)}.`,
  );
}

function firstOfEach(rows: readonly PeerRow[]): readonly PeerRow[] {
  return [...new Map(rows.toReversed().map((row) => [row.peer, row])).values()].toReversed();
}

function noted(before: string, caveat: string): string {
  return caveat === "" ? "" : before + caveat;
}
