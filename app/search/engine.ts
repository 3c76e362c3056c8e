// The search itself; pure, so that tests ask it what a reader would.

import MiniSearch from "minisearch";
import type { Section } from "./section.ts";

export interface Found extends Section {
  readonly terms: readonly string[];
}

export type Search = (query: string) => readonly Found[];

const resultsMax = 8;
/** Shorter words stand too close to each other for a slip to be told from a word. */
const fuzzyLengthMin = 5;
const fuzziness = 0.2;

/** Words of a text: also the parts of `queue.produce` and `max_attempts`. */
function words(text: string): string[] {
  const whole = text.toLowerCase().match(/[\p{L}\p{N}_.-]*[\p{L}\p{N}]/gu) ?? [];
  return whole.flatMap((word) => {
    const parts = word.split(/[_.-]+/).filter((part) => part !== "");
    return parts.length > 1 ? [word, ...parts] : parts;
  });
}

/** What a page further down the list loses: of equals, the one that comes first is meant. */
const weightStep = 0.035;
const weightMin = 0.6;

export function createSearch(sections: readonly Section[]): Search {
  const pages = [...new Set(sections.map(({ page }) => page))];
  const weights = sections.map(({ page }) =>
    Math.max(weightMin, 1 - weightStep * pages.indexOf(page)),
  );
  const index = new MiniSearch<Section & { id: number }>({
    fields: ["page", "heading", "text"],
    storeFields: ["id"],
    tokenize: words,
    searchOptions: {
      tokenize: (query) =>
        query
          .toLowerCase()
          .split(/\s+/)
          .filter((word) => word !== ""),
      boost: { heading: 5, page: 3 },
      prefix: true,
      fuzzy: (term) => (term.length >= fuzzyLengthMin ? fuzziness : false),
      boostDocument: (id) => weights[Number(id)] ?? 1,
      weights: { prefix: 0.5, fuzzy: 0.3 },
    },
  });
  index.addAll(sections.map((section, id) => ({ ...section, id })));
  return (query) => {
    const all = index.search(query, { combineWith: "AND" });
    const found = all.length > 0 ? all : index.search(query, { combineWith: "OR" });
    return found.slice(0, resultsMax).flatMap(({ id, terms }) => {
      const section = sections[id];
      return section === undefined ? [] : [{ ...section, terms }];
    });
  };
}

/** The part of a text around the first of the terms. */
export function excerptOf(text: string, terms: readonly string[]): string {
  const lengthMax = 140;
  const lower = text.toLowerCase();
  const places = terms.map((term) => lower.indexOf(term)).filter((place) => place >= 0);
  const first = places.length === 0 ? 0 : Math.min(...places);
  const start = first < lengthMax / 2 ? 0 : text.lastIndexOf(" ", first - lengthMax / 3) + 1;
  const isCut = start + lengthMax < text.length;
  const end = isCut ? text.lastIndexOf(" ", start + lengthMax) : text.length;
  return (start > 0 ? "… " : "") + text.slice(start, end) + (isCut ? " …" : "");
}
