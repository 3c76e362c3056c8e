// Converts the guards `dry_run` and `expect` of calls that remove items, and their replies.

import type * as engine from "../../engine/model/api.ts";
import type * as wire from "../../openapi/schemas.ts";
import { doneReply } from "../http/reply.ts";
import { given } from "./fields.ts";

export function guardOf(body: {
  readonly dry_run?: boolean | null;
  readonly expect?: number | null;
}): engine.Guard {
  return given<engine.Guard>({ dryRun: body.dry_run || null, expect: body.expect });
}

export function isGuarded(guard: engine.Guard): boolean {
  return guard.dryRun === true || guard.expect !== undefined;
}

/** Reports what a guarded call removed, or what a dry run would remove. */
export function guardedReply(
  counts: engine.ItemCounts,
  more: Pick<wire.GuardedReply, "waiting_leases" | "dependents"> = {},
): wire.GuardedReply {
  const { code, code_text, message } = doneReply;
  const { ready, leased, scheduled, retried } = counts;
  return { code, code_text, message, counts: { ready, leased, scheduled, retried }, ...more };
}
