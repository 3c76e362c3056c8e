// Brings the islands of a page to life, each when the reader comes near it. React is loaded with
// the first, and not before the reader has moved: a page that has just come has better to do.

import { onceMoved } from "../behaviours/moved.ts";
import { partArrived, partFailed } from "../behaviours/part-failure.ts";

export function startIslands(): void {
  const frames = document.querySelectorAll("[data-island]");
  // Nothing else can be missing.
  if (frames.length === 0) partArrived();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting || !(target instanceof HTMLElement)) continue;
        observer.unobserve(target);
        void start(target);
      }
    },
    { rootMargin: "50%" },
  );
  onceMoved(() => {
    for (const frame of frames) observer.observe(frame);
  });
}

async function start(frame: HTMLElement): Promise<void> {
  const name = frame.dataset["island"] ?? "";
  try {
    const { hydrateIsland } = await import("./hydrate-island.tsx");
    hydrateIsland(frame);
    partArrived();
  } catch {
    partFailed(name);
  }
}
