// Converts each page's HTML to Markdown, so that the output of components is included.

import type { Element, ElementContent, Parents } from "hast";
import { defaultHandlers, type State, toMdast } from "hast-util-to-mdast";
import { toString as textOf } from "hast-util-to-string";
import type { Nodes, Root, RootContent } from "mdast";
import { gfmToMarkdown } from "mdast-util-gfm";
import { type Options, toMarkdown } from "mdast-util-to-markdown";
import { siteConfig } from "../site-config.ts";
import { find, hasClass, type SitePage, without } from "./pages.ts";
import { writeDraft } from "./site-folder.ts";

export interface PageText extends SitePage {
  /** The content for the search. */
  readonly tree: Root;
  readonly markdown: string;
}

const skippedClasses = ["anchor", "page-actions", "docs-foot", "paging", "toc-inline", "eyebrow"];

/** Figures and facts beside the text, which would dominate the excerpts. */
const unsearchedClasses = ["chart", "post-facts", "post-authors"];

export function writeMarkdown(pages: readonly SitePage[]): readonly PageText[] {
  const texts = pages.map((page) => {
    const text = textOfPage(page.main);
    writeDraft(`${page.path === "/" ? "/index" : page.path}.md`, text.markdown);
    return { ...page, ...text };
  });
  // The root of a version shows its main doc, in Markdown too.
  for (const { path, mainDoc } of siteConfig.docs.versions) {
    const main = texts.find((page) => page.path === `${path}/${mainDoc}`);
    if (main !== undefined) writeDraft(`${path}.md`, main.markdown);
  }
  return texts;
}

export function textOfPage(main: Element): Pick<PageText, "tree" | "markdown"> {
  const shown = without(main, isSkipped);
  const searched = without(shown, (node) => hasOne(node, unsearchedClasses));
  return { tree: treeOf(searched), markdown: markdownOf(treeOf(shown)) };
}

function markdownOf(tree: Root): string {
  return toMarkdown(tree, {
    // Two copies of the types are installed, with the same shape.
    extensions: [gfmToMarkdown({ tablePipeAlign: false }) as Options],
    bullet: "-",
    fences: true,
  });
}

function isSkipped(node: Element): boolean {
  const { ariaHidden, role } = node.properties;
  return (
    ariaHidden === "true" ||
    role === "tablist" ||
    ["svg", "button"].includes(node.tagName) ||
    hasOne(node, skippedClasses)
  );
}

function hasOne(node: Element, classes: readonly string[]): boolean {
  return classes.some((name) => hasClass(node, name));
}

function treeOf(main: Element): Root {
  const tree = toMdast(main, {
    handlers: {
      figure: figure,
      // A heading must be one line.
      br: (state: State, node: Element, parent: Parents | undefined) =>
        parent?.type === "element" && /^h[1-6]$/.test(parent.tagName)
          ? { type: "text" as const, value: " " }
          : defaultHandlers.br(state, node),
      div: panel,
      a: (state: State, node: Element) => ({
        type: "link" as const,
        url: addressed(String(node.properties["href"] ?? "")),
        children: state.all(node) as never,
      }),
      dt: (state: State, node: Element, parent: Parents | undefined) => ({
        type: "paragraph" as const,
        children: isFields(parent)
          ? [{ type: "inlineCode" as const, value: textOf(node) }]
          : [{ type: "strong" as const, children: state.all(node) as never }],
      }),
      small: (state: State, node: Element) => defaultHandlers.em(state, node) as never,
      dd: (state: State, node: Element) => state.toFlow(state.all(node)) as never,
      dl: (state: State, node: Element) => state.toFlow(state.all(node)) as never,
    },
  }) as Nodes;
  return tree.type === "root" ? tree : { type: "root", children: [tree as RootContent] };
}

/** The names of fields are code. */
function isFields(parent: Parents | undefined): boolean {
  return parent?.type === "element" && hasClass(parent, "fields");
}

/** A tab panel begins with its label. */
function panel(state: State, node: Element): never {
  const label = node.properties["dataLabel"];
  const isPanel = typeof label === "string" && hasClass(node, "tabs-panel");
  const heading = isPanel
    ? [{ type: "paragraph", children: [{ type: "text", value: `${label}:` }] }]
    : [];
  return [...heading, ...state.toFlow(state.all(node))] as never;
}

/**
 * A block of code with its title; for any other figure its texts and tables, without the drawing.
 */
function figure(state: State, node: Element): never {
  const pre = find(node, ({ tagName }) => tagName === "pre");
  if (!hasClass(node, "code") || pre === null) {
    const isText = (child: ElementContent) =>
      child.type === "element" && ["figcaption", "p", "details"].includes(child.tagName);
    const texts = node.children.filter(isText);
    return state.toFlow(state.all({ ...node, children: texts })) as never;
  }
  const title = find(node, (each) => hasClass(each, "code-title"));
  return {
    type: "code",
    lang: String(node.properties["dataLang"] ?? "") || null,
    meta: title === null ? null : `title=${JSON.stringify(textOf(title))}`,
    value: textOf(pre).replace(/\n$/, ""),
  } as never;
}

/** Absolute if the site's address is known; otherwise relative to the server. */
function addressed(href: string): string {
  return href.startsWith("/") ? (siteConfig.url ?? "") + href : href;
}
