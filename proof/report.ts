// The results file of `bun run proof`: what was run, on which machine, and what each method found.
// The site's page about testing uses the newest one.

import type { Results } from "../bench/report/results.ts";
import type { ProofResult } from "./result.ts";

/** Contains enough to repeat the run. */
export interface Report extends Omit<Results, "settings" | "measurements"> {
  readonly size: string;
  readonly seconds: number;
  readonly results: readonly ProofResult[];
}

/** The end of the file's name, beside the benchmark results. */
export const reportEnding = "-proof.json";
