// Brings the islands of a page to life, each when the reader comes near it. React is loaded with
// the first.

import { partArrived, partFailed } from "../behaviours/part-failure.ts";

export function startIslands(): void {
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
  const frames = document.querySelectorAll("[data-island]");
  for (const frame of frames) observer.observe(frame);
  // Nothing else can be missing.
  if (frames.length === 0) partArrived();
}

async function start(frame: HTMLElement): Promise<void> {
  const name = frame.dataset["island"] ?? "";
  try {
    const { hydrateIsland } = await import("./hydrate-island.tsx");
    await hydrateIsland(frame);
    partArrived();
  } catch {
    partFailed(name);
  }
}
