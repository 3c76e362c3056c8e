// Files of the repository on pages, so that nobody copies one: a fence with `file=PATH` has
// what is in the file, and `<Include file="PATH" />` stands for the sections of a Markdown file.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Root } from "mdast";
import { SKIP, visit } from "unist-util-visit";

const root = fileURLToPath(new URL("../..", import.meta.url));

export function remarkInclude(this: { readonly parse: (text: string) => Root }) {
  return (tree: Root) => {
    visit(tree, "code", (node) => {
      const [, file] = /\bfile=(\S+)/.exec(node.meta ?? "") ?? [];
      if (file !== undefined) node.value = readFileSync(join(root, file), "utf8").trimEnd();
    });
    visit(tree, "mdxJsxFlowElement", (node, index, parent) => {
      if (node.name !== "Include" || index === undefined) return undefined;
      const file = node.attributes.find((each) => "name" in each && each.name === "file")?.value;
      const included = this.parse(readFileSync(join(root, String(file)), "utf8"));
      // The page has a title and a lead of its own.
      const first = included.children.findIndex(
        (each) => each.type === "heading" && each.depth > 1,
      );
      const sections = included.children.slice(first);
      // A version may stand in brackets, as a reference that leads nowhere here.
      visit({ ...included, children: sections }, "heading", ({ children: [text] }) => {
        if (text?.type === "text") text.value = text.value.replace(/^\[(.+)\]/, "$1");
      });
      parent?.children.splice(index, 1, ...sections);
      return [SKIP, index + sections.length];
    });
  };
}
