// GitHub's task lists come as bare checkboxes; each gets its item's text as its name.

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
