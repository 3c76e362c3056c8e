// The keyboard shortcuts. Single keys do nothing in a field or under a dialog, and can be switched
// off; none of them changes an item.

import { useEffect, useRef } from "react";
import { tinykeys } from "tinykeys";
import { singleKeys } from "../../state/preferences.ts";

export type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>;

const isMac = typeof document === "object" && /Mac|iP(hone|ad|od)/.test(navigator.platform);
/** For hints. */
export const paletteKey = isMac ? "⌘ K" : "Ctrl K";

/** Keyboards without a key for the sign need a modifier. */
const layouts: Readonly<Record<string, string>> = {
  "/": "[Shift]+/",
  "[": "[Control]+[Alt]+[",
  "]": "[Control]+[Alt]+]",
};

/** The notation of tinykeys. */
export function bindingOf(name: string): string {
  return layouts[name] ?? name;
}

/** No control has the focus; a click on the background gives the focus to `main`. */
export function isOfPage({ target }: Event): boolean {
  return target === document.body || (target instanceof Element && target.id === "main");
}

/** `Enter` on a control is for that control. */
export function isOnControl({ target }: Event): boolean {
  return target instanceof Element && target.closest("a, button, summary") !== null;
}

const withModifier = /^\$mod\+/;

function isBusy(event: KeyboardEvent): boolean {
  const { target } = event;
  if (document.querySelector("dialog[open]") !== null) return true;
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches("input, select, textarea");
}

/** For as long as the caller is mounted. The functions may change, the keys may not. */
export function useShortcuts(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const bound = Object.keys(keys).map((name) => [
      bindingOf(name),
      (event: KeyboardEvent) => {
        const isSingle = !withModifier.test(name);
        if (isSingle && (singleKeys.get() === "off" || isBusy(event))) return;
        latest.current[name]?.(event);
      },
    ]);
    return tinykeys(window, Object.fromEntries(bound), {
      ignore: ({ repeat, key }) => repeat && !/^[jk]$/.test(key),
    });
  }, []);
}

/** In a list of links `j` and `k` move the focus. */
export function useLinkKeys(links: string): void {
  const step = (by: number) => {
    const all = [...document.querySelectorAll<HTMLElement>(links)];
    const at = all.findIndex((one) => one.matches(":focus"));
    all[at === -1 ? 0 : Math.max(0, Math.min(all.length - 1, at + by))]?.focus();
  };
  useShortcuts({ j: () => step(1), k: () => step(-1) });
}

interface KeyRow {
  readonly keys: readonly string[];
  readonly does: string;
}

/** All of them, for the dialog that lists them. */
export const keyList: readonly KeyRow[] = [
  { keys: ["/"], does: "filter" },
  { keys: [paletteKey], does: "jump" },
  { keys: ["j", "k"], does: "next, previous row" },
  { keys: ["Home", "End"], does: "first, last row" },
  { keys: ["Enter"], does: "open the row" },
  { keys: ["[", "]"], does: "item before, item after" },
  { keys: ["x"], does: "select the row" },
  { keys: ["c"], does: "copy as curl" },
  { keys: ["Esc"], does: "close, then clear the filter" },
  { keys: ["s"], does: "sort again now" },
  { keys: ["g q", "g d"], does: "queues, dead" },
  { keys: ["g s", "g k"], does: "shards, keys" },
  { keys: ["Space"], does: "pause the live figures" },
  { keys: ["u"], does: "UTC or local" },
  { keys: ["?"], does: "this list" },
];
