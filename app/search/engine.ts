// The search engine. Pure, so that tests can run readers' queries.

import MiniSearch from "minisearch";
import { otherNames } from "./other-names.ts";

/** A searchable entry: one for each section of each page. */
export interface Section {
  readonly url: string;
  /** Title of the page. */
  readonly page: string;
  /** Heading of the section; the page's title for the text before the first heading. */
  readonly heading: string;
  readonly text: string;
  /** Names in its code blocks. */
  readonly code?: string;
  /** Below 1 for sections that should rank below a guide with the same words. */
  readonly weight?: number;
}

export interface SearchResult extends Section {
  readonly terms: readonly string[];
}

export type Search = (query: string) => readonly SearchResult[];

const resultsMax = 8;
/** Shorter words are too similar to distinguish a typo from another word. */
const fuzzyLengthMin = 5;
const fuzziness = 0.2;
/** Minimum length of a prefix that matches a word. */
const prefixLengthMin = 3;
/** Weight of a heading that consists only of query words. */
const namedWeight = 1.5;
/** Weight of `client` as a part of a queried `client_id`. */
const partWeight = 0.3;

const stopWords = new Set(
  "a all an and any are as at be been but by can could did do does every for from get matched has have how i if in into is it its just long make me my need of on or our should so some than that the their them then there these they this to use was we were what when where which who why will with would you your".split(
    " ",
  ),
);

/** Words of a text, including the parts of `queue.produce` and `max_attempts`. */
function words(text: string): string[] {
  const whole = text.toLowerCase().match(/[\p{L}\p{N}_.-]*[\p{L}\p{N}]/gu) ?? [];
  return whole.flatMap((word) => {
    const parts = word.split(/[_.-]+/).filter((part) => part !== "");
    return parts.length > 1 ? [word, ...parts] : parts;
  });
}

/**
 * An approximate stem of an English word: the same for lapse, lapses and lapsed, and for delay and
 * delayed.
 */
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

/** Words that are on every page have little value. */
function worth(one: string): number {
  return commonTerms.has(one) ? 0.25 : 1;
}

const commonTerms = new Set(["item", "queue", "consumer"].map(stem));
const namesHere = new Map(
  otherNames.flatMap(([here, elsewhere]) =>
    elsewhere.split(" ").map((word) => [stem(word), here.split(" ")]),
  ),
);

/** A word of a query: the terms used here, and their forms in the index. */
interface QueryWord {
  readonly names: readonly string[];
  readonly terms: readonly string[];
}

function queryWordsIn(query: string): readonly QueryWord[] {
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
    // The page's name counts once, although it is also the heading of its first section.
    extractField: (section, field) =>
      field === "page" && section.page === section.heading
        ? ""
        : String(section[field as keyof typeof section] ?? ""),
    searchOptions: {
      boost: { heading: 4, code: 0.1 },
      boostTerm: (one, at, all) => worth(one) * (at > 0 && isName(all[0]) ? partWeight : 1),
      // Long texts are penalized more than by default: a list of everything contains every word.
      bm25: { k: 1.2, b: 0.9, d: 0.2 },
      boostDocument: (id) => sections[Number(id)]?.weight ?? 1,
      prefix: (word) => word.length >= prefixLengthMin,
      weights: { prefix: 0.5, fuzzy: 0.3 },
    },
  });
  // Indexed in parts, so that typing stays responsive.
  const documents = sections.map((section, id) => ({ ...section, id }));
  await index.addAllAsync(documents, { chunkSize: 25 });

  /** Typos are considered only if no section contains the exact word. */
  const queryOf = ({ names }: QueryWord) => {
    const queries = [...names];
    const isKnown = index.search({ queries }).length > 0;
    const fuzzy = (one: string) => one.length >= fuzzyLengthMin && fuzziness;
    return { queries, ...(isKnown ? {} : { fuzzy }) };
  };
  return (query) => {
    const queryWords = queryWordsIn(query);
    return index
      .search({ queries: queryWords.map(queryOf) })
      .map(({ id, score, terms, queryTerms }) => {
        const section = sections[id] as Section;
        const named = isNamed(section, terms) ? namedWeight : 1;
        return { ...section, terms, score: score * named * coverage(queryWords, queryTerms) ** 2 };
      })
      .sort((one, other) => other.score - one.score)
      .filter(({ url }, at, all) => all.findIndex((other) => other.url === url) === at)
      .slice(0, resultsMax);
  };
}

/** Whether it is a name of several parts, such as `max_attempts`; the parts follow it. */
function isName(one = ""): boolean {
  return /[_.-]/.test(one);
}

/**
 * The share of query words found: a section with all words ranks above one with many repetitions of
 * one word.
 */
function coverage(queryWords: readonly QueryWord[], found: readonly string[]): number {
  const worths = queryWords.map(({ terms }) => Math.max(...terms.map(worth)));
  const matched = worths.filter((_, at) =>
    queryWords[at]?.terms.some((one) => found.includes(one)),
  );
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  return sum(matched) / sum(worths);
}

/**
 * Whether a heading consists only of matched words, and not only of words that are on every page.
 */
function isNamed({ heading }: Section, found: readonly string[]): boolean {
  const own = termsOf(heading);
  return own.every((one) => found.includes(one)) && own.some((one) => worth(one) === 1);
}

export interface Part {
  readonly text: string;
  /** Whether it matches a word of the query or a synonym. */
  readonly isFound: boolean;
}

/** Splits a text at matched words, each whole even if only a stem matched. */
export function partsOf(text: string, terms: readonly string[]): readonly Part[] {
  return text
    .split(/([\p{L}\p{N}]+)/u)
    .map((part) => ({ text: part, isFound: terms.includes(stem(part.toLowerCase())) }));
}

/** The part of a text around the first of the terms. */
export function excerptOf(text: string, terms: readonly string[]): string {
  const lengthMax = 140;
  const lower = text.toLowerCase();
  const positions = terms.map((term) => lower.indexOf(term)).filter((position) => position >= 0);
  const first = positions.length === 0 ? 0 : Math.min(...positions);
  const start = first < lengthMax / 2 ? 0 : text.lastIndexOf(" ", first - lengthMax / 3) + 1;
  const isCut = start + lengthMax < text.length;
  const end = isCut ? text.lastIndexOf(" ", start + lengthMax) : text.length;
  return (start > 0 ? "… " : "") + text.slice(start, end) + (isCut ? " …" : "");
}
