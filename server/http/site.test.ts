import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSite, ownOrigin } from "./site.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-site-"));
const folders = {
  site: join(folder, "site"),
  manifest: join(folder, "site.json"),
  building: join(folder, "site.building"),
};
const hash = "'sha256-abc='";

function put(path: string, content: string): void {
  const file = join(folders.site, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, content);
}

beforeAll(() => {
  put("index.html", "home");
  put("docs/intro/index.html", "intro page");
  put("docs/intro/index.html.br", "intro br");
  put("docs/intro/index.html.gz", "intro gz");
  put("docs/intro.md", "# Intro");
  put("assets/a-1.js", "code");
  put("404/index.html", "nothing here");
  put("blog/rss.xml", "<rss/>");
  writeFileSync(join(folder, "secret.txt"), "secret");
  const policies = { "/docs/intro/index.html": [hash] };
  const connect = ["https://events.example"];
  writeFileSync(folders.manifest, JSON.stringify({ policies, connect }));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function get(path: string, headers: Record<string, string> = {}, method = "GET") {
  const request = new Request(`http://localhost${path}`, { method, headers });
  const response = await openSite(folders)(request, path.split("?")[0] ?? "");
  return response === null
    ? null
    : { status: response.status, headers: response.headers, text: await response.text() };
}

test("a page is served at its one address, with its policy, and must be revalidated", async () => {
  const page = await get("/docs/intro");
  expect(page).toMatchObject({ status: 200, text: "intro page" });
  expect(page?.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page?.headers.get("cache-control")).toBe("public, max-age=0, must-revalidate");
  expect(page?.headers.get("x-content-type-options")).toBe("nosniff");
  expect(page?.headers.get("content-security-policy")?.split("; ")).toEqual([
    "default-src 'self'",
    `script-src 'self' ${hash}`,
    "style-src 'self' 'unsafe-inline'",
    "connect-src 'self' https://events.example",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ]);
});

test.each([
  ["/docs/intro/", "/docs/intro"],
  ["/docs/intro.html", "/docs/intro"],
  ["/docs/intro/index.html", "/docs/intro"],
  ["/docs/intro/?a=1&b=2", "/docs/intro?a=1&b=2"],
  ["/index.html", "/"],
])("%s is moved for good to %s", async (path, location) => {
  const reply = await get(path);
  expect([reply?.status, reply?.headers.get("location")]).toEqual([308, location]);
});

describe("an address that is none", () => {
  test.each([
    "/nope",
    "/nope.html",
    "/404",
    "/404/index.html",
    "/%zz",
    "/docs/intro/index.html.br",
  ])("%s: a browser gets the page, with 404", async (path) => {
    expect(await get(path, { accept: "text/html,*/*" })).toMatchObject({
      status: 404,
      text: "nothing here",
    });
  });

  test("a client of the API gets the API's error reply", async () => {
    expect(await get("/nope", { accept: "*/*" })).toBeNull();
  });

  test.each([
    "/../secret.txt",
    "/%2e%2e/secret.txt",
    "/..%2fsecret.txt",
    "/assets/../../secret.txt",
    "/%2e%2e%2fsecret.txt",
    "//secret.txt",
  ])("%s leads nowhere on disk", async (path) => {
    const reply = await openSite(folders)(new Request("http://localhost/"), path);
    expect(reply).toBeNull();
  });
});

describe("Accept-Encoding", () => {
  test.each([
    ["br, gzip", "br", "intro br"],
    ["gzip, deflate", "gzip", "intro gz"],
    ["gzip;q=1.0, br;q=0", "gzip", "intro gz"],
    ["identity", null, "intro page"],
  ])("%s", async (accepted, encoding, text) => {
    const reply = await get("/docs/intro", { "accept-encoding": accepted });
    expect([reply?.headers.get("content-encoding"), reply?.text]).toEqual([encoding, text]);
    expect(reply?.headers.get("vary")).toContain("accept-encoding");
  });
});

test("Accept: text/markdown gets the text of the same address", async () => {
  const reply = await get("/docs/intro", { accept: "text/markdown" });
  expect(reply).toMatchObject({ status: 200, text: "# Intro" });
  expect(reply?.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
  expect(reply?.headers.get("vary")).toBe("accept, accept-encoding");
  expect((await get("/docs/intro.md"))?.text).toBe("# Intro");
});

test("an unchanged file is not sent again, per encoding", async () => {
  const etag = (await get("/docs/intro"))?.headers.get("etag") ?? "";
  const seen = { "if-none-match": `"other", W/${etag}` };
  expect(await get("/docs/intro", seen)).toMatchObject({ status: 304, text: "" });
  expect((await get("/docs/intro", { ...seen, "accept-encoding": "br" }))?.status).toBe(200);
});

test("HEAD: everything but the content", async () => {
  const reply = await get("/docs/intro", { "accept-encoding": "br" }, "HEAD");
  expect(reply).toMatchObject({ status: 200, text: "" });
  expect(reply?.headers.get("content-length")).toBe("8");
});

test("a file with its hash in its name is kept for ever", async () => {
  const reply = await get("/assets/a-1.js");
  expect(reply?.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(reply?.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
});

test("while the site is being built every client gets 503 and a text; afterwards the page", async () => {
  const late = { ...folders, site: join(folder, "late"), building: join(folder, "late.building") };
  const site = openSite(late);
  const request = () => new Request("http://localhost/", { headers: { accept: "text/html" } });
  expect(await site(request(), "/")).toBeNull();
  writeFileSync(late.building, "");
  utimesSync(late.building, new Date(), new Date(Date.now() - 90_000));
  const respond = async (path: string, headers: Record<string, string>, method = "GET") => {
    const init = { method, headers };
    const reply = await site(new Request(`http://localhost${path}`, init), path);
    if (reply === null) return null;
    expect([reply.status, reply.headers.get("retry-after")]).toEqual([503, "3"]);
    return [reply.headers.get("content-type"), await reply.text()] as const;
  };
  const [type, page] = (await respond("/", { accept: "text/html" })) ?? [];
  expect(type).toBe("text/html; charset=utf-8");
  expect(page).toContain('<meta http-equiv="refresh" content="3">');
  expect(page).toMatch(/The build started [1-9]\d*m\d+s ago/);
  for (const path of ["/", "/docs/intro"]) {
    const [plain, text] = (await respond(path, { accept: "*/*" })) ?? [];
    expect(plain).toBe("text/plain; charset=utf-8");
    expect(text).toMatch(/^The site is being built.* The build started [1-9]\d*m\d+s ago .*\n$/);
  }
  expect(await respond("/", { accept: "*/*" }, "HEAD")).toEqual(["text/plain; charset=utf-8", ""]);
  // Paths below the API's prefix are left to the API.
  expect(await respond("/v1/nope", { accept: "*/*" })).toBeNull();
  mkdirSync(late.site);
  writeFileSync(join(late.site, "index.html"), "home");
  expect((await site(request(), "/"))?.status).toBe(200);
});

test("a text that needs absolute URLs has the origin of the request, in HEAD too", async () => {
  const [own, other] = [`<a>${ownOrigin}/b</a>`, "http://queue.internal:9090"];
  const manifest = JSON.stringify({ policies: {}, ownOrigin: { "/named.xml": own } });
  writeFileSync(`${folders.manifest}.named`, manifest);
  const site = openSite({ ...folders, manifest: `${folders.manifest}.named` });
  const ask = async (method: string) =>
    await site(
      new Request(`${other}/named.xml`, { method, headers: { "accept-encoding": "br" } }),
      "/named.xml",
    );
  const [got, head] = [await ask("GET"), await ask("HEAD")];
  expect(await got?.text()).toBe(`<a>${other}/b</a>`);
  expect(got?.headers.get("content-type")).toBe("application/xml; charset=utf-8");
  expect(head?.headers.get("content-length")).toBe(String(`<a>${other}/b</a>`.length));
});
