// `virtual:bench`: what the site shows of the results that are checked in.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { reportEnding } from "../../proof/report.ts";
import { type BenchData, benchData, type ResultsFile } from "./bench-data.ts";
import { namesIn, shownFigure, shownRatios } from "./figures.ts";
import { goals, judge } from "./goals.ts";
import { chartOf, groups, peerSettings } from "./groups.ts";

const root = join(import.meta.dirname, "../..");

function textsBelow(folder: string, isWanted: (file: string) => boolean): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter(isWanted)
    .sort()
    .map((file) => readFileSync(join(root, folder, file), "utf8"));
}

/** Reports of `bun run proof` lie beside the results of the benchmark. */
export function readResults<File>(kind: "bench" | "proof"): File[] {
  const isWanted = (file: string) =>
    file.endsWith(".json") && file.endsWith(reportEnding) === (kind === "proof");
  return textsBelow("bench/results", isWanted).map((text) => JSON.parse(text) as File);
}

export function readBenchData(): BenchData {
  return benchData(readResults<ResultsFile>("bench"));
}

export function benchModule(): object {
  const data = readBenchData();
  const names = textsBelow("content", (file) => file.endsWith(".mdx")).flatMap(namesIn);
  return {
    charts: Object.fromEntries(groups.map((group) => [group, chartOf(data, group)])),
    figures: Object.fromEntries(names.map((figure) => [figure, shownFigure(data, figure)])),
    ratios: shownRatios(data),
    settings: peerSettings(data),
    judged: goals.map((goal) => judge(goal, data)),
  };
}
