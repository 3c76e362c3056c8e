// The seven files of the console as they are built and served, and that the site knows them by one link alone.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ensureBuilt } from "../../app/build/ensure-built.ts";
import { folders, listFiles, pagePaths as sitePaths } from "../../app/build/site-folder.ts";
import { createAuthenticator } from "../../server/auth/authenticator.ts";
import { openSite } from "../../server/http/site.ts";
import { knownKey } from "../../server/testing/known-key.ts";
import { type ListeningApp, listeningApp } from "../../server/testing/listening-app.ts";
import { pagePaths } from "../addresses.ts";
import { consoleFaults } from "./console-budget.ts";

const basePath = "/holdfast";
let server: ListeningApp;

beforeAll(async () => {
  await ensureBuilt();
  const key = knownKey("ops");
  const log = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };
  const authenticate = createAuthenticator({
    keys: { find: (given) => (given === "right" ? key : null) },
    log,
    now: () => performance.now(),
  });
  const site = openSite({ ...folders, building: `${folders.site}.building` });
  server = await listeningApp({ basePath }, { site, authenticate });
});
afterAll(() => server.stop());

const places = pagePaths.flatMap((path) => [`/console${path}`, `${basePath}/console${path}`]);

describe.each(places)("%s", (path) => {
  const page = async () => await fetch(server.url + path, { headers: { accept: "text/html" } });

  test("is served without a key, with a policy that allows calls to its own server only", async () => {
    const response = await page();
    expect(response.status).toBe(200);
    const policy = response.headers.get("content-security-policy")?.split("; ") ?? [];
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).toContain("style-src 'self'");
    expect(policy.join()).not.toContain("unsafe");
    expect(policy.join()).not.toContain("http");
  });

  test("links existing files, all relative to its own address", async () => {
    const html = await (await page()).text();
    const named = [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, to = ""]) => to);
    const assets = named.filter((to) => /\.(js|css|svg)$/.test(to));
    expect(assets.length).toBeGreaterThan(3);
    for (const to of assets) {
      const response = await fetch(new URL(to, server.url + path));
      expect([to, response.status]).toEqual([to, 200]);
      const isHashed = /-[\w-]{8}\.(js|css)$/.test(to);
      expect([to, response.headers.get("cache-control")?.includes("immutable")]).toEqual([
        to,
        isHashed,
      ]);
    }
    const pages = named.filter((to) => !assets.includes(to) && to !== "/docs");
    for (const to of pages) {
      const { pathname } = new URL(to, server.url + path);
      expect([to, places.includes(pathname)]).toEqual([to, true]);
    }
  });

  test("contains the skeleton, and is not indexed by search engines", async () => {
    const html = await (await page()).text();
    expect(html).toContain('<meta name="robots" content="noindex">');
    expect(html).toContain('data-state="loading"');
    expect(html).toMatch(/<h1[ >]/);
    expect(html).not.toContain(" style=");
  });
});

test.each(["/console/", "/console/index.html", "/console/queue/", "/console/queue.html"])(
  "%s redirects to its canonical address with its query, also below the prefix",
  async (path) => {
    for (const prefix of ["", basePath]) {
      const response = await fetch(`${server.url}${prefix}${path}?name=a%2Fb`, {
        redirect: "manual",
      });
      const plain = path.replace(/\/$|\/index\.html$|\.html$/, "");
      expect([response.status, response.headers.get("location")]).toEqual([
        308,
        `${prefix}${plain}?name=a%2Fb`,
      ]);
    }
  },
);

test("below the prefix the rest of the site is not served", async () => {
  for (const [path, code] of [
    ["/console/no-such", 401],
    ["/consoles", 404],
    ["/docs/intro", 404],
  ] as const) {
    const response = await fetch(`${server.url}${basePath}${path}`, {
      headers: { accept: "text/html" },
    });
    expect([path, response.status]).toEqual([path, code]);
  }
});

test("site: no page, list or script names the console's files", () => {
  const texts = listFiles(folders.site).filter(
    (file) => /\.(html|js|txt|xml|json)$/.test(file) && !file.startsWith("console/"),
  );
  expect(texts.length).toBeGreaterThan(60);
  const naming = texts.filter((file) =>
    /console\/assets|href="\/console[^"]|(?<!docs)\/console<\/loc>/.test(
      readFileSync(join(folders.site, file), "utf8"),
    ),
  );
  expect(naming).toEqual([]);
  expect(sitePaths().filter((path) => path.startsWith("/console"))).toEqual([]);
});

test("console: none of its files contains the site's analytics", () => {
  const textsIn = (isOf: (file: string) => boolean) =>
    listFiles(folders.site)
      .filter((file) => file.endsWith(".js") && isOf(file))
      .map((file) => readFileSync(join(folders.site, file), "utf8"));
  const counts = (texts: readonly string[]) => texts.filter((text) => text.includes("openpanel"));
  const isConsole = (file: string) => file.startsWith("console/");
  expect(counts(textsIn((file) => !isConsole(file)))).not.toEqual([]);
  expect(textsIn(isConsole).length).toBeGreaterThan(5);
  expect(counts(textsIn(isConsole))).toEqual([]);
});

test("console: it is within its budget, which counts all of it", () => {
  expect(existsSync(join(folders.site, "console/index.html.br"))).toBe(true);
  expect(consoleFaults(folders.site)).toEqual([]);
});
