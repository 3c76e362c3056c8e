// Pages name components without importing them. This adds the imports of those that
// a page uses, so that a page which draws nothing does not carry every diagram.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Root } from "mdast";
import { visit } from "unist-util-visit";
import type { VFile } from "vfile";
import { mdxModules } from "../mdx-modules.ts";

const app = fileURLToPath(new URL("..", import.meta.url));

export function remarkImports() {
  return (tree: Root, file: VFile) => {
    const used = new Set<string>();
    visit(tree, (node) => {
      const isElement = node.type === "mdxJsxFlowElement" || node.type === "mdxJsxTextElement";
      if (isElement && node.name !== null && /^[A-Z]/.test(node.name)) used.add(node.name);
    });
    for (const name of [...used].sort()) {
      const module = mdxModules[name];
      if (module === undefined) continue;
      const path = `${app}${module}`;
      if (!existsSync(path)) {
        file.fail(`<${name}> has no module; expected it in app/${module}`);
      }
      tree.children.push(importOf(name, path));
    }
  };
}

function importOf(name: string, path: string): Root["children"][number] {
  return {
    type: "mdxjsEsm",
    value: "",
    data: {
      estree: {
        type: "Program",
        sourceType: "module",
        body: [
          {
            type: "ImportDeclaration",
            attributes: [],
            source: { type: "Literal", value: path },
            specifiers: [
              {
                type: "ImportSpecifier",
                imported: { type: "Identifier", name },
                local: { type: "Identifier", name },
              },
            ],
          },
        ],
      },
    },
  };
}
