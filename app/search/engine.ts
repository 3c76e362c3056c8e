// The search itself; pure, so that tests ask it what a reader would.

import MiniSearch from "minisearch";
import { otherNames } from "./other-names.ts";

/** What is searched: one entry for each section of each page. */
export interface Section {
  readonly url: string;
  /** Title of the page. */
  readonly page: string;
  /** Of the section; the page's title for what comes before the first. */
  readonly heading: string;
  readonly text: string;
}

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

/** The stem of an English word, roughly: lapse, lapses and lapsed are one. */
function stem(word: string): string {
  if (word.length < 4 || /\d/.test(word)) return word;
  return word.replace(/(ies|ing|ed|es|s|e|y)$/, "");
}

/** What a page further down the list loses: of equals, the one that comes first is meant. */
const weightStep = 0.02;
const weightMin = 0.6;
/** Who asks in the words of a page's title means the page, not one of its sections. */
const openingWeight = 1.2;

export function createSearch(sections: readonly Section[]): Search {
  const pages = [...new Set(sections.map(({ page }) => page))];
  const weights = sections.map(({ page, heading }) => {
    const ofPage = Math.max(weightMin, 1 - weightStep * pages.indexOf(page));
    return page === heading ? ofPage * openingWeight : ofPage;
  });
  const index = new MiniSearch<Section & { id: number }>({
    fields: ["page", "heading", "text"],
    storeFields: ["id"],
    tokenize: words,
    processTerm: stem,
    // A page's name is said once, though its first section has it as its heading too.
    extractField: (section, field) =>
      field === "page" && section.page === section.heading
        ? ""
        : String(section[field as keyof typeof section]),
    searchOptions: {
      boost: { heading: 5, page: 3 },
      prefix: true,
      fuzzy: (term) => (term.length >= fuzzyLengthMin ? fuzziness : false),
      boostDocument: (id) => weights[Number(id)] ?? 1,
      weights: { prefix: 0.5, fuzzy: 0.3 },
    },
  });
  index.addAll(sections.map((section, id) => ({ ...section, id })));
  return (query) => {
    const asked = query
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    const queries = asked.map((word) => ({
      combineWith: "OR" as const,
      queries: [word, ...(otherNames[word] ?? [])],
    }));
    const all = index.search({ combineWith: "AND", queries });
    const found = all.length > 0 ? all : index.search({ combineWith: "OR", queries });
    return found.slice(0, resultsMax).flatMap(({ id, terms }) => {
      const section = sections[id];
      return section === undefined ? [] : [{ ...section, terms }];
    });
  };
}

export interface Part {
  readonly text: string;
  /** Whether it is a word that was searched for, or one that stands for it. */
  readonly isFound: boolean;
}

/** A text cut at the words that were found, as a whole each, though only a stem was asked for. */
export function partsOf(text: string, terms: readonly string[]): readonly Part[] {
  return text
    .split(/([\p{L}\p{N}]+)/u)
    .map((part) => ({ text: part, isFound: terms.includes(stem(part.toLowerCase())) }));
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
