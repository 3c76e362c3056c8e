// What of a queue's items is looked at. The address has all of it, so that it can be sent to others.

import { useMemo } from "react";
import { useSearchParams } from "react-router";
import { type Condition, conditionsIn, type FieldId } from "./conditions.ts";

export const itemStates = ["ready", "leased", "scheduled", "dead"] as const;
export type ItemState = (typeof itemStates)[number];

export interface View {
  /** `""`: no queue is named. */
  readonly name: string;
  readonly state: ItemState;
  readonly conditions: readonly Condition[];
  readonly isNewestFirst: boolean;
  /** The item that is open; `""` = none. */
  readonly item: string;
}

export function viewIn(query: URLSearchParams): View {
  const wanted = query.get("state");
  return {
    name: query.get("name") ?? "",
    state: itemStates.find((state) => state === wanted) ?? "ready",
    conditions: conditionsIn(query),
    isNewestFirst: query.get("order") === "newest",
    item: query.get("item") ?? "",
  };
}

export function useView() {
  const [query, setQuery] = useSearchParams();
  const view = useMemo(() => viewIn(query), [query]);
  const change = (write: (query: URLSearchParams) => void) =>
    setQuery(
      (before) => {
        const next = new URLSearchParams(before);
        write(next);
        return next;
      },
      { replace: true, preventScrollReset: true },
    );
  return {
    view,
    setCondition: ({ id, value }: Condition) => change((next) => next.set(id, value)),
    dropCondition: (id: FieldId) => change((next) => next.delete(id)),
    turn: () =>
      change((next) => (next.has("order") ? next.delete("order") : next.set("order", "newest"))),
    openItem: (id: string) =>
      change((next) => (id === "" ? next.delete("item") : next.set("item", id))),
    /** The same view in another state; what is open is in none of the others. */
    toState(state: ItemState): string {
      const next = new URLSearchParams(query);
      next.delete("item");
      next.set("state", state);
      return `?${next}`;
    },
  };
}
