import { type RefObject, useEffect, useRef } from "react";
import type { FoundItem } from "../../../../openapi/schemas.ts";
import { useShortcuts } from "../../../components/frame/shortcuts.ts";
import { copyCall } from "../copy.ts";
import { listRequestOf, type Source } from "../source.ts";
import type { Selection } from "./use-selection.ts";

interface ListKeys {
  readonly items: readonly FoundItem[];
  readonly open: string;
  /** The id of the row under the keyboard; `""` = none is. */
  readonly cursor: string;
  readonly setCursor: (id: string) => void;
  readonly onOpen: (id: string) => void;
  readonly selection: Selection;
  readonly source: Source;
  /** Is set: opens the item before or after the one that is open. */
  readonly step: RefObject<(by: number) => void>;
  /** `null`: nothing is looked for. */
  readonly stopLooking: (() => void) | null;
}

export function useListKeys(list: ListKeys) {
  const { items, open, cursor, setCursor, onOpen, selection, source, step, stopLooking } = list;
  const scroller = useRef<(index: number) => void>(() => undefined);
  const move = (by: number): string | undefined => {
    const at = items.findIndex(({ id }) => id === cursor);
    const next = at === -1 ? 0 : Math.max(0, Math.min(items.length - 1, at + by));
    const id = items[next]?.id;
    if (id === undefined) return undefined;
    setCursor(id);
    // `Enter` is for this row, not for a link that has the focus in another.
    const { activeElement } = document;
    if (activeElement?.closest(".items"))
      document.getElementById("main")?.focus({ preventScroll: true });
    scroller.current(next);
    return id;
  };
  const toNeighbour = (by: number) => {
    if (open === "") return;
    const id = move(by);
    if (id !== undefined) onOpen(id);
  };
  useEffect(() => {
    step.current = toNeighbour;
  });
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    "[": () => toNeighbour(-1),
    "]": () => toNeighbour(1),
    x: () => cursor !== "" && selection.toggle(cursor),
    Enter: ({ target }) => {
      const isPressable =
        target instanceof Element && target.closest("a, button, summary") !== null;
      if (cursor !== "" && !isPressable) onOpen(cursor);
    },
    Escape: () => {
      if (open !== "") onOpen("");
      else if (stopLooking !== null) stopLooking();
      else selection.clear();
    },
    c: () => {
      const id = open || cursor;
      if (id !== "") copyCall({ id: "getItem", body: { id } });
      else copyCall({ id: "findItems", body: listRequestOf(source) });
    },
  });
  return { scroller };
}
