// Includes texts of the repository in pages, so that none is copied. A fence with `file=PATH`
// contains the file, `<Include file="PATH" />` is replaced by the sections of a Markdown file, and
// `<FirstSteps />` by the block of the first steps.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Code, Root } from "mdast";
import { SKIP, visit } from "unist-util-visit";
import { firstSteps } from "../../content/first-steps.ts";
import { siteConfig } from "../site-config.ts";
import { folders } from "./site-folder.ts";

const { repository } = siteConfig;
const title =
  repository === null
    ? "In the folder of the sources, to a completed item"
    : "From nothing to a completed item";
const firstStepsCode: Code = {
  type: "code",
  lang: "bash",
  meta: `title="${title}"`,
  value: firstSteps(repository).trimEnd(),
};

/** The processor that runs a plugin; it parses MDX, including the code in it. */
export interface Parser {
  parse(text: string): { readonly type: string };
}

export function parsed(parser: Parser, text: string): Root["children"] {
  return (parser.parse(text) as Root).children;
}

export function remarkInclude(this: Parser) {
  return (tree: Root) => {
    visit(tree, "code", (node) => {
      const [, file] = /\bfile=(\S+)/.exec(node.meta ?? "") ?? [];
      if (file !== undefined) node.value = readFileSync(join(folders.root, file), "utf8").trimEnd();
    });
    visit(tree, "mdxJsxFlowElement", (node, index, parent) => {
      if (index === undefined || parent === undefined) return undefined;
      if (node.name === "FirstSteps") parent.children[index] = firstStepsCode;
      if (node.name !== "Include") return undefined;
      const file = node.attributes.find((each) => "name" in each && each.name === "file")?.value;
      const included = parsed(this, readFileSync(join(folders.root, String(file)), "utf8"));
      // The page has its own title and lead.
      const first = included.findIndex((each) => each.type === "heading" && each.depth > 1);
      const sections = included.slice(first);
      // A version may be in brackets, as a reference without a target.
      visit({ type: "root", children: sections }, "heading", ({ children: [text] }) => {
        if (text?.type === "text") text.value = text.value.replace(/^\[(.+)\]/, "$1");
      });
      parent.children.splice(index, 1, ...sections);
      return [SKIP, index + sections.length];
    });
  };
}
