// The rules of a stylesheet that a piece of HTML can need: those whose classes and marks of
// components are in it. In doubt a rule is kept.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** Set on <body>, so they are not in the HTML of the reference. */
const bodyClasses = ["light-mode", "dark-mode"];
const groups = /^@(media|supports|layer|container)\b/;

interface Block {
  /** What stands before the braces; a statement without braces has no body. */
  readonly prelude: string;
  readonly body: string | null;
}

export function scalarStyles(): string {
  const { resolve } = createRequire(import.meta.url);
  return readFileSync(resolve("@scalar/api-reference-react/style.css"), "utf8");
}

export function usedStyles(css: string, html: string): string {
  const classes = [...html.matchAll(/\sclass="([^"]*)"/g)].flatMap(([, list = ""]) =>
    list.replaceAll("&amp;", "&").replaceAll("&gt;", ">").split(/\s+/),
  );
  const marks = [...html.matchAll(/\s(data-v-[a-z0-9]+)/g)].map(([, mark = ""]) => mark);
  const known = new Set([...bodyClasses, ...classes, ...marks]);
  return pruned(css.replace(/\/\*[\s\S]*?\*\//g, ""), known);
}

function pruned(css: string, known: ReadonlySet<string>): string {
  return blocksOf(css)
    .map(({ prelude, body }) => {
      if (body === null) return `${prelude};`;
      if (groups.test(prelude)) {
        const inner = pruned(body, known);
        return inner === "" ? "" : `${prelude}{${inner}}`;
      }
      const isKept = prelude.startsWith("@") || canMatch(prelude, known);
      return isKept ? `${prelude}{${body.trim()}}` : "";
    })
    .join("");
}

function blocksOf(css: string): readonly Block[] {
  const blocks: Block[] = [];
  let start = 0;
  let depth = 0;
  let open = 0;
  for (const { 0: mark, index } of css.matchAll(/[{};]/g)) {
    if (mark === "{" && depth++ === 0) open = index;
    if (mark === "}" && --depth === 0) {
      blocks.push({ prelude: css.slice(start, open).trim(), body: css.slice(open + 1, index) });
      start = index + 1;
    }
    if (mark === ";" && depth === 0) {
      blocks.push({ prelude: css.slice(start, index).trim(), body: null });
      start = index + 1;
    }
  }
  return blocks;
}

function canMatch(selectors: string, known: ReadonlySet<string>): boolean {
  return withoutConditions(selectors)
    .split(",")
    .some((selector) => namesIn(selector).every((name) => known.has(name)));
}

/** What stands in `:is()`, `:where()`, `:not()` and `:has()` may or may not be asked for. */
function withoutConditions(selectors: string): string {
  // An escaped bracket or comma is a part of a class's name.
  let text = selectors.replaceAll("\\,", "\\2c ");
  for (let before = ""; before !== text; ) {
    before = text;
    text = text.replace(/(?<!\\)\((?:\\.|[^()\\])*(?<!\\)\)/g, "");
  }
  return text;
}

function namesIn(selector: string): readonly string[] {
  const classes = [...selector.matchAll(/(?<!\\)\.((?:\\2c |\\.|[\w-]|\P{ASCII})+)/gu)];
  const marks = [...selector.matchAll(/\[(data-v-[a-z0-9]+)\]/g)];
  return [
    ...classes.map(([, name = ""]) => name.replaceAll("\\2c ", ",").replace(/\\(.)/g, "$1")),
    ...marks.map(([, mark = ""]) => mark),
  ];
}
