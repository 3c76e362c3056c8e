// Code colours: a theme that assigns a marker to each kind of word, and the class for each marker.
// The colours are tokens of the site, so a block follows the colour mode. A class is a tenth of the
// size of a style.

import type { Element } from "hast";
import { toHtml } from "hast-util-to-html";
import type { ShikiTransformer, ThemeRegistration } from "shiki";

/** If two match, the later one wins. */
const kinds = [
  { name: "c", scope: ["comment", "punctuation.definition.comment"] },
  { name: "k", scope: ["keyword", "storage", "constant.language", "variable.language"] },
  { name: "p", scope: ["keyword.operator", "punctuation", "meta.brace"] },
  {
    name: "s",
    scope: ["string", "punctuation.definition.string", "string punctuation.definition"],
  },
  { name: "n", scope: ["constant.numeric", "constant.character.escape", "entity.name.type"] },
  {
    name: "f",
    scope: [
      "entity.name.function",
      "support.function",
      "entity.name.command",
      "support.type.property-name",
      "meta.object-literal.key",
    ],
  },
  { name: "o", scope: ["constant.other.option", "entity.other.attribute-name", "string.unquoted"] },
];

const plain = "#000000";

function marker(index: number): string {
  return `#00000${index + 1}`;
}

const classOf = new Map(kinds.map(({ name }, index) => [marker(index), name]));

export const codeTheme: ThemeRegistration = {
  name: "holdfast",
  type: "dark",
  fg: plain,
  bg: plain,
  settings: [
    { settings: { foreground: plain } },
    ...kinds.map(({ scope }, index) => ({
      scope,
      settings: { foreground: marker(index) },
    })),
  ],
};

/**
 * Converts the markers to classes, and words without one to bare text. Then it converts the block
 * to `<CodeBlock html="…">`: one string for React instead of hundreds of spans.
 */
export const staticCode: ShikiTransformer = {
  span(span) {
    const [color = ""] = /#\d{6}/.exec(String(span.properties["style"])) ?? [];
    delete span.properties["style"];
    const name = classOf.get(color);
    if (name !== undefined) this.addClassToHast(span, name);
  },
  pre(pre) {
    delete pre.properties["style"];
    for (const line of this.lines) {
      line.children = line.children.flatMap((child) =>
        child.type === "element" && Object.keys(child.properties).length === 0
          ? child.children
          : [child],
      );
    }
  },
  root({ children: [pre] }) {
    const { lang, meta } = this.options;
    const title = /title="([^"]*)"/.exec(meta?.__raw ?? "")?.[1];
    const given = Object.entries({ html: toHtml(pre as Element), lang, title });
    const block = {
      type: "mdxJsxFlowElement",
      name: "CodeBlock",
      children: [],
      attributes: given
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => ({ type: "mdxJsxAttribute", name, value })),
    };
    return { type: "root", children: [block as never] };
  },
};
