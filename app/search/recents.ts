// The search results visited last, newest first.

import { read, store } from "../behaviours/storage.ts";
import { recentSearchesMax } from "../config/constants.ts";
import type { Section } from "./engine.ts";

export type Recent = Pick<Section, "url" | "page" | "heading">;

const storageKey = "search.recent";

export function withRecent(
  list: readonly Recent[],
  { url, page, heading }: Recent,
): readonly Recent[] {
  const others = list.filter((recent) => recent.url !== url);
  return [{ url, page, heading }, ...others].slice(0, recentSearchesMax);
}

export function readRecents(): readonly Recent[] {
  return JSON.parse(read(storageKey) ?? "[]");
}

export function remember(recent: Recent): void {
  store(storageKey, JSON.stringify(withRecent(readRecents(), recent)));
}
