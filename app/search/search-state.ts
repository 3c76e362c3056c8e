// Whether the search dialog is open: asked for by its buttons and by two keys.

import { useEffect, useSyncExternalStore } from "react";

let isOpen = false;
const listeners = new Set<() => void>();

function set(open: boolean): void {
  isOpen = open;
  for (const listener of listeners) listener();
}

export function openSearch(): void {
  set(true);
}

export function closeSearch(): void {
  set(false);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useSearchOpen(): boolean {
  return useSyncExternalStore(
    subscribe,
    () => isOpen,
    () => false,
  );
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** Ctrl or Cmd with K anywhere; the slash where nothing is being typed. */
export function useSearchKeys(): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const isCombination = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
      const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey;
      if (!isCombination && !(isSlash && !isTyping(event.target))) return;
      event.preventDefault();
      openSearch();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
}
