// The options of commands that remove items: a dry run, and an upper bound.

import { Option } from "commander";
import { bounds } from "../openapi/bounds.ts";
import { wholeNumber } from "./option-parsers.ts";

export interface GuardOptions {
  readonly dryRun?: boolean;
  readonly expect?: number;
}

export const dryRunMeaning = "report what would be lost, without changing anything";

export function expectOption(
  meaning = "refuse if more than this many items would be lost",
): Option {
  return new Option("--expect <count>", meaning).argParser(wholeNumber(0, bounds.expectMax));
}
