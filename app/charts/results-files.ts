// The results files of the benchmark, as the build finds them.

import type { ResultsFile } from "./bench-data.ts";

export const resultsFiles: Readonly<Record<string, ResultsFile>> = import.meta.glob(
  ["../../bench/results/*.json", "!../../bench/results/*-proof.json"],
  { eager: true, import: "default" },
);
