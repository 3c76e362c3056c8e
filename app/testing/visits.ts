// From one page to another, and what becomes of it when something fails on the way.

import { describe, expect, test } from "bun:test";
import { progressDelayMs } from "../config/constants.ts";
import { notKept, type SiteBrowser } from "./site-browser.ts";

/** Longer than the router waits before it takes a pointer on a link for an intent. */
const intentMs = 200;

export function testVisits(browser: () => SiteBrowser): void {
  test("a visit within the site: one document, the new title told, the focus on the content", async () => {
    await using visitor = await browser().fresh();
    const { page, requests, errors, visit } = visitor;
    await visit("/docs/intro");
    await page.locator('.docs-sidebar a[href="/docs/faq"]').click();
    await page.waitForURL("**/docs/faq");
    await page.locator('[aria-live="polite"]:has-text("Questions")').waitFor({ state: "attached" });
    expect(requests.filter((url) => /\/docs\/[a-z-]+$/.test(url))).toHaveLength(1);
    expect(await page.locator("head title").count()).toBe(1);
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");
    await page.locator('.navbar-items a[href="/blog"]').click();
    await page.waitForURL("**/blog");
    await page.locator(".blog").waitFor();
    expect(await page.locator(".blog").evaluate((e) => getComputedStyle(e).display)).toBe("grid");
    await page.goBack();
    await page.locator("h1:has-text('Questions')").waitFor();
    expect(errors).toEqual([]);
  });

  test.each([
    ["/docs/quick-start", "Quick start", "main"],
    ["/docs/quick-start#reply-codes", "Quick start", "reply-codes"],
  ])(
    "a link within the text, which is not hydrated, leads to %s in the same document",
    async (to, title, focused) => {
      await using visitor = await browser().fresh();
      const { page, requests, errors, visit } = visitor;
      await visit("/docs/intro");
      await page.evaluate(() => Object.assign(window, { isSameDocument: true }));
      const link = page.locator(`[data-still] a[href="${to}"]`).first();
      // With a modifier it is the browser's, to open another page by; this one stays.
      await page.evaluate(() =>
        addEventListener(
          "click",
          (click) => {
            Object.assign(window, { isBrowsers: !click.defaultPrevented });
            click.preventDefault();
          },
          { once: true },
        ),
      );
      await link.click({ modifiers: ["ControlOrMeta"] });
      expect(await page.evaluate(() => "isBrowsers" in window && window.isBrowsers)).toBe(true);
      expect(new URL(page.url()).pathname).toBe("/docs/intro");
      await link.focus();
      await page.keyboard.press("Enter");
      await page.waitForURL(`**${to}`);
      await page
        .locator(`[aria-live="polite"]:has-text("${title}")`)
        .waitFor({ state: "attached" });
      expect(await page.locator("h1").textContent()).toBe(title);
      expect(await page.evaluate(() => document.activeElement?.id)).toBe(focused);
      expect(await page.locator(`[id="${focused}"]`).evaluate(isInWindow)).toBe(true);
      expect(await page.evaluate(() => "isSameDocument" in window)).toBe(true);
      const documents = requests.filter((url) => /\/docs\/[a-z-]+$/.test(url));
      expect(documents).toEqual([`${browser().url}/docs/intro`]);
      await page.goBack();
      await page.locator("h1:has-text('What Holdfast is')").waitFor();
      expect(errors).toEqual([]);
    },
  );

  test("a hash that cannot be read asks for nothing: the page comes, with the focus on the content", async () => {
    await using visitor = await browser().fresh();
    const { page, errors, visit } = visitor;
    await visit("/docs/intro");
    const link = page.locator('[data-still] a[href^="/docs/"]').first();
    await link.evaluate((one) => one.setAttribute("href", "/docs/faq#%E0%A4%A"));
    await link.focus();
    await page.keyboard.press("Enter");
    await page.locator('[aria-live="polite"]:has-text("Questions")').waitFor({ state: "attached" });
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");
    expect(errors).toEqual([]);
  });

  test("the progress bar shows once a visit has taken a moment, and not before", async () => {
    await using visitor = await browser().fresh();
    const { page, visit } = visitor;
    await visit("/docs/intro");
    const code = Promise.withResolvers<void>();
    await page.route("**/assets/blog-index*", async (route) => {
      await code.promise;
      await route.continue();
    });
    await page.evaluate(() => {
      // Before the page hears of it, whose clock starts then.
      const heard = () => {
        const clicked = performance.now();
        new MutationObserver((_, observer) => {
          if (document.querySelector(".progress") === null) return;
          observer.disconnect();
          document.documentElement.dataset["progressAfter"] = String(performance.now() - clicked);
        }).observe(document.body, { childList: true, subtree: true });
      };
      addEventListener("click", heard, { capture: true });
    });
    await page.locator('.navbar-items a[href="/blog"]').click();
    await page.locator(".progress").waitFor({ state: "attached" });
    const after = await page.locator("html").getAttribute("data-progress-after");
    expect(Number(after)).toBeGreaterThanOrEqual(progressDelayMs - 5);
    code.resolve();
    await page.waitForURL("**/blog");
    await page.locator(".progress").waitFor({ state: "detached" });
  });

  test.each([
    [{ effectiveType: "4g" }, true],
    [{ effectiveType: "2g" }, false],
    [{ effectiveType: "4g", saveData: true }, false],
  ])(
    "prefetch: with a connection of %j a link that is pointed at is fetched: %p",
    async (connection, isFetched) => {
      await using visitor = await browser().fresh({ connection });
      const { page, requests, mounted } = visitor;
      await page.goto(`${browser().url}/docs/intro`, { waitUntil: "load" });
      // On such a connection the page's code comes at the first input.
      await page.keyboard.press("Shift");
      await mounted();
      await page.mouse.move(0, 0);
      await page.locator('.docs-sidebar a[href="/docs/faq"]').hover();
      const prefetch = page.locator('link[href*="/faq-"]').first();
      if (isFetched) await prefetch.waitFor({ state: "attached" });
      else {
        // A timer that was set later fires later: the router has had its turn by then.
        await page.evaluate((ms) => new Promise((done) => setTimeout(done, ms)), intentMs);
        expect(await prefetch.count()).toBe(0);
      }
      expect(requests.some((url) => /\/assets\/faq-/.test(url))).toBe(isFetched);
    },
  );

  test.each([
    ["no-preference", true],
    ["reduce", false],
  ] as const)(
    "one page fades into the other where motion is wanted: %s, %p",
    async (reducedMotion, isFading) => {
      await using visitor = await browser().fresh({ reducedMotion });
      const { page, visit, errors } = visitor;
      await visit("/docs/intro");
      await page.evaluate(() => {
        const counted = document as Document & { transitions?: number };
        counted.transitions = 0;
        const start = document.startViewTransition.bind(document);
        document.startViewTransition = (update) => {
          counted.transitions = (counted.transitions ?? 0) + 1;
          return start(update);
        };
      });
      await page.locator('.docs-sidebar a[href="/docs/faq"]').click();
      await page.locator("h1:has-text('Questions')").waitFor();
      await page
        .locator('[aria-live="polite"]:has-text("Questions")')
        .waitFor({ state: "attached" });
      const count = await page.evaluate(() => (document as { transitions?: number }).transitions);
      expect((count ?? 0) > 0).toBe(isFading);
      expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");
      expect(errors).toEqual([]);
    },
  );

  test("on a host that serves files as they lie, a page is itself at its file's address too", async () => {
    await using visitor = await browser().fresh();
    const { page, errors, mounted } = visitor;
    const serve = async (file: string, path: string) =>
      await page.route(`**${file}*`, async (route) =>
        route.fulfill({ response: await route.fetch({ url: browser().url + path }) }),
      );
    await serve("/docs/faq/index.html", "/docs/faq");
    await page.goto(`${browser().url}/docs/faq/index.html?a=1#order`, { waitUntil: "commit" });
    await mounted();
    expect(page.url()).toBe(`${browser().url}/docs/faq?a=1#order`);
    expect(await page.locator("h1").textContent()).toBe("Questions");
    expect(errors).toEqual([]);
    // Such a host has no file of this name, and sends what it has for unknown addresses.
    await serve("/docs/faq.html", "/no/such/page");
    await page.goto(`${browser().url}/docs/faq.html`, { waitUntil: "commit" });
    await page.waitForURL("**/docs/faq");
    await mounted();
    expect(await page.locator("h1").textContent()).toBe("Questions");
  });

  describe("failures", () => {
    test.each(["reduce", "no-preference"] as const)(
      "code of a page that cannot be had: the reader comes to the page all the same (motion: %s)",
      async (reducedMotion) => {
        await using visitor = await browser().fresh({ reducedMotion });
        const { page, visit, mounted } = visitor;
        await visit("/docs/intro");
        await page.route("**/assets/blog-index*", (route) => route.abort());
        await page.locator('.navbar-items a[href="/blog"]').click();
        // Two documents come one after the other; waiting for an address would fail at the first.
        const notice = page.getByRole("alert");
        await notice.waitFor();
        expect(new URL(page.url()).pathname).toBe("/blog");
        expect(await notice.textContent()).toContain("dynamically imported module");
        expect(await page.locator("h1").textContent()).toBe("Blog");
        await page.unrouteAll();
        await notice.getByRole("button", { name: "Retry" }).click();
        await mounted();
        await notice.waitFor({ state: "detached" });
      },
    );

    test("a page that crashes says so, with the error and a way to try again", async () => {
      await using visitor = await browser().fresh();
      const { page, visit } = visitor;
      let isBroken = true;
      await page.route("**/assets/faq-*.js", async (route) => {
        const response = await route.fetch();
        const code = await response.text();
        const broken = `${code.replace(/export\s*\{[\s\S]*\};?\s*$/, "")};export default function F(){if(globalThis.isFixed)return null;throw new Error("out of order")};export const handle={toc:[],source:"",updated:null,frontmatter:{title:"Fixed",description:""}};`;
        await route.fulfill({ response, headers: notKept, body: isBroken ? broken : code });
      });
      await visit("/docs/intro");
      await page.locator('.docs-sidebar a[href="/docs/faq"]').click();
      await page.getByRole("heading", { name: "This page crashed." }).waitFor();
      expect(await page.locator(".error-screen pre").textContent()).toBe("out of order");
      expect(await page.locator(".navbar").isVisible()).toBe(true);
      isBroken = false;
      await page.evaluate(() => Object.assign(globalThis, { isFixed: true }));
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByRole("heading", { name: "Fixed" }).waitFor();
    });

    test.each(["**/assets/search-results-*.js", "**/search.json"])(
      "search whose %s cannot be had says so, and is tried again with what was typed",
      async (address) => {
        await using visitor = await browser().fresh();
        const { page, visit } = visitor;
        await page.route(address, (route) => route.abort());
        await visit("/docs/intro");
        await page.keyboard.press("Control+k");
        await page.keyboard.type("lease");
        const state = page.getByRole("status").filter({ hasText: "could not be loaded" });
        await state.waitFor();
        await page.unrouteAll();
        await state.getByRole("button", { name: "Retry" }).click();
        await page.getByRole("option").first().waitFor();
        expect(await page.getByRole("combobox").inputValue()).toBe("lease");
      },
    );
  });
}

function isInWindow(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}
