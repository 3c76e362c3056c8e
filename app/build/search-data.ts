// The sections that the search knows: of docs, posts and pages by their headings, and
// one for each call of the API and each reply code.

import Slugger from "github-slugger";
import type { Nodes, Root } from "mdast";
import { operations } from "../../openapi/operations.ts";
import { postPath } from "../blog/posts.ts";
import type { Section } from "../search/section.ts";
import { siteConfig } from "../site-config.ts";
import { readContent } from "./content.ts";
import { isUnsearched, type PageText } from "./page-markdown.ts";
import { referenceRows } from "./reference-rows.ts";
import { writeDraft } from "./site-folder.ts";

const searched = /^\/(docs\/.+|markdown-page|blog\/(?!archive$|tags|authors)[^/]+)$/;
/** A section's beginning says what it is about; the whole would only make the data large. */
const textLengthMax = 185;
const settingLengthMax = 120;

/** In the order of their weight: the search prefers what comes first. */
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
    ...apiSections(),
    ...settingSections(),
    ...others.flatMap(of),
    ...last.flatMap(of),
  ];
  writeDraft("search.json", JSON.stringify(sections));
}

export function sectionsOf({
  path,
  title,
  tree,
}: Pick<PageText, "path" | "title"> & { readonly tree: Root }): readonly Section[] {
  const slugger = new Slugger();
  const sections: { url: string; page: string; heading: string; text: string }[] = [];
  let current = { url: path, page: title, heading: title, text: "" };
  sections.push(current);
  for (const node of tree.children) {
    const text = textOf(node).trim();
    if (node.type === "heading" && node.depth > 1) {
      const url = `${path}#${slugger.slug(text)}`;
      if (node.depth > 3) continue;
      current = { url, page: title, heading: text, text: "" };
      sections.push(current);
    } else if (node.type !== "heading" && node.type !== "code") {
      current.text = `${current.text} ${text}`.trim().slice(0, textLengthMax);
    }
  }
  return sections;
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

function apiSections(): readonly Section[] {
  return Object.entries(operations).map(([id, { path, summary, description }]) => ({
    url: `/api#${id}`,
    page: "API",
    heading: summary,
    text: `${path} ${description.replace(/[`*]/g, "")}`
      .replace(/\s+/g, " ")
      .slice(0, textLengthMax),
  }));
}

function settingSections(): readonly Section[] {
  return referenceRows.settings.map(({ flag, meaning }) => ({
    url: `/docs/configuration#${flag.slice(2)}`,
    page: "Configuration",
    heading: flag,
    text: meaning.slice(0, settingLengthMax),
  }));
}
