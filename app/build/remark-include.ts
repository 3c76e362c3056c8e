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
      // The page has a title of its own.
      const sections = included.children.filter(
        (each) => each.type !== "heading" || each.depth > 1,
      );
      parent?.children.splice(index, 1, ...sections);
      return [SKIP, index + sections.length];
    });
  };
}
