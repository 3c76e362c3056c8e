// On a phone a table row is a block: in tables of three or more columns, each cell after the first
// is labelled with its heading.

import type { Element, Root } from "hast";
import { toString as textOf } from "hast-util-to-string";
import { visit } from "unist-util-visit";

const labelledColumnsMin = 3;

export function rehypeCellLabels() {
  return (tree: Root) => {
    visit(tree, { tagName: "table" }, (table) => {
      const labels = elementsIn(table, "th").map(textOf);
      if (labels.length < labelledColumnsMin) return;
      visit(table, { tagName: "tr" }, (row) => {
        for (const [index, cell] of elementsIn(row, "td").entries()) {
          if (index > 0) cell.properties["dataLabel"] = labels[index];
        }
      });
    });
  };
}

function elementsIn(parent: Parameters<typeof visit>[0], tagName: string): Element[] {
  const found: Element[] = [];
  visit(parent, { tagName }, (element) => {
    found.push(element as Element);
  });
  return found;
}
