// Puts compact results in place of `results-files.ts`. Without it the site is the same,
// but carries every round of every measurement.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";
import { reportEnding } from "../../proof/report.ts";
import type { ResultsFile } from "./bench-data.ts";
import { compact, namesIn } from "./compact.ts";

const root = join(import.meta.dirname, "../..");
const results = join(root, "bench/results");
const moduleFile = join(import.meta.dirname, "results-files.ts");

function filesOf(folder: string, extension: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(extension))
    .sort()
    .map((file) => join(folder, file));
}

/** Reports of `bun run proof` lie beside them, and are no measurements. */
function benchFiles(): string[] {
  return filesOf(results, ".json").filter((file) => !file.endsWith(reportEnding));
}

function compactFiles(): Record<string, ResultsFile> {
  const texts = filesOf(join(root, "content"), ".mdx").map((file) => readFileSync(file, "utf8"));
  const named = new Set(texts.flatMap(namesIn));
  return Object.fromEntries(
    benchFiles().map((file) => [
      file.slice(results.length + 1),
      compact(JSON.parse(readFileSync(file, "utf8")) as ResultsFile, named),
    ]),
  );
}

export function resultsPlugin(): Plugin {
  return {
    name: "holdfast:results",
    load(id) {
      if (id.split("?")[0] !== moduleFile) return null;
      return `export const resultsFiles = ${JSON.stringify(compactFiles())};`;
    },
  };
}
