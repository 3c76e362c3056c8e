import { createSearch, type Search } from "./engine.ts";
import type { Section } from "./section.ts";

let loading: Promise<Search> | null = null;

/** Fetches the sections and indexes them, once; a failure is forgotten, so that it can be tried again. */
export function loadSearch(): Promise<Search> {
  loading ??= fetch("/search.json")
    .then(async (response) => {
      if (!response.ok) throw new Error(`search data is not available; got ${response.status}`);
      return createSearch((await response.json()) as readonly Section[]);
    })
    .catch((error: unknown) => {
      loading = null;
      throw error;
    });
  return loading;
}
