// A thin line while a page is on its way, once it has taken a moment.

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
  // Also for a page that the browser keeps, and shows again on the way back.
  window.addEventListener("pagehide", () => {
    clearTimeout(timer);
    bar.remove();
  });
}

/** Whether the press asks for another page here, and not for a new tab, a file or a place in this one. */
function leavesPage(event: MouseEvent): boolean {
  const { target, button, metaKey, ctrlKey, shiftKey, altKey, defaultPrevented } = event;
  if (defaultPrevented || button !== 0 || metaKey || ctrlKey || shiftKey || altKey) return false;
  const link = target instanceof Element ? target.closest("a") : null;
  if (link === null || link.target !== "" || link.origin !== location.origin) return false;
  const isHere = link.pathname + link.search === location.pathname + location.search;
  return !isHere || link.hash === "";
}
