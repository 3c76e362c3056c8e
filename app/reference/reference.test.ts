// The API's page: as text, in Chromium, and with the server it speaks to.

import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { axeFaults, leaveOut, setTheme } from "../browser/axe.ts";
import {
  browserTestTimeoutMs,
  everyShift,
  type SiteBrowser,
  siteBrowser,
  type Visitor,
} from "../browser/site-browser.ts";
import { shellPath } from "../build/chromium-path.ts";
import { buildTimeoutMs, ensureBuilt } from "../build/ensure-built.ts";
import { folders } from "../build/site-folder.ts";
import { apiMarkdown } from "./api-markdown.ts";
import { fragmentOf, operations } from "./operations.ts";
import { fieldsOf, type Schema } from "./schema-fields.ts";
import { readable } from "./static-html.ts";
import { usedStyles } from "./used-styles.ts";

setDefaultTimeout(browserTestTimeoutMs);
const inChromium = shellPath() === null ? describe.skip : describe.concurrent;

describe("Markdown", () => {
  const text = apiMarkdown();

  test("names every operation with its method and path, and every code it answers", () => {
    for (const { method, path, operationId, summary, responses } of operations) {
      const start = text.indexOf(
        `### ${summary}\n\n\`${method} ${path}\` (operation \`${operationId}\`)`,
      );
      expect([path, start > 0]).toEqual([path, true]);
      const next = text.indexOf("\n### ", start + 1);
      const own = text.slice(start, next === -1 ? undefined : next);
      for (const code of Object.keys(responses)) {
        expect([path, own.includes(code === "200" ? "200: " : `\n- ${code}: `)]).toEqual([
          path,
          true,
        ]);
      }
    }
  });

  test("has a row for every field that an operation takes or gives, nested ones by their path", () => {
    for (const { requestBody, responses } of operations) {
      const contents = [requestBody?.content, responses["200"]?.content];
      const schemas = contents.flatMap((content) =>
        Object.values(content ?? {}).map((media) => media.schema as Schema),
      );
      for (const { path } of schemas.flatMap((schema) => fieldsOf(schema))) {
        expect(text).toContain(`| \`${path}\` | `);
      }
    }
    expect(text).toContain("| `items[].utf8` | string | no |");
  });
});

describe("the text", () => {
  test("fragments are Scalar's without the document's name; operations have short ones too", () => {
    const rendered =
      '<main class="m"><section id="api-1/tag/items/produce" class="s"><!--[--><a href="#tag/items/produce">P</a><!--]--></section></main>';
    const place = { operationId: "produce", fragment: "tag/items/produce" };
    expect(readable(rendered, [place])).toBe(
      '<main id="main" tabindex="-1" class="m"><section id="tag/items/produce" class="s"><span id="produce" class="reference-anchor"></span><a href="#tag/items/produce">P</a></section></main>',
    );
  });

  test("styles: rules whose classes and marks are all there, in their groups and order", () => {
    const css =
      "@layer a{.x{color:red}.gone{color:red}}@media (width<9px){.gone .x{top:0}}.x:not(.gone):is(.p,.q){left:0}.w-\\[1\\,2\\]{width:1px}.x[data-v-1]{a:b}.x[data-v-2]{a:b}@keyframes k{from{top:0}}:root{--c:1}";
    expect(usedStyles(css, '<p class="x w-[1,2]" data-v-1>')).toBe(
      "@layer a{.x{color:red}}.x:not(.gone):is(.p,.q){left:0}.w-\\[1\\,2\\]{width:1px}.x[data-v-1]{a:b}@keyframes k{from{top:0}}:root{--c:1}",
    );
  });
});

