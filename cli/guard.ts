// What commands that destroy have in common: counting before, and a bound.

import { Option } from "commander";
import { bounds } from "../openapi/bounds.ts";
import { wholeNumber } from "./values.ts";

export interface GuardOptions {
  readonly dryRun?: boolean;
  readonly expect?: number;
}

export const dryRunMeaning = "say what would be lost, and change nothing";

export function expectOption(
  meaning = "refuse where more items than so many would be lost",
): Option {
  return new Option("--expect <count>", meaning).argParser(wholeNumber(0, bounds.expectMax));
}
