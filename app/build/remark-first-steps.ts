// Puts the block of the first steps in the place of `<FirstSteps />`.

import type { Code, Root } from "mdast";
import { visit } from "unist-util-visit";
import { firstSteps } from "../../content/first-steps.ts";
import { siteConfig } from "../site-config.ts";

/** The folder above a clone is where the block works whether or not it clones. */
const title =
  siteConfig.repository === null
    ? "In the folder that holds holdfast/, a clone of the repository"
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
