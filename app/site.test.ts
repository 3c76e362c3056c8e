// Tests the built site through the server's own handler: every address, every link, and the content
// of each page.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ownOrigin } from "../server/http/site.ts";
import { budgetFaults } from "./build/budgets.ts";
import { listMdx, readContent } from "./build/content.ts";
import { hashesOf } from "./build/csp.ts";
import { ensureBuilt } from "./build/ensure-built.ts";
import { folders, listFiles, pagePaths } from "./build/site-folder.ts";
import { sidebarDocs } from "./config/lookup.ts";
import { operationPath, operations } from "./reference/operations.ts";
import { cardPath } from "./shell/card-path.ts";
import { siteConfig } from "./site-config.ts";
import { openTestApp, type TestApp } from "./testing/site-app.ts";

let site: TestApp;
let pages: readonly string[] = [];

beforeAll(async () => {
  await ensureBuilt();
  site = await openTestApp();
  pages = pagePaths();
});
afterAll(() => site[Symbol.asyncDispose]());

async function htmlOf(path: string): Promise<string> {
  return await (await site.get(path)).text();
}

const specified = [
  "/",
  "/api",
  "/docs",
  ...["intro", "quick-start", "architecture", "configuration", "embedded", "faq"].map(
    (doc) => `/docs/${doc}`,
  ),
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

const inSidebar = sidebarDocs(siteConfig, readContent().docs, {
  sidebarId: "docs",
  version: "current",
});

test("every document is in the sidebar, once", () => {
  const slugs = inSidebar.map(({ slug }) => slug);
  expect(slugs.toSorted()).toEqual(listMdx("docs").toSorted());
});

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

  test("shell: its parts are in order, in one language, left to right", async () => {
    for (const path of pages) {
      const html = await htmlOf(path);
      expect([path, html]).toEqual([path, expect.stringContaining('<html lang="en" dir="ltr"')]);
      const parts = ["skip-link", "announcement", "navbar", "main", "footer"].map((part) =>
        html.search(new RegExp(`<(a|section|header|main|footer) (class|id)="${part}[ "]`)),
      );
      expect([path, parts.toSorted((a, b) => a - b)]).toEqual([path, parts]);
      expect([path, Math.min(...parts) > 0]).toEqual([path, true]);
      expect(html).toContain('<a class="skip-link" href="#main">Skip to main content</a>');
    }
  });

  test("the bar: docs, API and console on the left, GitHub and where to start on the right", async () => {
    const html = await htmlOf("/");
    const [left = "", right = ""] = html.split('<ul class="navbar-items').slice(1);
    const links = (part: string) =>
      [
        ...part
          .slice(0, part.indexOf("navbar-small"))
          .matchAll(/<a [^>]*href="([^"]+)"[^>]*>([^<]+)/g),
      ].map(([, href, label]) => [label, href]);
    expect(links(`${left}navbar-small`)).toEqual([
      ["Docs", "/docs/intro"],
      ["API", "/api"],
      ["Blog", "/blog"],
      ...(siteConfig.url === null ? [["Console", "/console"]] : []),
    ]);
    expect(links(right)).toEqual([
      ["English", "/"],
      ["GitHub", siteConfig.repository ?? "https://github.com"],
      ["Get Started", "/docs/quick-start"],
    ]);
  });

  test.each(["/api/", "/docs/intro.html", "/docs/intro/index.html", "/index.html"])(
    "%s is normalised",
    async (path) => {
      const response = await site.get(path);
      expect(response.status).toBe(308);
      expect((await site.get(response.headers.get("location") ?? "")).status).toBe(200);
    },
  );

  test("any other path: the not-found page, with its status and the card of the site", async () => {
    const response = await site.get("/no/such/page");
    expect(response.status).toBe(404);
    const html = await response.text();
    expect(html).toContain("Nothing is held here.");
    const elsewhere = readFileSync(join(folders.site, "404.html"), "utf8");
    expect(elsewhere).toBe(html);
  });

  test("logo: it links to the configured address", async () => {
    expect(await htmlOf("/")).toContain(`<link rel="icon" href="${siteConfig.favicon}"`);
    const sign = await site.get(siteConfig.favicon);
    expect([sign.status, sign.headers.get("content-type")]).toEqual([200, "image/svg+xml"]);
  });

  test("API paths are not served by the site", async () => {
    expect((await site.get("/health")).headers.get("content-type")).toContain("json");
    expect((await site.get("/metrics")).status).toBe(200);
    expect((await site.get("/swagger")).status).toBe(200);
    expect((await site.get("/v1/queue.produce")).status).toBe(405);
    const unknown = await site.get("/v1/nothing", { accept: "*/*" });
    expect(await unknown.json()).toMatchObject({ code: 404 });
  });
});

