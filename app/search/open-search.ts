// Loads the search once a reader shows that it is wanted: by pointing at its button, or by
// opening it, which puts the focus into its input.

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
      // So that it can be tried again.
      loading = null;
      const retry = document.createElement("button");
      retry.type = "button";
      retry.textContent = "Retry";
      retry.onclick = load;
      state?.replaceChildren("The search could not be loaded. ", retry);
    })
    .finally(() => clearTimeout(slow));
}
