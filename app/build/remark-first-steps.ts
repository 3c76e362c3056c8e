// Puts the block of the first steps in the place of `<FirstSteps />`.

import type { Code, Root } from "mdast";
import { visit } from "unist-util-visit";
import { firstSteps } from "../../content/first-steps.ts";
import { siteConfig } from "../site-config.ts";

/** In the folder above a clone the block works whether or not it clones. */
const title =
  siteConfig.repository === null
    ? "Put in the repository's address, or paste above a clone named holdfast"
    : "From nothing to a completed item";

export function remarkFirstSteps() {
  return (tree: Root) => {
    visit(tree, "mdxJsxFlowElement", (node, index, parent) => {
      if (node.name !== "FirstSteps" || index === undefined || parent === undefined) return;
      const code: Code = {
        type: "code",
        lang: "bash",
        meta: `title="${title}"`,
        value: firstSteps(siteConfig.repository).trimEnd(),
      };
      parent.children[index] = code;
    });
  };
}
