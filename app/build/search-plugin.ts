// Serves the search data in development, without finished pages: the sections come from the
// sources, without the output of components.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createProcessor } from "@mdx-js/mdx";
import type { Root } from "mdast";
import type { Plugin } from "vite";
import { postPath } from "../blog/posts.ts";
import type { Section } from "../search/engine.ts";
import { siteConfig } from "../site-config.ts";
import { contentFolder, docsFolder, readContent } from "./content.ts";
import { mdxOptions } from "./mdx-options.ts";
import { sectionsOf } from "./search-sections.ts";

export function searchPlugin(): Plugin {
  return {
    name: "holdfast-search",
    apply: "serve",
    configureServer(server) {
      server.middlewares.use("/search.json", (_request, response) => {
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify(sourceSections()));
      });
    },
  };
}

export function sourceSections(): readonly Section[] {
  const { docs, posts } = readContent();
  const [version] = siteConfig.docs.versions;
  const processor = createProcessor({ ...mdxOptions(), format: "mdx" });
  const pages = [
    ...docs
      .filter((doc) => doc.version === version?.name)
      .map((doc) => ({
        ...doc,
        file: `${docsFolder(doc.version)}/${doc.slug}`,
        path: `${version?.path}/${doc.slug}`,
      })),
    ...posts.map((post) => ({ ...post, file: `blog/${post.file}`, path: postPath(post) })),
  ];
  return pages.flatMap(({ file, path, title, description }) => {
    const tree = processor.parse(readFileSync(join(contentFolder, `${file}.mdx`), "utf8")) as Root;
    const children = tree.children.filter(({ type }) => type !== "yaml" && type !== "mdxjsEsm");
    return sectionsOf({ path, title, description, tree: { ...tree, children } });
  });
}
