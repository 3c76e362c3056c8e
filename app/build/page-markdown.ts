// Each page as Markdown, from its HTML, so that what components add is in it too.

import type { Element, ElementContent, Parents } from "hast";
import { defaultHandlers, type State, toMdast } from "hast-util-to-mdast";
import { toString as textOf } from "hast-util-to-string";
import type { Nodes, Root, RootContent } from "mdast";
import { gfmToMarkdown } from "mdast-util-gfm";
import { type Options, toMarkdown } from "mdast-util-to-markdown";
import { siteConfig } from "../site-config.ts";
import { find, hasClass, type SitePage } from "./pages.ts";
import { writeDraft } from "./site-folder.ts";

export interface PageText extends SitePage {
  readonly tree: Root;
  readonly markdown: string;
}

const skippedClasses = ["anchor", "page-actions", "docs-foot", "paging", "toc-inline", "eyebrow"];

/** Figures and facts beside the text: they would be most of what an excerpt has to say. */
const unsearchedClasses = ["chart", "proof", "post-facts", "post-authors"];

/** Whether the search leaves a node of a page's tree out. */
export function isUnsearched(node: Nodes): boolean {
  return (node.data as { isUnsearched?: boolean } | undefined)?.isUnsearched === true;
}

export function writeMarkdown(pages: readonly SitePage[]): readonly PageText[] {
  const texts = pages.map((page) => {
    const tree = treeOf(page.main);
    const markdown = markdownOf(tree);
    writeDraft(`${page.path === "/" ? "/index" : page.path}.md`, markdown);
    return { ...page, tree, markdown };
  });
  // The root of a version shows its main doc, also as text.
  for (const { path, mainDoc } of siteConfig.docs.versions) {
    const main = texts.find((page) => page.path === `${path}/${mainDoc}`);
    if (main !== undefined) writeDraft(`${path}.md`, main.markdown);
  }
  return texts;
}

function markdownOf(tree: Root): string {
  return toMarkdown(tree, {
    // Two copies of the types meet here; the shape is one.
    extensions: [gfmToMarkdown({ tablePipeAlign: false }) as Options],
    bullet: "-",
    fences: true,
  });
}

function isSkipped(node: Element): boolean {
  const isHidden = node.properties["ariaHidden"] === "true";
  return isHidden || skippedClasses.some((name) => hasClass(node, name));
}

function treeOf(main: Element): Root {
  const tree = toMdast(pruned(main), {
    handlers: {
      figure: figure,
      p: (state: State, node: Element) => marked(node, defaultHandlers.p(state, node)) as never,
      ul: (state: State, node: Element) => marked(node, defaultHandlers.ul(state, node)) as never,
      // A heading is one line.
      br: (state: State, node: Element, parent: Parents | undefined) =>
        parent?.type === "element" && /^h[1-6]$/.test(parent.tagName)
          ? { type: "text" as const, value: " " }
          : defaultHandlers.br(state, node),
      svg: () => undefined,
      button: () => undefined,
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

/** Their names are code. */
function isFields(parent: Parents | undefined): boolean {
  return parent?.type === "element" && hasClass(parent, "fields");
}

function marked<Made extends Nodes | undefined>(node: Element, made: Made): Made {
  if (made !== undefined && unsearchedClasses.some((name) => hasClass(node, name))) {
    Object.assign(made, { data: { ...made.data, isUnsearched: true } });
  }
  return made;
}

function pruned(node: Element): Element {
  const children = node.children.flatMap((child): ElementContent[] => {
    // What React puts between two texts.
    if (child.type === "comment") return [];
    if (child.type !== "element") return [child];
    if (isSkipped(child)) return [];
    const label = child.properties["dataLabel"];
    const inner = pruned(child);
    // A panel of tabs says which one it is.
    return typeof label === "string" && hasClass(child, "tabs-panel")
      ? [paragraph(`${label}:`), inner]
      : [inner];
  });
  return { ...node, children: children.filter((child) => !isTabList(child)) };
}

function isTabList(node: ElementContent): boolean {
  return node.type === "element" && node.properties["role"] === "tablist";
}

function paragraph(value: string): Element {
  return { type: "element", tagName: "p", properties: {}, children: [{ type: "text", value }] };
}

/** A block of code as one; any other figure as what its caption says. */
function figure(state: State, node: Element): never {
  const pre = find(node, ({ tagName }) => tagName === "pre");
  if (!hasClass(node, "code") || pre === null) {
    const caption = find(node, ({ tagName }) => tagName === "figcaption");
    const said = caption === null ? state.all(node) : state.toFlow(state.all(caption));
    return said.map((one) => marked(node, one)) as never;
  }
  return {
    type: "code",
    lang: String(node.properties["dataLang"] ?? "") || null,
    value: textOf(pre).replace(/\n$/, ""),
  } as never;
}

/** Whole where the site's address is known; otherwise it leads to the server it came from. */
function addressed(href: string): string {
  return href.startsWith("/") ? (siteConfig.url ?? "") + href : href;
}
