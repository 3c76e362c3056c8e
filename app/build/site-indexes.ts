// The lists of what is there, for those who are not people: sitemap, robots, llms.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { siteConfig } from "../site-config.ts";
import { lastChanges } from "./last-changes.ts";
import type { PageText } from "./page-markdown.ts";
import { folders, writeDraft } from "./site-folder.ts";

const { url, title, description, blog } = siteConfig;

export function writeIndexes(pages: readonly PageText[]): void {
  writeDraft("sitemap.xml", sitemap(pages));
  writeDraft("robots.txt", `User-agent: *\nAllow: /\n\nSitemap: ${url}/sitemap.xml\n`);
  writeDraft("llms.txt", llms(pages));
  writeDraft("llms-full.txt", llmsFull(pages));
  writeDraft("openapi.json", readFileSync(join(folders.root, "openapi/openapi.json")));
}

function sitemap(pages: readonly PageText[]): string {
  const entries = pages.map(({ path }) => {
    const changed = lastChanges().get(`content${path}.mdx`);
    const lastmod = changed === undefined ? "" : `<lastmod>${changed}</lastmod>`;
    return `  <url><loc>${url}${path}</loc>${lastmod}</url>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${entries.join("")}</urlset>\n`;
}

const isDoc = ({ path }: PageText) => path.startsWith("/docs/");
const isApi = ({ path }: PageText) => path === "/api";
const isPost = ({ path }: PageText) =>
  path.startsWith(`${blog.path}/`) && !/\/(archive|tags|authors)(\/|$)/.test(path);

function llms(pages: readonly PageText[]): string {
  const list = (chosen: readonly PageText[]) =>
    chosen
      .map((page) => `- [${page.title}](${url}${page.path}.md): ${page.description}`)
      .join("\n");
  return `# ${title}

> ${description}

Every page is also served as Markdown: add \`.md\` to its address, or ask for \`text/markdown\`.

## Docs

${list(pages.filter(isDoc))}

## API

- [OpenAPI document](${url}/openapi.json): every operation, field and reply code
${list(pages.filter(isApi))}

## Articles

${list(pages.filter(isPost))}
`;
}

function llmsFull(pages: readonly PageText[]): string {
  const chosen = [...pages.filter(isDoc), ...pages.filter(isApi), ...pages.filter(isPost)];
  return chosen.map((page) => `<!-- ${url}${page.path} -->\n\n${page.markdown}`).join("\n---\n\n");
}
