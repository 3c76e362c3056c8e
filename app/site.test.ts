// The built site, through the server's own handler: every address, every link, and
// what each page is made of.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { budgetFaults } from "./build/budgets.ts";
import { readContent } from "./build/content.ts";
import { hashesOf } from "./build/csp.ts";
import { buildTimeoutMs, ensureBuilt } from "./build/ensure-built.ts";
import { folders, listFiles } from "./build/site-folder.ts";
import { openTestApp, type TestApp } from "./build/test-app.ts";
import { siteConfig } from "./site-config.ts";

let site: TestApp;
let pages: readonly string[] = [];

beforeAll(async () => {
  await ensureBuilt();
  site = await openTestApp();
  pages = listFiles(folders.site)
    .filter((file) => file.endsWith("index.html") && file !== "404/index.html")
    .map((file) => `/${file.replace(/\/?index\.html$/, "")}`);
}, buildTimeoutMs);
afterAll(() => site[Symbol.asyncDispose]());

async function htmlOf(path: string): Promise<string> {
  return await (await site.get(path)).text();
}

const specified = [
  "/",
  "/api",
  "/docs",
  ...[
    "intro",
    "quick-start",
    "client",
    "command-line",
    "architecture",
    "configuration",
    "operations",
    "testing",
    "embedded",
    "faq",
  ].map((doc) => `/docs/${doc}`),
  "/blog",
  "/blog/archive",
  "/blog/authors",
  ...readContent().authors.flatMap(({ name }) => [
    `/blog/authors/all-${name}-articles`,
    `/blog/authors/${name}`,
  ]),
  "/blog/tags",
  ...["docusaurus", "facebook", "hello", "hola"].map((tag) => `/blog/tags/${tag}`),
  ...["first-blog-post", "long-blog-post", "mdx-blog-post", "welcome"].map(
    (post) => `/blog/${post}`,
  ),
  "/markdown-page",
];

describe("addresses", () => {
  test.each(specified)("%s is a page with one title and one heading", async (path) => {
    const response = await site.get(path);
    const html = await response.text();
    expect(response.status).toBe(200);
    expect([...html.matchAll(/<title>([^<]+)<\/title>/g)]).toHaveLength(1);
    expect([...html.matchAll(/<h1[ >]/g)]).toHaveLength(1);
    expect(html).toContain('<main id="main"');
    expect(html).toMatch(/<title>[^<]+ \| [^<]+<\/title>/);
  });

  test("/docs shows the main doc and names its one address", async () => {
    const html = await htmlOf("/docs");
    expect(html).toContain(`<link rel="canonical" href="${siteConfig.url}/docs/intro"/>`);
  });

  test.each(["/api/", "/docs/intro.html", "/docs/intro/index.html", "/index.html"])(
    "%s is normalised",
    async (path) => {
      const response = await site.get(path);
      expect(response.status).toBe(308);
      expect((await site.get(response.headers.get("location") ?? "")).status).toBe(200);
    },
  );

  test("any other path: the not-found page, with its status", async () => {
    const response = await site.get("/no/such/page");
    expect(response.status).toBe(404);
    expect(await response.text()).toContain("Nothing is held here.");
  });

  test("the API keeps what is its own", async () => {
    expect((await site.get("/health")).headers.get("content-type")).toContain("json");
    expect((await site.get("/metrics")).status).toBe(200);
    expect((await site.get("/swagger")).status).toBe(200);
    expect((await site.get("/v1/queue.produce")).status).toBe(405);
    const unknown = await site.get("/v1/nothing", { accept: "*/*" });
    expect(await unknown.json()).toMatchObject({ code: 404 });
  });
});

test("every link and every anchor within the site leads somewhere", async () => {
  const ids = new Map<string, ReadonlySet<string>>();
  const links: { from: string; href: string }[] = [];
  for (const path of pages) {
    const html = await htmlOf(path);
    ids.set(path, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id)));
    for (const [, href = ""] of html.matchAll(/<a [^>]*href="([^"]+)"/g)) {
      links.push({ from: path, href: href.replaceAll("&amp;", "&") });
    }
  }
  expect(links.length).toBeGreaterThan(500);
  const broken: string[] = [];
  const statuses = new Map<string, number>();
  for (const { from, href } of links) {
    const url = new URL(href, `http://localhost${from}`);
    if (url.host !== "localhost") continue;
    const known = statuses.get(url.pathname) ?? (await site.get(url.pathname)).status;
    statuses.set(url.pathname, known);
    const anchor = decodeURIComponent(url.hash.slice(1));
    const hasAnchor = anchor === "" || ids.get(url.pathname)?.has(anchor) === true;
    if (known !== 200 || !hasAnchor) broken.push(`${from}: ${href}`);
  }
  expect([...new Set(broken)]).toEqual([]);
});

