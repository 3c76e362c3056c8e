// Which actions are shown: all of it is in the address.

import type { Action } from "../../../openapi/schemas.ts";

export interface ActionFilter {
  readonly queue: string;
  readonly key: string;
  readonly operation: string;
  readonly isRefused: boolean;
}

export function filterFrom(query: URLSearchParams): ActionFilter {
  return {
    queue: query.get("queue") ?? "",
    key: query.get("key") ?? "",
    operation: query.get("did") ?? "",
    isRefused: query.get("refused") === "1",
  };
}

export function queryWith(query: URLSearchParams, filter: ActionFilter): URLSearchParams {
  const next = new URLSearchParams(query);
  const set = (name: string, value: string) =>
    value === "" ? next.delete(name) : next.set(name, value);
  set("queue", filter.queue);
  set("key", filter.key);
  set("did", filter.operation);
  set("refused", filter.isRefused ? "1" : "");
  return next;
}

/** The server has chosen by the queue already. */
export function isMeant({ key, operation, isRefused }: ActionFilter, action: Action): boolean {
  return (
    (key === "" || action.key_name === key) &&
    (operation === "" || action.operation === operation) &&
    (!isRefused || action.code !== 200)
  );
}
