// The sections that the search knows, with their whole text: of docs, posts and pages by their
// headings, and one for each call of the API, each setting and each reason.

import Slugger from "github-slugger";
import type { Nodes, Root } from "mdast";
import { operations } from "../../openapi/operations.ts";
import { postPath } from "../blog/posts.ts";
import { operationPath } from "../reference/operations.ts";
import type { Section } from "../search/engine.ts";
import { siteConfig } from "../site-config.ts";
import { readContent } from "./content.ts";
import { isUnsearched, type PageText } from "./page-markdown.ts";
import { find } from "./pages.ts";
import { referenceRows } from "./reference-rows.ts";
import { writeDraft } from "./site-folder.ts";

const searched = /^\/(docs\/.+|markdown-page|blog\/(?!archive$|tags|authors)[^/]+)$/;

/** Who asks wants the page that explains, not one that compares, shows the inside, lists or tells. */
const weights: readonly (readonly [RegExp, number])[] = [
  [/^\/docs\/(architecture|testing|comparison|postgresql|moving-from-.*)$/, 0.6],
  [/^\/api/, 0.7],
  [/^\/docs\/(errors\/|.*-reference|.*-files)|^\/blog\/|#/, 0.5],
  [/^\/docs\/changelog$/, 0.25],
];

export function writeSearchData(pages: readonly PageText[]): void {
  const of = (path: string) =>
    pages.filter((page) => page.path === path && searched.test(path)).flatMap(sectionsOf);
  const { docs, posts } = readContent();
  const [version] = siteConfig.docs.versions;
  const first = docs
    .filter((doc) => doc.version === version?.name)
    .map(({ slug }) => `${version?.path}/${slug}`);
  const last = posts.map(postPath);
  const others = pages
    .map(({ path }) => path)
    .filter((path) => ![...first, ...last].includes(path));
  const sections = [
    ...first.flatMap(of),
    ...callSections(),
    ...rowSections(pages),
    ...others.flatMap(of),
    ...last.flatMap(of),
  ];
  writeDraft("search.json", JSON.stringify(sections));
}

const definitionWeight = 0.6;
/** Of a definition that links to the page that explains: it gives way to that. */
const pointerWeight = 0.4;

type Page = Pick<PageText, "path" | "title" | "description"> & { readonly tree: Root };

export function sectionsOf({ path, title, description, tree }: Page): readonly Section[] {
  const slugger = new Slugger();
  const empty = { page: title, text: "", code: "", weight: weightOf(path) };
  const sections = [{ ...empty, url: path, heading: title, text: description }];
  for (const node of tree.children) {
    const text = textOf(node).trim();
    const current = sections.at(-1);
    if (node.type === "heading" && node.depth > 1) {
      const url = `${path}#${slugger.slug(text)}`;
      if (node.depth <= 3) sections.push({ ...empty, url, heading: text });
    } else if (current !== undefined && node.type === "code") {
      current.code = codeWords(`${current.code} ${node.value}`);
    } else if (current !== undefined && isDefinition(node)) {
      const [word = "", ...rest] = text.split(". ");
      const weight = empty.weight * (hasLink(node) ? pointerWeight : definitionWeight);
      sections.push({ ...empty, weight, url: current.url, heading: word, text: rest.join(". ") });
    } else if (current !== undefined && node.type !== "heading") {
      current.text = `${current.text} ${text}`.trim();
    }
  }
  return sections;
}

/** Opens in bold with the words that it is about: in the glossary, and where terms are set apart. */
function isDefinition(node: Nodes): boolean {
  const [first] = node.type === "paragraph" ? node.children : [];
  return first?.type === "strong" && textOf(first).endsWith(".");
}

function hasLink(node: Nodes): boolean {
  return node.type === "paragraph" && node.children.some(({ type }) => type === "link");
}

function weightOf(path: string): number {
  return weights.find(([places]) => places.test(path))?.[1] ?? 1;
}

/** What can be asked for of a block of code: its names, each once, and no ids or keys. */
function codeWords(code: string): string {
  const words = code.match(/\b[A-Za-z][\w.-]*\w/g) ?? [];
  return [...new Set(words)].filter((word) => !/\d{4}|.{40}/.test(word)).join(" ");
}

/** What runs on from one child to the next; the children of all else stand apart. */
const isRunning = /^(paragraph|heading|link|strong|emphasis|delete|tableCell)$/;

function textOf(node: Nodes): string {
  if (isUnsearched(node) || node.type === "html") return "";
  if (node.type === "break") return " ";
  if (!("children" in node)) return "value" in node ? node.value : "";
  const joined = node.children.map(textOf).join(isRunning.test(node.type) ? "" : " ");
  return joined.replace(/\s+/g, " ");
}

export function callSections(): readonly Section[] {
  return Object.entries(operations).map(([id, { path, tag, summary, description, request }]) => ({
    url: operationPath({ operationId: id }),
    page: "API",
    // A consumer needs none of the calls on what is stored.
    weight: weightOf(tag === "Storage" ? "#" : "/api"),
    heading: summary,
    text: [`${path} ${description}`, ...fieldTexts(request)]
      .join(" · ")
      .replace(/[`*]/g, "")
      .replace(/\s+/g, " "),
  }));
}

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** Of a schema: its fields by name with what each means, nested ones too. */
function fieldTexts({ properties = {}, items }: Schema): readonly string[] {
  const own = Object.entries(properties).flatMap(([name, field]) => [
    `${name}: ${field.description ?? ""}`,
    ...fieldTexts(field),
  ]);
  return items === undefined ? own : [...own, ...fieldTexts(items)];
}

type ShownPage = Pick<PageText, "path" | "title" | "main">;

/** The rows of generated tables; throws where no page shows one of them. */
export function rowSections(pages: readonly ShownPage[]): readonly Section[] {
  const settings = referenceRows.settings.map(({ flag, env, meaning }) => ({
    url: `/docs/configuration#${flag.slice(2)}`,
    heading: flag,
    text: `${meaning} ${env}`,
  }));
  const codes = referenceRows.codes.map(({ code, text, meaning, reaction }) => ({
    url: `/docs/errors#code-${code}`,
    heading: `${code} ${text}`,
    text: `${meaning} ${reaction}`,
  }));
  const reasons = referenceRows.reasons.map(({ reason, codes: its, meaning }) => ({
    url: `/docs/errors#reason-${reason}`,
    heading: reason,
    text: `${its}: ${meaning}`,
  }));
  return [...settings, ...codes, ...reasons].map((row) => {
    const [path, anchor] = row.url.split("#");
    const page = pages.find((one) => one.path === path);
    const isShown = page && find(page.main, ({ properties }) => properties["id"] === anchor);
    if (!isShown) throw new Error(`the search leads to a row that no page shows: ${row.url}`);
    const text = row.text.replaceAll("`", "");
    return { ...row, text, page: page.title, weight: weightOf(row.url) };
  });
}
