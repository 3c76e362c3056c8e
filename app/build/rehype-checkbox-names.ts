// Names each checkbox of GitHub's task lists by its item's text.

import type { Root } from "hast";
import { toString as textOf } from "hast-util-to-string";
import { visit } from "unist-util-visit";

export function rehypeCheckboxNames() {
  return (tree: Root) => {
    visit(tree, { tagName: "li" }, (item) => {
      visit(item, { tagName: "input" }, (input) => {
        if (input.type === "element") input.properties["ariaLabel"] = textOf(item).trim();
      });
    });
  };
}
