// Parses the finished pages once for all steps that read them.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Element, ElementContent, Root } from "hast";
import { fromHtml } from "hast-util-from-html";
import { toString as textOf } from "hast-util-to-string";
import { EXIT, visit } from "unist-util-visit";
import { siteConfig } from "../site-config.ts";
import { folders, pagePaths } from "./site-folder.ts";

export interface SitePage {
  /** Path of its URL. */
  readonly path: string;
  readonly title: string;
  readonly description: string;
  readonly main: Element;
}

/** Every page except the 404 page; a second address of a page is skipped. */
export function readPages(): readonly SitePage[] {
  // The root of a version repeats its main doc.
  const roots = siteConfig.docs.versions.map(({ path }) => path);
  return pagePaths(folders.draft)
    .filter((path) => !roots.includes(path))
    .map(readPage);
}

function readPage(path: string): SitePage {
  const tree = fromHtml(readFileSync(join(folders.draft, path, "index.html"), "utf8"));
  const main = find(tree, ({ tagName }) => tagName === "main");
  const heading = find(tree, ({ tagName }) => tagName === "h1");
  if (main === null || heading === null) throw new Error(`${path} has no <main> with an <h1>`);
  const described = find(tree, ({ properties }) => properties["name"] === "description");
  return {
    path,
    title: textOf(heading).trim(),
    description: String(described?.properties["content"] ?? ""),
    main,
  };
}

export function find(tree: Root | Element, wanted: (node: Element) => boolean): Element | null {
  let found: Element | null = null;
  visit(tree, "element", (node) => {
    if (!wanted(node)) return undefined;
    found = node;
    return EXIT;
  });
  return found;
}

export function hasClass(node: Element, name: string): boolean {
  const { className } = node.properties;
  return Array.isArray(className) && className.includes(name);
}

/** The tree without comments, which React inserts between texts, and without the given elements. */
export function without(node: Element, isLeftOut: (node: Element) => boolean): Element {
  const children = node.children.flatMap((child): ElementContent[] => {
    if (child.type === "comment") return [];
    if (child.type !== "element") return [child];
    return isLeftOut(child) ? [] : [without(child, isLeftOut)];
  });
  return { ...node, children };
}
