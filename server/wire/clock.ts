// Converts requests to advance a test clock.

import type { AdvanceOptions } from "../../engine/model/api.ts";
import { limits } from "../../engine/model/limits.ts";
import { checkLength } from "../../engine/model/validate.ts";
import type { RequestOf } from "../../openapi/operations.ts";
import { durationOf, isGiven } from "./fields.ts";

export function advanceMs({ by }: RequestOf<"advance">): number {
  checkLength("by", by.length, limits.durationTextMax);
  return durationOf(by, "by", "30s, 10m or 24h");
}

export function advanceOptions({ handler_timeout: text }: RequestOf<"advance">): AdvanceOptions {
  if (!isGiven(text) || text === "") return {};
  checkLength("handler timeout", text.length, limits.durationTextMax);
  return { handlerTimeoutMs: durationOf(text, "handler timeout", "500ms, 5s or 1m") };
}
