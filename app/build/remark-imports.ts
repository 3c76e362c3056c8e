// Pages name components without importing them. This adds the imports of those that
// a page uses, so that a page which draws nothing does not carry every diagram.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Root } from "mdast";
import { visit } from "unist-util-visit";
import type { VFile } from "vfile";
import { mdxModules } from "../mdx-modules.ts";
import { type Parser, parsed } from "./remark-include.ts";

export function remarkImports(this: Parser) {
  return (tree: Root, file: VFile) => {
    const used = new Set<string>();
    visit(tree, (node) => {
      const isElement = node.type === "mdxJsxFlowElement" || node.type === "mdxJsxTextElement";
      if (isElement && node.name !== null && /^[A-Z]/.test(node.name)) used.add(node.name);
    });
    for (const name of [...used].sort()) {
      const module = mdxModules[name];
      if (module === undefined) continue;
      const path = fileURLToPath(new URL(`../${module}`, import.meta.url));
      if (!existsSync(path)) file.fail(`<${name}> has no module; expected it in app/${module}`);
      const what = path.endsWith(".mdx") ? name : `{ ${name} }`;
      tree.children.push(...parsed(this, `import ${what} from ${JSON.stringify(path)}`));
    }
  };
}
