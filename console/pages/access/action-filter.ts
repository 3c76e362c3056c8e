// Which actions are shown; the filter is in the address.

import type { Action } from "../../../openapi/schemas.ts";

export interface ActionFilter {
  readonly queue: string;
  readonly key: string;
  readonly operation: string;
  readonly isRefused: boolean;
}

export const noFilter: ActionFilter = { queue: "", key: "", operation: "", isRefused: false };

export function filterFrom(query: URLSearchParams): ActionFilter {
  return {
    queue: query.get("queue") ?? "",
    key: query.get("key") ?? "",
    operation: query.get("did") ?? "",
    isRefused: query.get("refused") === "1",
  };
}

export function queryOf({ queue, key, operation, isRefused }: ActionFilter) {
  return { queue, key, did: operation, refused: isRefused ? "1" : "" };
}

/** The server has filtered by the queue already. */
export function matchesFilter(
  { key, operation, isRefused }: ActionFilter,
  action: Action,
): boolean {
  return (
    (key === "" || action.key_name === key) &&
    (operation === "" || action.operation === operation) &&
    (!isRefused || action.code !== 200)
  );
}
