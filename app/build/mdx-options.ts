// Options that convert MDX to a page: front matter, GitHub's Markdown, headings with anchors, code
// highlighted at build time, and the page's `handle`.

import { fileURLToPath } from "node:url";
import type { CompileOptions } from "@mdx-js/mdx";
import rehypeShiki from "@shikijs/rehype";
import {
  transformerMetaHighlight,
  transformerNotationDiff,
  transformerNotationHighlight,
} from "@shikijs/transformers";
import rehypeAutolinkHeadings from "rehype-autolink-headings";
import rehypeSlug from "rehype-slug";
import remarkFrontmatter from "remark-frontmatter";
import remarkGfm from "remark-gfm";
import remarkMdxFrontmatter from "remark-mdx-frontmatter";
import { codeTheme, staticCode } from "./code.ts";
import { rehypeCellLabels } from "./rehype-cell-labels.ts";
import { rehypeCheckboxNames } from "./rehype-checkbox-names.ts";
import { remarkInclude } from "./remark-include.ts";
import { remarkPage } from "./remark-page.ts";

export function mdxOptions(): Readonly<CompileOptions> {
  return {
    providerImportSource: fileURLToPath(new URL("../mdx-components.tsx", import.meta.url)),
    remarkPlugins: [
      remarkFrontmatter,
      [remarkMdxFrontmatter, { name: "frontmatter" }],
      remarkGfm,
      remarkInclude,
      remarkPage,
    ],
    rehypePlugins: [
      rehypeSlug,
      [
        rehypeAutolinkHeadings,
        {
          behavior: "append",
          test: ["h2", "h3", "h4"],
          properties: { className: ["anchor"], ariaLabel: "Link to this section" },
          content: { type: "text", value: "#" },
        },
      ],
      rehypeCellLabels,
      rehypeCheckboxNames,
      [
        rehypeShiki,
        {
          theme: codeTheme,
          // Loading all languages would take seconds.
          langs: [],
          lazy: true,
          defaultLanguage: "text",
          addLanguageClass: true,
          mergeSameStyleTokens: true,
          transformers: [
            transformerMetaHighlight(),
            transformerNotationDiff({ matchAlgorithm: "v3" }),
            transformerNotationHighlight({ matchAlgorithm: "v3" }),
            staticCode,
          ],
        },
      ],
    ],
  };
}
