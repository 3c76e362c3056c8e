import { useState } from "react";
import type { FoundItem } from "../../../../openapi/schemas.ts";

export interface Selection {
  readonly ids: ReadonlySet<string>;
  readonly items: readonly FoundItem[];
  /** All that match are meant, listed or not: the server is handed the filter. */
  readonly isAll: boolean;
  /** Or as many of them as a call takes. */
  readonly isEachListed: boolean;
  readonly isFull: boolean;
  readonly toggle: (id: string) => void;
  readonly toggleEach: () => void;
  readonly takeAll: () => void;
  readonly clear: () => void;
}

/** As many as a call takes by their ids. */
export const selectedMax = 1_000;

const none: ReadonlySet<string> = new Set();

export function useSelection(
  listed: readonly FoundItem[],
  goneIds: ReadonlySet<string>,
): Selection {
  const [chosen, setChosen] = useState(none);
  const [isAll, setAll] = useState(false);
  const there = listed.filter(({ id }) => !goneIds.has(id));
  const items = there.filter(({ id }) => chosen.has(id));
  const ids = new Set(items.map(({ id }) => id));
  const isFull = ids.size === selectedMax;
  const isEachListed = there.length > 0 && (isFull || ids.size === there.length);
  const choose = (next: ReadonlySet<string>) => {
    setAll(false);
    setChosen(next);
  };
  return {
    ids,
    items,
    isAll,
    isEachListed,
    isFull,
    toggle(id) {
      const next = new Set(ids);
      if (!next.delete(id) && !isFull) next.add(id);
      choose(next);
    },
    toggleEach: () =>
      choose(isEachListed ? none : new Set(there.slice(0, selectedMax).map(({ id }) => id))),
    takeAll: () => setAll(true),
    clear: () => choose(none),
  };
}
