// `virtual:bench`: what the site shows of the benchmark, worked out once by the build.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";
import { reportEnding } from "../../proof/report.ts";
import { type BenchData, benchData, type ResultsFile } from "./bench-data.ts";
import { namesIn, shownFigure, shownRatios } from "./figures.ts";
import { goals, judge } from "./goals.ts";
import { chartOf, groups, peerSettings } from "./groups.ts";

const name = "virtual:bench";
const id = `\0${name}`;
const root = join(import.meta.dirname, "../..");

function textsBelow(folder: string, ending: string): { file: string; text: string }[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(ending))
    .sort()
    .map((file) => ({ file, text: readFileSync(join(root, folder, file), "utf8") }));
}

/** Of the results that are checked in. Reports of `bun run proof` lie beside them. */
export function readBenchData(): BenchData {
  const files = textsBelow("bench/results", ".json");
  const results = files.filter(({ file }) => !file.endsWith(reportEnding));
  return benchData(results.map(({ text }) => JSON.parse(text) as ResultsFile));
}

function moduleText(): string {
  const data = readBenchData();
  const names = textsBelow("content", ".mdx").flatMap(({ text }) => namesIn(text));
  const shown = {
    charts: Object.fromEntries(groups.map((group) => [group, chartOf(data, group)])),
    figures: Object.fromEntries(names.map((figure) => [figure, shownFigure(data, figure)])),
    settings: peerSettings(data),
    ratios: shownRatios(data),
    judged: goals.map((goal) => judge(goal, data)),
  };
  return Object.entries(shown)
    .map(([key, value]) => `export const ${key} = ${JSON.stringify(value)};`)
    .join("\n");
}

export function benchPlugin(): Plugin {
  return {
    name: "holdfast:bench",
    resolveId: (source) => (source === name ? id : undefined),
    load: (source) => (source === id ? moduleText() : undefined),
  };
}
