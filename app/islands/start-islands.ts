// Hydrates the islands of a page: visible ones when the page has loaded and the browser is idle,
// others when the reader comes near. Earlier presses are replayed then.

import { mayPrefetch } from "../behaviours/links.ts";
import { onceMoved } from "../behaviours/moved.ts";
import { partArrived, partFailed } from "../behaviours/part-failure.ts";
import { keepEarlyInput } from "./early-input.ts";

export function startIslands(): void {
  const islands = new Map<Element, () => void>();
  for (const frame of document.querySelectorAll<HTMLElement>("[data-island]")) {
    const doEarlyInput = keepEarlyInput(frame);
    islands.set(frame, () => void start(frame, doEarlyInput));
  }
  // No other code can be missing.
  if (islands.size === 0) partArrived();
  const observe = (rootMargin: string) => {
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries) {
          if (!isIntersecting) continue;
          islands.get(target)?.();
          islands.delete(target);
        }
      },
      { rootMargin },
    );
    for (const frame of islands.keys()) observer.observe(frame);
  };
  onceMoved(() => observe("50%"));
  if (mayPrefetch()) onceIdle(() => observe("0px"));
}

/** Runs once the page has loaded and the browser is idle. */
function onceIdle(run: () => void): void {
  const wait = () => {
    if ("requestIdleCallback" in globalThis) requestIdleCallback(run);
    // Safari lacks requestIdleCallback.
    else setTimeout(run, 1);
  };
  if (document.readyState === "complete") wait();
  else addEventListener("load", wait, { once: true });
}

async function start(frame: HTMLElement, doEarlyInput: () => void): Promise<void> {
  const name = frame.dataset["island"] ?? "";
  try {
    const { hydrateIsland } = await import("./hydrate-island.tsx");
    await hydrateIsland(frame);
    doEarlyInput();
    partArrived();
  } catch {
    await partFailed(name);
  }
}