test("every internal link and anchor has a target", async () => {
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
  test("names one script, preloads none, and has its styles in it", async () => {
    for (const path of [...pages, "/no/such/page"]) {
      const html = await htmlOf(path);
      const [, script] = /<html [^>]*data-entry="([^"]+)"/.exec(html) ?? [];
      expect([path, script]).toEqual([path, expect.stringMatching(/^\/assets\/entry\.client-/)]);
      expect([path, /<script[^>]*src=/.test(html)]).toEqual([path, false]);
      expect([path, /modulepreload|rel="stylesheet"|__reactRouter/.test(html)]).toEqual([
        path,
        false,
      ]);
      expect([path, html.includes("<style>")]).toEqual([path, true]);
    }
  });

  test("has the rules for its elements and those its scripts add, and no others", async () => {
    const sheets = new Map<string, string>();
    for (const path of pages) {
      const html = await htmlOf(path);
      sheets.set(path, /<style>([\s\S]*?)<\/style>/.exec(html)?.[1] ?? "");
    }
    const ruled = (sheet = "") => new Set(sheet.match(/(?<=\.)[a-z][\w-]*/gi));
    const all = new Set([...sheets.values()].flatMap((sheet) => [...ruled(sheet)]));
    for (const [path, sheet] of sheets) {
      const named = [...(await htmlOf(path)).matchAll(/ class="([^"]+)"/g)].flatMap(
        ([, names = ""]) => names.split(" "),
      );
      const own = ruled(sheet);
      const missing = [...named, "progress"].filter((name) => all.has(name) && !own.has(name));
      expect([path, missing]).toEqual([path, []]);
    }
    const [home, post] = [ruled(sheets.get("/")), ruled(sheets.get("/blog/welcome"))];
    expect(["sim-code-453", "error-screen", "proof"].map((name) => home.has(name))).toEqual([
      true,
      true,
      false,
    ]);
    expect(["sim-code-453", "error-screen", "home"].some((name) => post.has(name))).toBe(false);
  });

  test("allows its own inline scripts and no others", async () => {
    for (const path of pages) {
      const response = await site.get(path);
      const policy = response.headers.get("content-security-policy") ?? "";
      for (const hash of hashesOf(await response.text())) expect(policy).toContain(hash);
      expect(policy).toMatch(/script-src 'self'( 'sha256-[^']+')+;/);
    }
  });

  test("contains no placeholder", async () => {
    for (const path of pages) {
      const html = await htmlOf(path);
      const found = html.match(/ADDRESS-OF[A-Z-]*/g);
      expect([path, found]).toEqual([path, null]);
    }
  });

  test("images: each has a source, and its file is an image", async () => {
    const images: string[] = [];
    for (const path of pages) {
      for (const [tag] of (await htmlOf(path)).matchAll(/<img\b[^>]*>/g)) {
        const [, source] = /\ssrc="([^"]+)"/.exec(tag) ?? [];
        expect([path, tag, source]).toEqual([path, tag, expect.any(String)]);
        const response = await site.get(source ?? "");
        const type = response.headers.get("content-type");
        expect([source, response.status, type]).toEqual([source, 200, "image/webp"]);
        images.push(source ?? "");
      }
    }
    expect(new Set(images).size).toBe(18);
  });

  test("loads nothing from another origin", async () => {
    for (const path of pages) {
      const html = await htmlOf(path);
      const asked = [...html.matchAll(/<(?:script|img|iframe|source)[^>]+src="([^"]+)"/g)];
      expect(asked.filter(([, src = ""]) => /^(https?:)?\/\//.test(src))).toEqual([]);
    }
  });

  test("is within its budget, its inline scripts and styles too", () => {
    expect(budgetFaults(folders.site)).toEqual([]);
  });

  test("docs: lists its headings of levels 2 to 3, in their order", async () => {
    for (const path of pages.filter((one) => one.startsWith("/docs/"))) {
      const html = await htmlOf(path);
      const prose = /<div class="prose"[^>]*>[\s\S]*?<footer/.exec(html)?.[0] ?? "";
      const headings = [...prose.matchAll(/<h([23]) id="([^"]+)"/g)];
      const listed = [...html.matchAll(/<li data-depth="(\d)"><a href="#([^"]+)"/g)];
      const flat = (found: readonly RegExpExecArray[]) => found.map(([, depth, id]) => [depth, id]);
      // Once collapsed above the text, and once in a column beside it.
      expect([path, flat(listed)]).toEqual([path, [...flat(headings), ...flat(headings)]]);
    }
  });

  test("blog: lists all posts by year; each post has its reading time", async () => {
    const { posts } = readContent();
    for (const path of pages.filter((one) => /^\/blog(\/|$)/.test(one))) {
      const menu = /<nav aria-label="Blog posts">[\s\S]*?<\/nav>/.exec(await htmlOf(path))?.[0];
      const listed = (menu ?? "").split("<h2>").slice(1);
      const byYear = listed.flatMap((group) =>
        [...group.matchAll(/href="([^"]+)"/g)].map(([, href]) => [group.slice(0, 4), href]),
      );
      const expected = posts.map(({ date, slug }) => [date.slice(0, 4), `/blog/${slug}`]);
      expect([path, byYear]).toEqual([path, expected]);
    }
    for (const { slug, readingMinutes } of posts) {
      const html = (await htmlOf(`/blog/${slug}`)).replaceAll("<!-- -->", "");
      expect(html).toContain(`<span>${readingMinutes} min read</span>`);
    }
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

describe("the shell", () => {
  test("contents: the headings of levels 2 and 3, in their order", async () => {
    for (const path of pages.filter((one) => /^\/docs\/|^\/blog\/[^/]+-post$/.test(one))) {
      const main = /<main[\s\S]*<\/main>/.exec(await htmlOf(path))?.[0] ?? "";
      const [contents = ""] = /<details class="toc-inline">[\s\S]*?<\/details>/.exec(main) ?? [];
      const linked = [...contents.matchAll(/ href="#([^"]+)"/g)].map(([, id]) => id);
      const headings = [...main.matchAll(/<h[23] id="([^"]+)"/g)].map(([, id]) => id);
      expect([path, linked]).toEqual([path, headings]);
    }
  });

  test("blog: each post has its reading time; the sidebar lists all of them by year", async () => {
    const { posts } = readContent();
    for (const { slug } of posts) {
      const html = await htmlOf(`/blog/${slug}`);
      expect([slug, />\d+(?:<!-- -->)? min read</.test(html)]).toEqual([slug, true]);
      const groups = html
        .split('<section class="menu-group"><h2>')
        .slice(1)
        .map((group) => group.split("</section>")[0] ?? "");
      const listed = groups.map((group) => [
        group.slice(0, 4),
        [...group.matchAll(/ href="\/blog\/([^"]+)"/g)].map(([, post]) => post),
      ]);
      const years = [...new Set(posts.map(({ date }) => date.slice(0, 4)))];
      const expected = years.map((year) => [
        year,
        posts.filter(({ date }) => date.startsWith(year)).map((post) => post.slug),
      ]);
      // Once in the sidebar, and once in the menu without JavaScript.
      expect([slug, listed]).toEqual([slug, [...expected, ...expected]]);
    }
  });
});

test("files of the repository are shown as they are", async () => {
  const shown = {
    "/docs/deployment": ["deploy/systemd/holdfast.service"],
    "/docs/deployment-files": ["Dockerfile", "compose.yaml", "kubernetes/holdfast.yaml"].map(
      (file) => `deploy/${file}`,
    ),
  };
  for (const [path, files] of Object.entries(shown)) {
    const text = await htmlOf(`${path}.md`);
    for (const file of files) {
      expect(text).toContain(readFileSync(join(folders.root, file), "utf8").trimEnd());
    }
  }
  const [, ...versions] = readFileSync(join(folders.root, "CHANGELOG.md"), "utf8").split("\n## ");
  const headings = versions.map((version) => version.slice(0, version.indexOf("\n")));
  const text = await htmlOf("/docs/changelog.md");
  expect(headings).toContain("[Unreleased]");
  for (const heading of headings)
    expect(text).toContain(`## ${heading.replaceAll(/[[\]]/g, "")}\n`);
});

describe("for machines", () => {
  test("llms.txt names every doc and post, in the order of their menus; each link is there", async () => {
    const text = await htmlOf("/llms.txt");
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, href = ""]) => href);
    const at = { sidebarId: "docs", version: "current" };
    const docs = sidebarDocs(siteConfig, readContent().docs, at);
    expect(links).toEqual([
      ...docs.map(({ slug }) => `/docs/${slug}.md`),
      "/openapi.json",
      "/api.md",
      ...operations.map((operation) => `${operationPath(operation)}.md`),
      ...readContent().posts.map(({ slug }) => `/blog/${slug}.md`),
    ]);
    for (const link of links) expect((await site.get(link)).status).toBe(200);
  });

  test("every page is available as Markdown: at its address with .md, and by content negotiation", async () => {
    for (const path of pages) {
      const asked = await site.get(path, { accept: "text/markdown" });
      expect([path, asked.headers.get("content-type")]).toEqual([
        path,
        "text/markdown; charset=utf-8",
      ]);
      const text = await asked.text();
      expect([path, /^# \S/m.test(text)]).toEqual([path, true]);
      expect(await htmlOf(path === "/" ? "/index.md" : `${path}.md`)).toBe(text);
    }
  });

  test("both feeds have every post: title, address, date, authors, tags, and its whole text", async () => {
    const { posts, authors } = readContent();
    const forms = {
      rss: { entry: "item", author: "dc:creator", tag: (name: string) => `<category>${name}<` },
      atom: { entry: "entry", author: "name", tag: (name: string) => `<category label="${name}"` },
    };
    for (const [feed, { entry, author, tag }] of Object.entries(forms)) {
      const response = await site.get(`/blog/${feed}.xml`);
      expect(response.headers.get("content-type")).toContain(`application/${feed}+xml`);
      const entries = (await response.text()).split(`<${entry}>`).slice(1);
      expect(entries).toHaveLength(posts.length);
      for (const [index, post] of posts.entries()) {
        const text = entries[index] ?? "";
        const day = new Date(`${post.date}T00:00:00Z`);
        const writers = authors.filter(({ name }) => post.authors.includes(name));
        const expected = [
          `<![CDATA[${post.title}]]>`,
          `<![CDATA[${post.description}]]>`,
          `http://localhost/blog/${post.slug}`,
          feed === "rss" ? day.toUTCString() : day.toISOString(),
          ...writers.map(({ title }) => `<${author}>${title}</${author}>`),
          ...post.tags.map(tag),
        ];
        expect(expected.filter((part) => !text.includes(part))).toEqual([]);
        const headings = [...(await htmlOf(`/blog/${post.slug}`)).matchAll(/<h2 id="([^"]+)"/g)];
        for (const [heading] of headings) expect(text).toContain(heading);
        // Elements that are useless in a feed reader.
        expect(text.match(/<button|<!-- -->|(href|src)="[/#]|<author>\w/)).toBeNull();
      }
    }
  });

  test("the sitemap has every page once; each has its card", async () => {
    const addresses = [...(await htmlOf("/sitemap.xml")).matchAll(/<loc>([^<]+)</g)].map(
      ([, address = ""]) => new URL(address).pathname,
    );
    expect(addresses.sort()).toEqual(pages.filter((path) => path !== "/docs").sort());
    for (const path of addresses) {
      const card = await site.get(cardPath(path));
      expect(card.headers.get("content-type")).toBe("image/png");
    }
  });

  test("no file contains the address that the server replaces: another host would serve it", () => {
    const named = listFiles(folders.site).filter((file) =>
      readFileSync(join(folders.site, file)).includes(ownOrigin),
    );
    expect(named).toEqual([]);
  });

  test("openapi.json is that of the server", async () => {
    const served: unknown = await (await site.get("/openapi.json")).json();
    const own: unknown = JSON.parse(
      readFileSync(join(folders.root, "openapi/openapi.json"), "utf8"),
    );
    expect(served).toEqual(own);
  });
});
