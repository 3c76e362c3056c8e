// Parts of the shell in configurations that the site itself does not use.

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { readContent } from "../build/content.ts";
import type { SiteBrowser } from "./site-browser.ts";

const { docs } = readContent();
let built: Promise<string> | null = null;

async function buildSample(): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, "sample-page.tsx")],
    target: "browser",
    define: {
      "import.meta.env.SSR": "false",
      "import.meta.env.DEV": "false",
      "process.env.NODE_ENV": '"production"',
    },
    plugins: [
      {
        name: "content",
        setup(build) {
          build.onResolve({ filter: /^virtual:content$/ }, ({ path }) => ({
            path,
            namespace: "virtual",
          }));
          build.onLoad({ filter: /.*/, namespace: "virtual" }, () => ({
            loader: "js",
            contents: Object.entries(readContent())
              .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
              .join("\n"),
          }));
        },
      },
    ],
  });
  const script = outputs.find(({ kind }) => kind === "entry-point");
  if (script === undefined) throw new Error("the sample page has no script");
  return await script.text();
}

export function testSamples(browser: () => SiteBrowser): void {
  describe("parts of the shell that the site does not use itself", () => {
    async function open() {
      const visitor = await browser().fresh();
      const { page } = visitor;
      built ??= buildSample();
      const code = await built;
      await page.route("**/sample.js", (route) =>
        route.fulfill({ contentType: "text/javascript", body: code }),
      );
      await page.route("**/sample", (route) =>
        route.fulfill({
          contentType: "text/html",
          body: '<!doctype html><html data-theme="dark"><style>[data-theme="dark"] [data-only="light"]{display:none}</style><body><script type="module" src="/sample.js"></script></body></html>',
        }),
      );
      await page.goto(`${browser().url}/sample`);
      await page.locator("#items").waitFor();
      return visitor;
    }

    test("items of the bar: html as it is, docs by their names, lists that open", async () => {
      await using visitor = await open();
      const { page } = visitor;
      const bar = page.locator("#items");
      expect(await bar.locator("#raw").textContent()).toBe("raw");
      const doc = bar.getByRole("link", { name: "Questions" }).first();
      expect(await doc.getAttribute("href")).toBe("/docs/faq");
      expect(await doc.getAttribute("aria-current")).toBe("true");
      const named = bar.getByRole("link", { name: "Begin here" });
      expect(await named.getAttribute("href")).toBe("/docs/intro");
      const version = bar.getByRole("link", { name: "Next" });
      expect(await version.getAttribute("href")).toBe("/docs/faq");
      const inner = bar.locator(".dropdown-menu").first().locator("a");
      expect(await inner.first().isVisible()).toBe(false);
      await bar.locator("summary", { hasText: "More" }).click();
      await inner.first().waitFor();
      expect(await inner.allTextContents()).toEqual([
        "Blog",
        docs.find(({ slug }) => slug === "embedded")?.label ?? "",
        "Elsewhere",
      ]);
    });

    test("a list begins with its own page, shows html too, and each item has its class", async () => {
      await using visitor = await open();
      const { page } = visitor;
      const list = page.locator(".dropdown:has(summary.own)");
      await list.locator("summary").click();
      const own = list.getByRole("link", { name: "Questions" });
      expect(await own.getAttribute("href")).toBe("/docs/faq");
      expect(await list.locator("ul > li.line > hr").count()).toBe(1);
      expect(await page.locator("#items a.leaf").getAttribute("href")).toBe("/docs/intro");
    });

    test("the same items in the drawer: a list is open where its reader is", async () => {
      await using visitor = await open();
      const { page } = visitor;
      const listOf = (label: string) =>
        page.locator("#drawer details", { has: page.locator(`summary:text-is("${label}")`) });
      expect(await listOf("More").getAttribute("open")).toBeNull();
      expect(await listOf("Questions").getAttribute("open")).toBe("");
      expect(await listOf("Below").getAttribute("open")).toBe("");
      expect(await page.locator("#drawer li.line > hr").count()).toBe(1);
    });

    test("the announcement: its html, its colours, and no way to close it where there is none", async () => {
      await using visitor = await open();
      const { page } = visitor;
      const bar = page.locator("#announcement .announcement");
      expect(await bar.locator("b").textContent()).toBe("Told");
      const colors = await bar.evaluate((node) => {
        const { backgroundColor, color } = getComputedStyle(node);
        return [backgroundColor, color];
      });
      expect(colors).toEqual(["rgb(1, 2, 3)", "rgb(4, 5, 6)"]);
      expect(await bar.getByRole("button").count()).toBe(0);
    });

    test("an item that fails is caught with its configuration in the text", async () => {
      await using visitor = await open();
      const { page } = visitor;
      expect(await page.locator("#failure").textContent()).toBe(
        "a navbar item failed to render; it has neither 'to' nor 'href'; check this item of navbar.items in site-config.ts: {\"label\":\"Broken\"}",
      );
    });

    test("the footer: columns or one list, its style, its logo in both modes", async () => {
      await using visitor = await open();
      const { page } = visitor;
      const columns = page.locator("#columns .footer-dark");
      expect(await columns.locator("h2").allTextContents()).toEqual(["One", "Two"]);
      expect(await columns.locator("nav a").allTextContents()).toEqual(["In", "Out"]);
      const logo = columns.locator(".footer-brand a");
      expect(await logo.getAttribute("href")).toBe("https://example.com/");
      expect(await logo.locator("img[data-only=light]").isVisible()).toBe(false);
      expect(await logo.locator("img[data-only=dark]").getAttribute("src")).toBe("/b.svg");
      expect(await logo.locator("img").first().getAttribute("width")).toBe("20");
      const flat = page.locator("#flat .footer-light");
      expect(await flat.locator("h2").count()).toBe(0);
      expect(await flat.locator("nav a").allTextContents()).toEqual(["In", "Out"]);
      expect(await flat.locator(".footer-brand img").getAttribute("alt")).toBe("Sign");
      expect(await flat.locator(".footer-copyright").textContent()).toBe("Ours");
    });
  });
}
