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
  /** Names in its blocks of code. */
  readonly code?: string;
  /** Below 1 for what is seldom meant where a guide has the same words. */
  readonly weight?: number;
}

export interface Found extends Section {
  readonly terms: readonly string[];
}

export type Search = (query: string) => readonly Found[];

const resultsMax = 8;
/** Shorter words stand too close to each other for a slip to be told from a word. */
const fuzzyLengthMin = 5;
const fuzziness = 0.2;
/** Half a word is taken for the word, but not a letter or two. */
const prefixLengthMin = 3;
/** A heading that has no other words than those asked for is what was asked for. */
const namedWeight = 1.5;
/** Of `client` beside `client_id`, where that is asked for. */
const partWeight = 0.3;

const stopWords = new Set(
  "a all an and any are as at be been but by can could did do does every for from get had has have how i if in into is it its just long make me my need of on or our should so some than that the their them then there these they this to use was we were what when where which who why will with would you your".split(
    " ",
  ),
);

/** Words of a text: also the parts of `queue.produce` and `max_attempts`. */
function words(text: string): string[] {
  const whole = text.toLowerCase().match(/[\p{L}\p{N}_.-]*[\p{L}\p{N}]/gu) ?? [];
  return whole.flatMap((word) => {
    const parts = word.split(/[_.-]+/).filter((part) => part !== "");
    return parts.length > 1 ? [word, ...parts] : parts;
  });
}

/** The stem of an English word, roughly: lapse, lapses and lapsed are one, delay and delayed too. */
function stem(word: string): string {
  if (word.length < 4 || /\d/.test(word)) return word;
  return word
    .replace(/(ies|ied|es|(?<!s)s)$/, "")
    .replace(/(?<=...)(ing|ed|ment|al|ion(al)?)$/, "")
    .replace(/(?<=...)[ey]$/, "")
    .replace(/(?<=..)([^aeiou])\1$/, "$1");
}

function term(word: string): string | null {
  return stopWords.has(word) ? null : stem(word);
}

function termsOf(text: string): readonly string[] {
  return words(text).flatMap((word) => term(word) ?? []);
}

/** What is on every page tells little about any. */
function worth(one: string): number {
  return commonTerms.has(one) ? 0.25 : 1;
}

const commonTerms = new Set(["item", "queue", "consumer"].map(stem));
const namesHere = new Map(
  otherNames.flatMap(([here, elsewhere]) =>
    elsewhere.split(" ").map((word) => [stem(word), here.split(" ")]),
  ),
);

/** A word of a query: what it is called here, and what that is in the index. */
interface Asked {
  readonly names: readonly string[];
  readonly terms: readonly string[];
}

function askedIn(query: string): readonly Asked[] {
  return query
    .split(/\s+/)
    .map((word) => namesHere.get(stem(word.toLowerCase())) ?? [word])
    .map((names) => ({ names, terms: termsOf(names.join(" ")) }))
    .filter(({ terms }) => terms.length > 0);
}

export async function createSearch(sections: readonly Section[]): Promise<Search> {
  const index = new MiniSearch<Section & { id: number }>({
    fields: ["page", "heading", "text", "code"],
    tokenize: words,
    processTerm: term,
    // A page's name is said once, though its first section has it as its heading too.
    extractField: (section, field) =>
      field === "page" && section.page === section.heading
        ? ""
        : String(section[field as keyof typeof section] ?? ""),
    searchOptions: {
      boost: { heading: 4, code: 0.1 },
      boostTerm: (one, at, all) => worth(one) * (at > 0 && isName(all[0]) ? partWeight : 1),
      // Stricter with long texts than it is by itself: what lists everything has every word.
      bm25: { k: 1.2, b: 0.9, d: 0.2 },
      boostDocument: (id) => sections[Number(id)]?.weight ?? 1,
      prefix: (word) => word.length >= prefixLengthMin,
      weights: { prefix: 0.5, fuzzy: 0.3 },
    },
  });
  // In parts: what is typed meanwhile shows at once.
  const documents = sections.map((section, id) => ({ ...section, id }));
  await index.addAllAsync(documents, { chunkSize: 25 });

  /** Slips are looked for where nothing has the word as it is. */
  const queryOf = ({ names }: Asked) => {
    const queries = [...names];
    const isKnown = index.search({ queries }).length > 0;
    const fuzzy = (one: string) => one.length >= fuzzyLengthMin && fuzziness;
    return { queries, ...(isKnown ? {} : { fuzzy }) };
  };
  return (query) => {
    const asked = askedIn(query);
    return index
      .search({ queries: asked.map(queryOf) })
      .map(({ id, score, terms, queryTerms }) => {
        const section = sections[id] as Section;
        const named = isNamed(section, terms) ? namedWeight : 1;
        return { ...section, terms, score: score * named * coverage(asked, queryTerms) ** 2 };
      })
      .sort((one, other) => other.score - one.score)
      .filter(({ url }, at, all) => all.findIndex((other) => other.url === url) === at)
      .slice(0, resultsMax);
  };
}

/** Whether it is a name of several parts, such as `max_attempts`, which come behind it. */
function isName(one = ""): boolean {
  return /[_.-]/.test(one);
}

/** How much of what was asked for is there: what has all the words stands before what has one often. */
function coverage(asked: readonly Asked[], found: readonly string[]): number {
  const worths = asked.map(({ terms }) => Math.max(...terms.map(worth)));
  const had = worths.filter((_, at) => asked[at]?.terms.some((one) => found.includes(one)));
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  return sum(had) / sum(worths);
}

/** Whether a heading has no words but those that were found, and not only what is on every page. */
function isNamed({ heading }: Section, found: readonly string[]): boolean {
  const own = termsOf(heading);
  return own.every((one) => found.includes(one)) && own.some((one) => worth(one) === 1);
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
