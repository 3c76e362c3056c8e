// A progress line while a page is loading, shown after a short delay.

import { progressDelayMs } from "../config/constants.ts";

export function startProgress(): void {
  let timer: ReturnType<typeof setTimeout>;
  const bar = document.createElement("div");
  bar.className = "progress";
  bar.role = "progressbar";
  bar.ariaLabel = "Loading page";
  document.addEventListener("click", (event) => {
    if (!leavesPage(event)) return;
    clearTimeout(timer);
    timer = setTimeout(() => document.body.append(bar), progressDelayMs);
  });
  // This also applies to a page that the browser caches and shows again on the way back.
  window.addEventListener("pagehide", () => {
    clearTimeout(timer);
    bar.remove();
  });
}

/**
 * Whether the press opens another page in this tab, and not a new tab, a file or a place in this
 * page.
 */
function leavesPage(event: MouseEvent): boolean {
  const { target, button, metaKey, ctrlKey, shiftKey, altKey, defaultPrevented } = event;
  if (defaultPrevented || button !== 0 || metaKey || ctrlKey || shiftKey || altKey) return false;
  const link = target instanceof Element ? target.closest("a") : null;
  if (link === null || link.target !== "" || link.origin !== location.origin) return false;
  const isHere = link.pathname + link.search === location.pathname + location.search;
  return !isHere || link.hash === "";
}
