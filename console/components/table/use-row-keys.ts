import { isOfPage, isOnControl, useShortcuts } from "../frame/shortcuts.ts";

interface RowKeys {
  readonly ids: readonly string[];
  /** The row under the keyboard; `null` = none. */
  readonly cursor: string | null;
  readonly setCursor: (id: string) => void;
  readonly scrollTo?: (index: number) => void;
  readonly onOpen: (id: string) => void;
  readonly onToggle?: ((id: string) => void) | undefined;
  readonly onEscape: () => void;
}

/** `j`, `k`, `Home` and `End` move the row under the keyboard, `Enter` opens it, `x` selects it. */
export function useRowKeys(rows: RowKeys) {
  const { ids, cursor, setCursor, scrollTo, onOpen, onToggle, onEscape } = rows;
  const goTo = (index: number): string | undefined => {
    const next = Math.max(0, Math.min(ids.length - 1, index));
    const id = ids[next];
    if (id === undefined) return undefined;
    setCursor(id);
    // `Enter` is for this row, not for a link with the focus in another.
    if (document.activeElement?.closest("tbody")) {
      document.getElementById("main")?.focus({ preventScroll: true });
    }
    scrollTo?.(next);
    return id;
  };
  const move = (by: number) => {
    const at = cursor === null ? -1 : ids.indexOf(cursor);
    return goTo(at === -1 ? 0 : at + by);
  };
  const toEdge = (event: KeyboardEvent, index: number) => {
    if (!isOfPage(event)) return;
    event.preventDefault();
    goTo(index);
  };
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    Home: (event) => toEdge(event, 0),
    End: (event) => toEdge(event, ids.length - 1),
    Enter: (event) => {
      if (cursor !== null && !isOnControl(event)) onOpen(cursor);
    },
    x: () => cursor !== null && onToggle?.(cursor),
    Escape: onEscape,
  });
  return { move };
}
