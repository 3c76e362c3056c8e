// The sections in the search, with their whole text: docs, posts and pages by heading, and one
// section for each API call, setting and reason.

import { operations } from "../../openapi/operations.ts";
import { postPath } from "../blog/posts.ts";
import { docs, posts } from "../facts/content.ts";
import * as reference from "../facts/reference.ts";
import { operationPath } from "../reference/operations.ts";
import type { Section } from "../search/engine.ts";
import { siteConfig } from "../site-config.ts";
import type { PageText } from "./page-markdown.ts";
import { find } from "./pages.ts";
import { sectionsOf, weightOf } from "./search-sections.ts";
import { writeDraft } from "./site-folder.ts";

const searched = /^\/(docs\/.+|markdown-page|blog\/(?!archive$|tags|authors)[^/]+)$/;

export function writeSearchData(pages: readonly PageText[]): void {
  const of = (path: string) =>
    pages.filter((page) => page.path === path && searched.test(path)).flatMap(sectionsOf);
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

export function callSections(): readonly Section[] {
  return Object.entries(operations).map(([id, { path, tag, summary, description, request }]) => ({
    url: operationPath({ operationId: id }),
    page: "API",
    // Consumers need none of the storage calls.
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

/** The fields of a schema with their descriptions, nested ones included. */
function fieldTexts({ properties = {}, items }: Schema): readonly string[] {
  const own = Object.entries(properties).flatMap(([name, field]) => [
    `${name}: ${field.description ?? ""}`,
    ...fieldTexts(field),
  ]);
  return items === undefined ? own : [...own, ...fieldTexts(items)];
}

type ShownPage = Pick<PageText, "path" | "title" | "main">;

/** The rows of generated tables; throws if no page shows one of them. */
export function rowSections(pages: readonly ShownPage[]): readonly Section[] {
  const settings = reference.settings.map(({ flag, env, meaning }) => ({
    url: `/docs/configuration#${flag.slice(2)}`,
    heading: flag,
    text: `${meaning} ${env}`,
  }));
  const codes = reference.codes.map(({ code, text, meaning, reaction }) => ({
    url: `/docs/errors#code-${code}`,
    heading: `${code} ${text}`,
    text: `${meaning} ${reaction}`,
  }));
  const reasons = reference.reasons.map(({ reason, codes: its, meaning }) => ({
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
