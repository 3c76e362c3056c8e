// The file that a run of `bun run proof` leaves behind: what was run, on what, and
// what each method found. The site's page about testing is made from the newest one.

import type { Results } from "../bench/report/results.ts";
import type { ProofResult } from "./result.ts";

/** Enough to run it again. */
export interface Report extends Omit<Results, "settings" | "measurements"> {
  readonly size: string;
  readonly seconds: number;
  readonly results: readonly ProofResult[];
}

/** How such a file ends, beside the results of the benchmarks. */
export const reportEnding = "-proof.json";
