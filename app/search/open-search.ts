// Loads the search when a reader points at its button or opens it, which focuses its input.

import { lazyDelayMs } from "../config/constants.ts";

let loading: Promise<void> | null = null;

export function startSearch(): void {
  const wanted = ({ target }: Event) => {
    if (target instanceof Element && target.closest("[data-search]") !== null) load();
  };
  document.addEventListener("pointerover", wanted);
  document.addEventListener("focusin", wanted);
  if (document.querySelector("dialog[data-search][open]") !== null) load();
}

function load(): void {
  if (loading !== null) return;
  const state = document.querySelector(".search-state");
  const slow = setTimeout(() => state?.replaceChildren("Loading …"), lazyDelayMs);
  loading = import("./search-results.ts")
    .then(({ showResults }) => showResults())
    .catch(() => {
      // Allows another try.
      loading = null;
      const retry = document.createElement("button");
      retry.type = "button";
      retry.textContent = "Retry";
      retry.onclick = load;
      state?.replaceChildren("The search could not be loaded. ", retry);
    })
    .finally(() => clearTimeout(slow));
}
