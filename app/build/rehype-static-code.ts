// Turns each highlighted block into `<CodeBlock html="…">`: one node for React to
// hydrate where there would be hundreds of spans, and one string in the page's chunk.

import type { Element, Root } from "hast";
import { toHtml } from "hast-util-to-html";
import { SKIP, visit } from "unist-util-visit";
import { classesForMarkers } from "./code-themes.ts";

function languageOf({ properties }: Element): string {
  // The highlighter names the class as HTML does, others as the DOM does.
  const names = [properties["class"], properties["className"]].flat().map(String);
  return names.find((name) => name.startsWith("language-"))?.slice("language-".length) ?? "text";
}

function attribute(name: string, value: string) {
  return { type: "mdxJsxAttribute", name, value } as const;
}

export function rehypeStaticCode() {
  return (tree: Root) => {
    visit(tree, "element", (pre, index, parent) => {
      if (pre.tagName !== "pre" || index === undefined || parent === undefined) return undefined;
      const code = pre.children.find((child) => child.type === "element");
      if (code === undefined) return undefined;
      classesForMarkers(pre);
      const title = pre.properties["data-title"];
      delete pre.properties["data-title"];
      const block = {
        type: "mdxJsxFlowElement",
        name: "CodeBlock",
        children: [],
        attributes: [
          attribute("html", toHtml(pre)),
          attribute("lang", languageOf(code)),
          ...(typeof title === "string" ? [attribute("title", title)] : []),
        ],
      };
      parent.children[index] = block as unknown as Element;
      return SKIP;
    });
  };
}
