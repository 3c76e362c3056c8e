// Lists of the site's content for programs: sitemap, robots, llms.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { postPath } from "../blog/posts.ts";
import { sidebarDocs } from "../config/lookup.ts";
import { docs, posts } from "../facts/content.ts";
import { operationPath, operations } from "../reference/operations.ts";
import { siteConfig } from "../site-config.ts";
import { lastChanges } from "./last-changes.ts";
import type { PageText } from "./page-markdown.ts";
import type { SitePage } from "./pages.ts";
import { folders, writeDraft } from "./site-folder.ts";

const { title, description } = siteConfig;
/** Links may be relative to the server that the page came from. */
const url = siteConfig.url ?? "";

export function writeIndexes(pages: readonly PageText[]): void {
  writeDraft("llms.txt", llms(pages));
  writeDraft("llms-full.txt", llmsFull(pages));
  for (const file of ["openapi.json", "holdfast.proto"]) {
    writeDraft(file, readFileSync(join(folders.root, "openapi", file)));
  }
}

/** Files for crawlers by path; their addresses must be absolute. */
export function robotFiles(
  pages: readonly Pick<SitePage, "path">[],
  origin: string,
): Record<string, string> {
  return {
    "/sitemap.xml": sitemap(pages, origin),
    "/robots.txt": `User-agent: *\nAllow: /\n\nSitemap: ${origin}/sitemap.xml\n`,
  };
}

function sitemap(pages: readonly Pick<SitePage, "path">[], origin: string): string {
  const entries = pages.map(({ path }) => {
    const changed = lastChanges().get(`content${path}.mdx`);
    const lastmod = changed === undefined ? "" : `<lastmod>${changed}</lastmod>`;
    return `  <url><loc>${origin}${path}</loc>${lastmod}</url>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${entries.join("")}</urlset>\n`;
}

/** In reading order: docs like the sidebar, articles like the blog. */
function inOrder(pages: readonly PageText[]) {
  const at = (path: string) => pages.filter((page) => page.path === path);
  const [sidebarId = "docs"] = Object.keys(siteConfig.docs.sidebars);
  return {
    docPages: siteConfig.docs.versions.flatMap(({ name, path }) =>
      sidebarDocs(siteConfig, docs, { sidebarId, version: name }).flatMap(({ slug }) =>
        at(`${path}/${slug}`),
      ),
    ),
    apiPages: ["/api", ...operations.map(operationPath)].flatMap(at),
    articles: posts.flatMap((post) => at(postPath(post))),
  };
}

function llms(pages: readonly PageText[]): string {
  const { docPages, apiPages, articles } = inOrder(pages);
  const list = (chosen: readonly PageText[]) =>
    chosen
      .map((page) => `- [${page.title}](${url}${page.path}.md): ${page.description}`)
      .join("\n");
  return `# ${title}

> ${description}

Every page is also served as Markdown: add \`.md\` to its address, or ask for \`text/markdown\`.

## Docs

${list(docPages)}

## API

- [OpenAPI document](${url}/openapi.json): the same in one file
${list(apiPages)}

## Articles

${list(articles)}
`;
}

function llmsFull(pages: readonly PageText[]): string {
  const { docPages, apiPages, articles } = inOrder(pages);
  const chosen = [...docPages, ...apiPages, ...articles];
  return chosen.map((page) => `<!-- ${url}${page.path} -->\n\n${page.markdown}`).join("\n---\n\n");
}
