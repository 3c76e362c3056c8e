// The newest committed report of `bun run proof`, and the faults found so far.

import faultsFound from "../../proof/faults.json" with { type: "json" };
import type { Report } from "../../proof/report.ts";
import { readResults } from "../charts/bench-results.ts";
import { proofData } from "../proof/proof-data.ts";

export const proof = proofData(readResults<Report>("proof"));
export const faults = faultsFound;