inChromium("in Chromium", () => {
  let opened: SiteBrowser | null = null;
  const browser = () => {
    if (opened === null) throw new Error("Chromium is not open");
    return opened;
  };

  beforeAll(async () => {
    opened = await siteBrowser();
  }, buildTimeoutMs);

  async function open(path: string): Promise<Visitor & AsyncDisposable> {
    const visitor = await browser().fresh();
    await visitor.visit(path);
    await visitor.page.waitForLoadState("load");
    return visitor;
  }

  /** What is drawn for the first time moves what is below it, for some frames. */
  const atRest = (page: Page, selector: string) =>
    page.locator(selector).evaluate(async (element) => {
      let top = Number.NaN;
      for (let still = 0; still < 5; ) {
        await new Promise(requestAnimationFrame);
        const now = element.getBoundingClientRect().top;
        still = now === top ? still + 1 : 0;
        top = now;
      }
    });
  const live = (page: Page) =>
    page.locator('.reference[data-phase="live"]').waitFor({ state: "attached" });
  const phaseOf = (page: Page) => page.locator(".reference").getAttribute("data-phase");

  test("without JavaScript: every operation, its path and its fields, and links that lead to them", async () => {
    await using visitor = await browser().own({ javaScriptEnabled: false });
    const { page } = visitor;
    await page.goto(`${browser().url}/api`, { waitUntil: "load" });
    const text = (await page.locator("main").textContent()) ?? "";
    const fragments = await page
      .locator("aside a[href^='#']")
      .evaluateAll((links) => links.map((link) => link.getAttribute("href")));
    const ids = await page.locator("[id]").evaluateAll((elements) => elements.map(({ id }) => id));
    for (const operation of operations) {
      const { path, summary, operationId } = operation;
      expect([path, text.includes(path), text.includes(summary)]).toEqual([path, true, true]);
      expect(ids.filter((id) => id === operationId)).toHaveLength(1);
      const fragment = `#${fragmentOf(operation)}`;
      expect([path, fragments.filter((one) => one === fragment)]).toEqual([path, [fragment]]);
    }
    expect(await page.locator("h1").count()).toBe(1);
  });

  test("nothing of Scalar's is asked for before the first input; a press then brings it to life in place, and a test request gets a 200", async () => {
    await using visitor = await open("/api");
    const { page, errors, requests } = visitor;
    const button = 'section[id="tag/queues/listQueues"] .show-api-client-button';
    await page.locator(button).evaluate((element) => element.scrollIntoView({ block: "center" }));
    await atRest(page, button);
    expect(await phaseOf(page)).toBe("text");
    expect(requests.filter((url) => /live-reference|analytics-client|\.css/.test(url))).toEqual([]);
    const topOf = (selector: string) =>
      page.locator(selector).evaluate((element) => element.getBoundingClientRect().top);
    const before = await topOf(button);
    await page.locator(button).click();
    await live(page);
    const twin = '.reference-live section[id$="/tag/queues/listQueues"] .show-api-client-button';
    expect(Math.abs((await topOf(twin)) - before)).toBeLessThanOrEqual(1);
    expect(await everyShift(page)).toBeLessThanOrEqual(0.01);
    const replied = page.waitForResponse("**/v1/queues.list");
    await page.getByRole("dialog").locator("button:has-text('Send')").first().click();
    const response = await replied;
    expect(response.url()).toBe(`${browser().url}/v1/queues.list`);
    expect(response.status()).toBe(200);
    await page.waitForFunction(
      () => document.querySelector(".reference-text")?.childElementCount === 0,
    );
    expect(await page.locator("main.references-rendered").count()).toBe(1);
    expect(await page.locator(".references-rendered h1").count()).toBe(1);
    expect(await page.locator("#main").count()).toBe(1);
    // Scalar tries whether it may make code from text, and does without.
    expect(errors.filter((text) => text !== "policy: script-src forbids eval")).toEqual([]);
    const others = requests.filter((url) => !/^(data:|blob:)/.test(url));
    expect(others.filter((url) => !url.startsWith(browser().url))).toEqual([]);
  });

  test("an address of an operation leads to it, live", async () => {
    await using visitor = await open("/api#createQueue");
    const { page } = visitor;
    await live(page);
    await page.waitForFunction(() => {
      const top = document
        .querySelector('section[id$="/tag/queues/createQueue"]')
        ?.getBoundingClientRect().top;
      return top !== undefined && top >= 0 && top < 200;
    });
    expect(new URL(page.url()).hash).toBe("#tag/queues/createQueue");
  });

  test("a visit from within the site finds the text, and it follows the colour mode; axe finds nothing in what is live, in both modes at both widths", async () => {
    await using visitor = await open("/docs/intro");
    const { page } = visitor;
    await page.locator('.navbar-items a[href="/api"]').click();
    await page.locator(".reference .scalar-app main#main").first().waitFor();
    await live(page);
    await hasBackground(page, backgrounds.dark);
    expect(mostOf(await primaryColor(page))).toBe("blue");
    await setTheme(page, "light");
    await page.locator("body.light-mode").waitFor({ state: "attached" });
    await hasBackground(page, backgrounds.light);
    expect(await page.locator("head title").count()).toBe(1);
    expect(mostOf(await primaryColor(page))).toBe("blue");
    await leaveOut(page, [alike]);
    const faults = await axeFaults(page, async (theme) => {
      await setTheme(page, theme);
      await hasBackground(page, backgrounds[theme]);
    });
    expect(faults).toEqual([]);
  });

  const backgrounds = { dark: "rgb(11, 14, 19)", light: "rgb(251, 252, 253)" } as const;

  /** The operations are alike: the first two and one without a body stand for them. */
  const alike = {
    selector: operations
      .filter(({ operationId }) => !["produce", "lease", "health"].includes(operationId))
      .map(({ operationId }) => `section[id$="/${operationId}"]`)
      .join(),
    keptCount: 0,
  };

  const primaryColor = (page: Page) =>
    page
      .locator(".reference-live .scalar-app.scalar-api-reference")
      .evaluate((app) => getComputedStyle(app).getPropertyValue("--scalar-color-accent"));

  /** The channel of a colour such as `#1257d6` that has the most. */
  const mostOf = (color: string) => {
    const [red = 0, green = 0, blue = 0] = (color.match(/[\da-f]{2}/g) ?? []).map((part) =>
      Number.parseInt(part, 16),
    );
    return blue > Math.max(red, green) ? "blue" : color;
  };

  const hasBackground = (page: Page, color: string) =>
    page.waitForFunction((wanted) => {
      const app = document.querySelector(".reference-live .scalar-app");
      return app !== null && getComputedStyle(app).backgroundColor === wanted;
    }, color);

  test("axe finds nothing in the text, in both modes at both widths", async () => {
    await using visitor = await open("/api");
    await leaveOut(visitor.page, [alike]);
    expect(await axeFaults(visitor.page)).toEqual([]);
  });
});

test(
  "the live reference is within its weight",
  async () => {
    await ensureBuilt();
    const assets = join(folders.site, "assets");
    // What every page has loaded by then.
    const page = readFileSync(join(folders.site, "api/index.html"), "utf8");
    const seen = new Set([...page.matchAll(/\/assets\/([^"]+\.js)/g)].map(([, name = ""]) => name));
    const follow = (file: string): number => {
      if (seen.has(file)) return 0;
      seen.add(file);
      const code = readFileSync(join(assets, file), "utf8");
      const imports = [...code.matchAll(/(?:from|import)\s*["'`]\.\/([^"'`]+\.js)["'`]/g)];
      const inner = imports.reduce((sum, [, name = ""]) => sum + follow(name), 0);
      const compressed = join(assets, `${file}.br`);
      return inner + statSync(existsSync(compressed) ? compressed : join(assets, file)).size;
    };
    const [start] = [...new Bun.Glob("live-reference-*.js").scanSync(assets)];
    expect(follow(start ?? "")).toBeLessThanOrEqual(850_000);
  },
  buildTimeoutMs,
);
