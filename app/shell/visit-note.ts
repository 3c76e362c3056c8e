// When the code of a page cannot be loaded, the router reloads the address that the
// reader is leaving. The click notes where it was going, and the head script of the
// reloaded page goes there, once. The note is written in the click itself: an effect
// would come after the reload.

import { storageKeys } from "./head-script.ts";

export function noteVisit(target: string): void {
  try {
    sessionStorage.setItem(storageKeys.visit, target);
  } catch {
    // Without storage the reload alone remains.
  }
}

export function forgetVisit(): void {
  try {
    sessionStorage.removeItem(storageKeys.visit);
  } catch {
    // Nothing was noted either.
  }
}

/** One that asks for the page here, and not for a new tab or a file. */
export function isPlainClick(event: MouseEvent): boolean {
  return !(event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
}

/** For a listener of clicks in the capture phase. */
export function noteClick(event: MouseEvent): void {
  if (!isPlainClick(event)) return;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (link === null || link.target !== "" || link.origin !== location.origin) return;
  if (link.pathname + link.search === location.pathname + location.search) return;
  noteVisit(link.pathname + link.search + link.hash);
}
