// Formats figures: the unit follows from the name, at most three digits. Pure.

import { type BenchData, overPeers, sourceText } from "./bench-data.ts";

const units = [
  { of: /itemsPerSecond$/, text: "items/s", scale: 1 },
  { of: /syncsPerSecond$/, text: "syncs/s", scale: 1 },
  { of: /commitsPerSecond$/, text: "commits/s", scale: 1 },
  { of: /itemsPerCommit$/, text: "items", scale: 1 },
  { of: /commitsPer1000$/, text: "commits per 1,000 items", scale: 1 },
  { of: /cpuSecondsPer1000$/, text: "ms of CPU per 1,000 items", scale: 1_000 },
  { of: /bytesWrittenPer1000$/, text: "kB written per 1,000 items", scale: 0.001 },
  { of: /Share$/, text: "%", scale: 100 },
  { of: /^server$/, text: "% of a core", scale: 100 },
  { of: /Ms$/, text: "ms", scale: 1 },
  { of: /^(diskBytesTidyOver|.*\.over|.*SyncsOver)/i, text: "×", scale: 1 },
  { of: /bytes(AboveEmpty|UsedAboveEmpty|Used)?$/i, text: "MB", scale: 1e-6 },
];

/** Counts and settings are exact, so all digits are shown. */
export function count(value: number): string {
  return value.toLocaleString("en");
}

export function number(value: number): string {
  if (Math.abs(value) < 10) return String(Number(value.toPrecision(2)));
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}

/** For the ticks of an axis. */
export function short(value: number): string {
  return value.toLocaleString("en", { notation: "compact" });
}

/** Throws for a figure without a known unit, because a bare number is ambiguous. */
export function written(name: string, value: number): string {
  const unit = units.find(({ of }) => of.test(name));
  if (unit === undefined)
    throw new Error(`the unit of '${name}' is not known; add it to figures.ts`);
  const scaled = value * unit.scale;
  return `${unit.text === "×" ? scaled.toFixed(2) : number(scaled)}\u00a0${unit.text}`;
}

export interface Shown {
  readonly text: string;
  readonly value: number;
  /** Names its source. */
  readonly title: string;
}

/** The names in all `<BenchFigure name="…" />` of a text. */
export function namesIn(text: string): string[] {
  return [...text.matchAll(/<BenchFigure\s+name="([^"]+)"/g)].flatMap(([, name]) => name ?? []);
}

/** Throws if no file contains the figure, because a text refers to it. */
export function shownFigure(data: Pick<BenchData, "find">, fullName: string): Shown {
  const figure = data.find(fullName);
  if (figure === null) {
    const expected = "expected '<measurement>: <figure>' of one of them";
    throw new Error(`no file in bench/results has '${fullName}'; ${expected}`);
  }
  const value = figure.range.median;
  return { text: written(figure.name, value), value, title: sourceText(figure) };
}

/** The ratio of Holdfast to the fastest of the others, by items per call. */
export function shownRatios(data: BenchData): Readonly<Record<number, Shown>> {
  const { peers } = data;
  if (peers === null) return {};
  const sizes = new Set(peers.rows.map(({ itemsPerCall }) => itemsPerCall));
  return Object.fromEntries(
    [...sizes].flatMap((itemsPerCall) => {
      const ratio = overPeers(data, { itemsPerCall });
      if (ratio === null) return [];
      const value = ratio.range.median;
      const text = `${value.toFixed(2)}\u00a0× ${ratio.peer}`;
      return [[itemsPerCall, { text, value, title: sourceText(peers) }]];
    }),
  );
}
