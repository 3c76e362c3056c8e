// The two addresses known only to a publisher: that of the site, and that of its sources.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { missingAddresses } from "../site-config.ts";
import { openTestApp, type TestApp } from "../testing/site-app.ts";
import { ensureBuilt } from "./ensure-built.ts";
import { feedsOf } from "./feeds.ts";
import { folders, listFiles } from "./site-folder.ts";
import { robotFiles } from "./site-indexes.ts";

const published = "https://queue.example.org";

test("build: a missing public address is named", () => {
  const repository = "https://github.com/a/b";
  expect(missingAddresses({ url: published, repository })).toEqual([]);
  const both = missingAddresses({ url: null, repository: null });
  expect(both.map((text) => text.split(":")[0])).toEqual(["SITE_URL", "SITE_REPOSITORY"]);
});

test("feeds, sitemap and robots.txt: every address begins with the given origin", () => {
  const files = { ...feedsOf([], published), ...robotFiles([{ path: "/docs/a" }], published) };
  expect(Object.keys(files).sort()).toEqual([
    "/blog/atom.xml",
    "/blog/rss.xml",
    "/robots.txt",
    "/sitemap.xml",
  ]);
  for (const text of Object.values(files)) expect(text).toContain(`${published}/`);
  expect(files["/sitemap.xml"]).toContain(`<loc>${published}/docs/a</loc>`);
});

test("with both addresses: canonical link, card, edit links and GitHub link are set", () => {
  const code = `
    const { createElement } = await import("react");
    const { renderToStaticMarkup } = await import("react-dom/server");
    const { PageMeta } = await import("./app/shell/page-meta.tsx");
    const { siteConfig } = await import("./app/site-config.ts");
    const page = { title: "A", description: "b", path: "/docs/a" };
    const head = renderToStaticMarkup(createElement(PageMeta, page));
    const { editUrl, navbar } = siteConfig;
    const gitHub = navbar.items.find(({ label }) => label === "GitHub");
    console.log(JSON.stringify({ head, editUrl, gitHub }));`;
  const env = { ...process.env, SITE_URL: published, SITE_REPOSITORY: "https://github.com/a/b" };
  const { stdout } = Bun.spawnSync([process.execPath, "-e", code], { cwd: folders.root, env });
  const { head, editUrl, gitHub } = JSON.parse(stdout.toString());
  expect(head).toContain(`<link rel="canonical" href="${published}/docs/a"/>`);
  expect(head).toContain(`<meta property="og:url" content="${published}/docs/a"/>`);
  expect(head).toContain(`<meta property="og:image" content="${published}/cards/docs-a.png"/>`);
  expect(editUrl).toBe("https://github.com/a/b/edit/main");
  // As specified: an external link, on the right, which is the default position.
  expect(gitHub).toEqual({ label: "GitHub", href: "https://github.com/a/b" });
});

describe("the site built without addresses", () => {
  let site: TestApp;
  beforeAll(async () => {
    await ensureBuilt();
    site = await openTestApp();
  });
  afterAll(() => site[Symbol.asyncDispose]());

  test("no page has a canonical link, a card, an edit link or a placeholder address", () => {
    const texts = listFiles(folders.site).filter((file) => /\.(html|md)$|^llms/.test(file));
    const invented = /rel="canonical"|og:(url|image)|\/edit\/main|holdfast\.example|own-origin/;
    const found = texts.flatMap((file) => {
      const fault = invented.exec(readFileSync(join(folders.site, file), "utf8"));
      return fault === null ? [] : [`${file}: ${fault[0]}`];
    });
    expect(found).toEqual([]);
  });

  test("every link target is a file, so any static host can serve the site", () => {
    const files = new Set(listFiles(folders.site).map((file) => `/${file}`));
    const isThere = (path: string) =>
      [path, `${path}/index.html`, `${path}index.html`, `${path}.html`].some((one) =>
        files.has(one),
      );
    // Paths of the server itself, which a page labels as the reader's own.
    const ofServer = /^\/(console|swagger|metrics|health|livez|readyz)(\/|$)/;
    const broken = [...files]
      .filter((file) => file.endsWith(".html"))
      .flatMap((file) => {
        const html = readFileSync(join(folders.site, file), "utf8");
        const paths = [...html.matchAll(/ href="(\/[^"#?]*)/g)].map(([, path = ""]) => path);
        return [...new Set(paths)]
          .filter((path) => !ofServer.test(path) && !isThere(path))
          .map((path) => `${file}: ${path}`);
      });
    expect(broken).toEqual([]);
  });

  test("feeds, sitemap and robots.txt contain the address of the requested server", async () => {
    for (const path of ["/blog/rss.xml", "/blog/atom.xml", "/sitemap.xml", "/robots.txt"]) {
      const text = await (await site.get(path)).text();
      const own = [...text.matchAll(/http:\/\/localhost(\/[^\s"<#]*)/g)].map(([, to = ""]) => to);
      expect([path, own.length > 0, text.includes("own-origin")]).toEqual([path, true, false]);
      for (const to of new Set(own)) expect([to, (await site.get(to)).status]).toEqual([to, 200]);
    }
  });

  test("llms.txt and Markdown contain the address of the requested server", async () => {
    const llms = await (await site.get("/llms.txt")).text();
    expect(llms).toContain("](/docs/intro.md)");
    expect(await (await site.get("/docs/intro.md")).text()).toMatch(/\]\(\/docs\/[a-z-]+\)/);
  });

  test("every kind of built file has its content type", async () => {
    const paths = listFiles(folders.site).filter((path) => !/\.(br|gz)$/.test(path));
    const ofEach = new Map(paths.map((path) => [path.split(".").at(-1), path]));
    expect([...ofEach.keys()]).toContain("webp");
    for (const path of ofEach.values()) {
      const { headers } = await site.get(`/${path.replace(/(^|\/)index\.html$/, "$1")}`);
      expect([path, headers.get("content-type")]).not.toEqual([path, "application/octet-stream"]);
    }
  });

  test("favicon.ico contains one image of 32 by 32; the touch icon is 180 by 180", async () => {
    const home = await (await site.get("/")).text();
    expect(home).toContain('<link rel="icon" href="/favicon.ico" sizes="32x32"/>');
    expect(home).toContain('<link rel="apple-touch-icon" href="/apple-touch-icon.png"/>');
    const ico = await site.get("/favicon.ico");
    expect(ico.headers.get("content-type")).toBe("image/x-icon");
    const bytes = Buffer.from(await ico.arrayBuffer());
    expect([...bytes.subarray(0, 8)]).toEqual([0, 0, 1, 0, 1, 0, 32, 32]);
    const start = bytes.readUInt32LE(18);
    expect(start + bytes.readUInt32LE(14)).toBe(bytes.length);
    expect(sizeOf(bytes.subarray(start))).toEqual([32, 32]);
    const touch = Buffer.from(await (await site.get("/apple-touch-icon.png")).arrayBuffer());
    expect(sizeOf(touch)).toEqual([180, 180]);
  });
});

function sizeOf(png: Buffer): readonly number[] {
  expect(png.toString("latin1", 1, 4)).toBe("PNG");
  return [png.readUInt32BE(16), png.readUInt32BE(20)];
}