describe("each page", () => {
  test("starts one boot module late, preloads nothing, and has its styles in it", async () => {
    for (const path of pages) {
      const html = await htmlOf(path);
      expect([path, html.match(/<script type="module"/g)?.length]).toEqual([path, 1]);
      expect([path, /modulepreload" href|rel="stylesheet"/.test(html)]).toEqual([path, false]);
      expect([path, html.includes("<style data-precedence")]).toEqual([path, true]);
      expect([path, html.includes("streamController.enqueue")]).toEqual([path, false]);
    }
  });

  test("may run its own inline scripts and no others", async () => {
    for (const path of pages) {
      const response = await site.get(path);
      const policy = response.headers.get("content-security-policy") ?? "";
      for (const hash of hashesOf(await response.text())) expect(policy).toContain(hash);
      expect(policy).toMatch(/script-src 'self'( 'sha256-[^']+')+;/);
    }
  });

  test("asks for nothing of another origin", async () => {
    for (const path of pages) {
      const html = await htmlOf(path);
      const asked = [...html.matchAll(/<(?:script|img|iframe|source)[^>]+src="([^"]+)"/g)];
      expect(asked.filter(([, src = ""]) => /^(https?:)?\/\//.test(src))).toEqual([]);
    }
  });

  test("is within its budget, its inline scripts and styles too", () => {
    expect(budgetFaults(folders.site)).toEqual([]);
  });

  test("has its text as Markdown, with every heading of the page", async () => {
    const articles = pages.filter((path) => /^\/(docs\/.|blog\/[^/]+-post|markdown)/.test(path));
    for (const path of articles) {
      const text = await (await site.get(path, { accept: "text/markdown" })).text();
      const main = /<main[\s\S]*<\/main>/.exec(await htmlOf(path))?.[0] ?? "";
      const headings = [...main.matchAll(/<h[1-3][^>]*>([\s\S]*?)<\/h[1-3]>/g)];
      const flat = (source: string) => source.replace(/[^\p{L}\p{N}]/gu, "");
      for (const [, heading = ""] of headings) {
        const plain = heading
          .replace(/<a class="anchor"[\s\S]*?<\/a>/, "")
          .replace(/<[^>]+>/g, "")
          .replace(/&[#\w]+;/g, "");
        expect([path, plain, flat(text).includes(flat(plain))]).toEqual([path, plain, true]);
      }
    }
  });
});

describe("for those who are not people", () => {
  test("llms.txt names every doc and post; each link is there", async () => {
    const text = await htmlOf("/llms.txt");
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, href = ""]) => href);
    expect(links.length).toBeGreaterThan(10);
    for (const link of links) {
      expect((await site.get(link.replace(siteConfig.url, ""))).status).toBe(200);
    }
  });

  test("both feeds have every post", async () => {
    const { posts } = readContent();
    for (const feed of ["rss", "atom"]) {
      const response = await site.get(`/blog/${feed}.xml`);
      expect(response.headers.get("content-type")).toContain(`application/${feed}+xml`);
      const text = await response.text();
      for (const { slug } of posts) expect(text).toContain(`/blog/${slug}`);
    }
  });

  test("the sitemap has every page once; each has its card", async () => {
    const addresses = [...(await htmlOf("/sitemap.xml")).matchAll(/<loc>([^<]+)</g)].map(
      ([, address = ""]) => new URL(address).pathname,
    );
    expect(addresses.sort()).toEqual(pages.filter((path) => path !== "/docs").sort());
    for (const path of pages) {
      const card = /og:image" content="([^"]+)"/.exec(await htmlOf(path))?.[1] ?? "";
      expect((await site.get(new URL(card).pathname)).headers.get("content-type")).toBe(
        "image/png",
      );
    }
  });

  test("the description of the API is the server's own", async () => {
    const served: unknown = await (await site.get("/openapi.json")).json();
    const own: unknown = JSON.parse(
      readFileSync(join(folders.root, "openapi/openapi.json"), "utf8"),
    );
    expect(served).toEqual(own);
  });
});
