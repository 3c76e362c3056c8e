// The items that are shown, and the open one. All of it is in the address, which can be sent to others.

import { useMemo } from "react";
import { type NavigateOptions, useLocation, useNavigate, useSearchParams } from "react-router";
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

/** Marks an entry of the history whose predecessor is the list without the item. */
const opened = "opened";

export function useView() {
  const [query, setQuery] = useSearchParams();
  const view = useMemo(() => viewIn(query), [query]);
  const navigate = useNavigate();
  const isOpened = useLocation().state === opened;
  const change = (write: (query: URLSearchParams) => void, options: NavigateOptions = {}) =>
    setQuery(
      (before) => {
        const next = new URLSearchParams(before);
        write(next);
        return next;
      },
      { replace: true, preventScrollReset: true, ...options },
    );
  return {
    view,
    setCondition: ({ id, value }: Condition) => change((next) => next.set(id, value)),
    dropCondition: (id: FieldId) => change((next) => next.delete(id)),
    turn: () =>
      change((next) => (next.has("order") ? next.delete("order") : next.set("order", "newest"))),
    /** `""` closes it. Opened, it is a step of its own: on a phone it covers the list, and Back closes it. */
    openItem(id: string) {
      if (id === "" && isOpened) return void navigate(-1);
      if (id === "") return change((next) => next.delete("item"));
      const isFirst = view.item === "";
      const state = isFirst || isOpened ? opened : null;
      change((next) => next.set("item", id), { replace: !isFirst, state });
    },
    /** The same view in another state, without the open item. */
    toState(state: ItemState): string {
      const next = new URLSearchParams(query);
      next.delete("item");
      next.set("state", state);
      return `?${next}`;
    },
  };
}
