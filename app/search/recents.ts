// The places that were found and visited last, newest first.

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
  try {
    const list: unknown = JSON.parse(localStorage.getItem(storageKey) ?? "[]");
    return Array.isArray(list) ? (list as readonly Recent[]) : [];
  } catch {
    return [];
  }
}

export function remember(recent: Recent): void {
  try {
    localStorage.setItem(storageKey, JSON.stringify(withRecent(readRecents(), recent)));
  } catch {
    // Nothing is remembered then.
  }
}
