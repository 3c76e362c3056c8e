// A test clock, between the wire and the engine.

import { limits } from "../../engine/limits.ts";
import { checkLength } from "../../engine/validate.ts";
import type { RequestOf } from "../../openapi/operations.ts";
import { durationOf } from "./fields.ts";

export function advanceMs({ by }: RequestOf<"advance">): number {
  checkLength("by", by.length, limits.durationTextMax);
  return durationOf(by, "by", "30s, 10m or 24h");
}
