// Colours of code: a theme that gives each kind of word a marker, and the class that
// stands for it. The colours are tokens of the site, so a block follows the mode, and a
// class is a tenth of the size of a style.

import type { Element, Root } from "hast";
import type { ThemeRegistration } from "shiki";
import { visit } from "unist-util-visit";

interface Kind {
  readonly name: string;
  readonly scope: readonly string[];
}

/** Where two match, the later one wins. */
const kinds: readonly Kind[] = [
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
      scope: [...scope],
      settings: { foreground: marker(index) },
    })),
  ],
};

/** Turns the markers into classes, and words without one into bare text. */
export function classesForMarkers(pre: Element): void {
  delete pre.properties["style"];
  delete pre.properties["tabindex"];
  pre.properties["tabIndex"] = 0;
  const root: Root = { type: "root", children: [pre] };
  visit(root, { tagName: "span" }, (span) => {
    if (span.type !== "element" || typeof span.properties["style"] !== "string") return;
    const color = /#[0-9a-f]{6}/i.exec(span.properties["style"])?.[0]?.toLowerCase();
    delete span.properties["style"];
    const name = classOf.get(color ?? "");
    if (name !== undefined) span.properties["className"] = [name];
  });
  visit(root, "element", (node) => {
    node.children = node.children.flatMap((child) => {
      const isBare =
        child.type === "element" &&
        child.tagName === "span" &&
        Object.keys(child.properties).length === 0;
      return isBare ? child.children : [child];
    });
  });
}
