// Adds `export const handle` to an MDX page: its headings of levels 2 and 3, the path of its
// source, and the date of the last change. The router keeps only known exports of a route module,
// and `handle` is one.

import { relative } from "node:path";
import Slugger from "github-slugger";
import type { Heading, Root } from "mdast";
import { toString as textOf } from "mdast-util-to-string";
import { visit } from "unist-util-visit";
import type { VFile } from "vfile";
import type { TocEntry } from "../content-types.ts";
import { siteConfig } from "../site-config.ts";
import { lastChanges } from "./last-changes.ts";
import { type Parser, parsed } from "./remark-include.ts";
import { folders } from "./site-folder.ts";

/** Uses the slugger of `rehype-slug`, on the same headings in the same order. */
export function tocOf(tree: Root): readonly TocEntry[] {
  const { minHeadingLevel, maxHeadingLevel } = siteConfig.tableOfContents;
  const slugger = new Slugger();
  const entries: TocEntry[] = [];
  visit(tree, "heading", ({ depth, ...heading }: Heading) => {
    const text = textOf(heading);
    const id = slugger.slug(text);
    if (depth >= minHeadingLevel && depth <= maxHeadingLevel) entries.push({ depth, id, text });
  });
  return entries;
}

export function remarkPage(this: Parser) {
  return (tree: Root, file: VFile) => {
    const source = relative(folders.root, file.path);
    const handle = { toc: tocOf(tree), source, updated: lastChanges().get(source) ?? null };
    // Last, because it uses the constant made from the front matter.
    const code = `export const handle = { ...${JSON.stringify(handle)}, frontmatter };`;
    tree.children.push(...parsed(this, code));
  };
}
