// The committed results; reports of `bun run proof` are in the same folder.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { reportEnding } from "../../proof/report.ts";
import { folders, listFiles } from "../build/site-folder.ts";
import { type BenchData, benchData, type ResultsFile } from "./bench-data.ts";

const folder = join(folders.root, "bench/results");

export function readResults<File>(kind: "bench" | "proof"): File[] {
  return listFiles(folder)
    .filter((file) => file.endsWith(".json") && file.endsWith(reportEnding) === (kind === "proof"))
    .map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as File);
}

export function readBenchData(): BenchData {
  return benchData(readResults<ResultsFile>("bench"));
}
