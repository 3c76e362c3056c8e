// `virtual:proof`: the newest report of `bun run proof` as the page shows it, and the
// faults that were found so far.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";
import faults from "../../proof/faults.json" with { type: "json" };
import { type Report, reportEnding } from "../../proof/report.ts";
import { proofData } from "./proof-data.ts";

const name = "virtual:proof";
const id = `\0${name}`;
const results = join(import.meta.dirname, "../../bench/results");

/** Those that are checked in. */
export function readReports(): readonly Report[] {
  return readdirSync(results)
    .filter((file) => file.endsWith(reportEnding))
    .sort()
    .map((file) => JSON.parse(readFileSync(join(results, file), "utf8")) as Report);
}

export function proofPlugin(): Plugin {
  return {
    name: "holdfast:proof",
    resolveId: (source) => (source === name ? id : undefined),
    load: (source) =>
      source === id
        ? `export const proof = ${JSON.stringify(proofData(readReports()))};
export const faults = ${JSON.stringify(faults)};`
        : undefined,
  };
}
