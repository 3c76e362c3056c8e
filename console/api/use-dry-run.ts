// What a change would touch, counted by the server before it is made.

import type { RequestOf } from "../../openapi/operations.ts";
import type { ItemCounts } from "../../openapi/schemas.ts";
import type { CallId } from "./call.ts";
import { useAsked } from "./use-query.ts";

/** `data` only where it is of now: what was counted for a dialog before is not shown. */
export function useCounted<Id extends CallId>(id: Id, body: RequestOf<Id>, isWanted = true) {
  const { data, error, isFetching, refetch } = useAsked(id, body, { isWanted });
  return { data: isFetching ? undefined : data, error: isFetching ? null : error, refetch };
}

export function sumOf({ ready, leased, scheduled, retried }: ItemCounts): number {
  return ready + leased + scheduled + retried;
}
