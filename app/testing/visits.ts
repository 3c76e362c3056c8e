// Tests navigation between pages, and failures on the way. Each page is a separate document.

import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { progressDelayMs } from "../config/constants.ts";
import { layoutShift, narrow, notKept, type SiteBrowser } from "./site-browser.ts";

const simulatorPage = "/blog/mdx-blog-post";
const fadeTriesMax = 10;

export function testVisits(browser: () => SiteBrowser): void {
  test("a visit keeps the mode; the way back leads to where the reader was", async () => {
    await using visitor = await browser().fresh();
    const { page, errors, visit, mounted } = visitor;
    await visit("/docs/intro");
    await page.locator(".navbar-right .color-mode-toggle").click();
    await page.locator(".navbar-right .color-mode-toggle").click();
    await page.evaluate(() => scrollTo({ top: 700, behavior: "instant" }));
    await follow(page, '.docs-sidebar a[href="/docs/faq"]');
    await page.waitForURL("**/docs/faq");
    await mounted();
    expect(await page.locator("html").getAttribute("data-theme")).toBe("light");
    expect(await page.locator("h1").textContent()).toBe("Questions");
    await page.goBack();
    await page.locator("h1:has-text('What Holdfast is')").waitFor();
    // The same content, within a line: typefaces may have arrived late before.
    await page.waitForFunction(() => Math.abs(scrollY - 700) < 100);
    expect(errors).toEqual([]);
  });

  test("a link to a place in another page leads there, below where the bar is", async () => {
    await using visitor = await browser().fresh();
    const { page, errors, visit, mounted } = visitor;
    await visit("/docs/intro");
    await follow(page, '.prose a[href="/docs/operations#write-an-item-once"]');
    await page.waitForURL("**/docs/operations#write-an-item-once");
    await mounted();
    await page.locator('.navbar[data-shown="false"]').waitFor({ state: "attached" });
    const top = await page
      .locator("#write-an-item-once")
      .evaluate((e) => e.getBoundingClientRect().top);
    expect(top).toBeGreaterThanOrEqual(60);
    expect(top).toBeLessThan(200);
    expect(errors).toEqual([]);
  });

  test("on a phone the first paint leaves out what is far below, until the reader moves; not where a place is asked for", async () => {
    // On 2g, no page changes to other typefaces.
    const connection = { effectiveType: "2g" };
    await using visitor = await browser().fresh({ viewport: narrow, connection });
    const { page, visit, mounted } = visitor;
    const path = "/docs/configuration";
    /** The number of elements whose layout the browser has postponed. */
    const leftOut = () =>
      page.evaluate(() => {
        const shown = [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility());
        return shown.filter((e) => !e.checkVisibility({ contentVisibilityAuto: true })).length;
      });
    const topOfHealth = () =>
      page.locator("#health").evaluate((heading) => heading.getBoundingClientRect().top);
    await visit(path);
    expect(await leftOut()).toBeGreaterThan(500);
    await page.mouse.move(20, 20);
    await page.locator("html:not([data-fresh])").waitFor();
    expect([await leftOut(), await layoutShift(page)]).toEqual([0, 0]);
    const height = () => page.evaluate(() => document.documentElement.scrollHeight);
    const whole = await height();

    await page.evaluate(() => document.querySelector("#health")?.scrollIntoView());
    const top = await topOfHealth();
    await visit("/docs/faq");
    await page.goBack({ waitUntil: "commit" });
    await mounted();
    await page.waitForFunction(() => scrollY > 0);
    expect([await leftOut(), await height(), await topOfHealth()]).toEqual([0, whole, top]);

    await visit(`${path}#health`);
    expect([await leftOut(), await height(), await topOfHealth()]).toEqual([0, whole, top]);
  });

  test("a hash that cannot be read, or that names nothing, asks for nothing", async () => {
    await using visitor = await browser().fresh();
    const { page, errors, visit } = visitor;
    for (const hash of ["%E0%A4%A", "nowhere"]) {
      await visit(`/docs/faq#${hash}`);
      expect(await page.locator(".navbar").getAttribute("data-shown")).toBe("true");
    }
    expect(errors).toEqual([]);
  });

  test("the progress bar shows once a visit has taken a moment, and not before", async () => {
    await using visitor = await browser().fresh();
    const { page, visit, mounted } = visitor;
    await visit("/docs/intro");
    const shown = Promise.withResolvers<number>();
    // The page being left cannot be queried, but it can send a request.
    await page.route("**/shown?*", async (route) => {
      shown.resolve(Number(new URL(route.request().url()).searchParams.get("after")));
      await route.fulfill({ body: "" });
    });
    await page.route("**/blog", async (route) => {
      await shown.promise;
      await route.continue();
    });
    await page.evaluate(() => {
      // Before the page's own listener, which starts its timer.
      const heard = () => {
        const clicked = performance.now();
        new MutationObserver((_, observer) => {
          if (document.querySelector(".progress[role=progressbar]") === null) return;
          observer.disconnect();
          void fetch(`/shown?after=${performance.now() - clicked}`);
        }).observe(document.body, { childList: true });
      };
      addEventListener("click", heard, { capture: true });
    });
    await follow(page, '.navbar-items a[href="/blog"]');
    expect(await shown.promise).toBeGreaterThanOrEqual(progressDelayMs - 5);
    await page.waitForURL("**/blog");
    await mounted();
    expect(await page.locator(".progress").count()).toBe(0);
  });

  test.each([
    [{ effectiveType: "4g" }, true],
    [{ effectiveType: "2g" }, false],
    [{ effectiveType: "4g", saveData: true }, false],
  ])(
    "prefetch: with a connection of %j a link that is pointed at is fetched: %p",
    async (connection, isFetched) => {
      await using visitor = await browser().fresh({ connection });
      const { page, errors, visit } = visitor;
      await visit("/docs/intro");
      const rules = page.locator('script[type="speculationrules"]');
      expect(await rules.count()).toBe(isFetched ? 1 : 0);
      const fetched = isFetched ? page.waitForRequest("**/docs/faq") : null;
      await page.locator('.docs-sidebar a[href="/docs/faq"]').hover();
      await fetched;
      expect(errors).toEqual([]);
    },
  );

  test.each([
    ["no-preference", true],
    ["reduce", false],
  ] as const)(
    "one page fades into the other where motion is wanted: %s, %p",
    async (reducedMotion, isFading) => {
      await using visitor = await browser().fresh({ reducedMotion });
      const { page, visit, errors, mounted } = visitor;
      await page.addInitScript(() => {
        addEventListener("pagereveal", (event) => {
          const { viewTransition } = event as Event & { viewTransition: unknown };
          document.documentElement.dataset["fades"] = String(viewTransition !== null);
        });
      });
      await visit("/docs/intro");
      // A page that takes seconds to load is shown without a transition on a slow machine.
      let fades: string | null = null;
      for (let tries = 0; tries < fadeTriesMax && fades !== String(isFading); tries += 1) {
        const path = tries % 2 === 0 ? "/docs/faq" : "/docs/intro";
        await follow(page, `.docs-sidebar a[href="${path}"]`);
        await page.waitForURL(`**${path}`);
        await mounted();
        fades = await page.locator("html").getAttribute("data-fades");
      }
      expect(fades).toBe(String(isFading));
      expect(errors).toEqual([]);
    },
  );

  test("nothing of a page keeps the browser from showing it at once on the way back", async () => {
    await using visitor = await browser().fresh();
    const { page, visit } = visitor;
    await page.addInitScript(() => {
      const listen = EventTarget.prototype.addEventListener;
      EventTarget.prototype.addEventListener = function (this: EventTarget, ...args) {
        if (/unload$/.test(args[0])) document.documentElement.dataset["unload"] = args[0];
        listen.apply(this, args);
      };
    });
    for (const path of ["/", "/docs/intro", simulatorPage]) {
      await visit(path);
      const policy = await page.evaluate(async () =>
        (await fetch(location.href)).headers.get("cache-control"),
      );
      expect([path, policy?.includes("no-store")]).toEqual([path, false]);
      expect(await page.locator("html").getAttribute("data-unload")).toBeNull();
    }
  });

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
    // Such a host has no file of this name, and sends its 404 page.
    await serve("/docs/faq.html", "/no/such/page");
    await page.goto(`${browser().url}/docs/faq.html`, { waitUntil: "commit" });
    await page.waitForURL("**/docs/faq");
    await mounted();
    expect(await page.locator("h1").textContent()).toBe("Questions");
  });

  describe("failures", () => {
    test.each([
      ["simulator-", "A part of this page could not be loaded: simulator."],
      ["entry.client-", "The code of this page could not be loaded."],
    ])("code that cannot be had (%s): the page reloads once, then says so", async (file, text) => {
      await using visitor = await browser().fresh({ viewport: { width: 1280, height: 2_000 } });
      const { page, mounted } = visitor;
      const loads = loadsOf(page);
      await page.route(`**/assets/${file}*.js`, (route) => route.abort());
      await page.goto(browser().url + simulatorPage, { waitUntil: "commit" });
      const notice = page.getByRole("alert");
      await notice.waitFor();
      expect(loads).toHaveLength(2);
      expect(await notice.locator("p").textContent()).toBe(text);
      expect(await page.locator(".sim").isVisible()).toBe(true);
      await page.unrouteAll();
      await notice.getByRole("link", { name: "Retry" }).click();
      await mounted();
      await page.locator("[data-island][data-alive]").waitFor();
      expect(await notice.isVisible()).toBe(false);
    });

    test.each(["simulator-", "entry.client-"])(
      "code that cannot be had while the server is away (%s): the page stays, and says so",
      async (file) => {
        await using visitor = await browser().fresh();
        const { page } = visitor;
        const loads = loadsOf(page);
        await page.route(`**/assets/${file}*.js`, async (route) => {
          await page.route("**/*", (other) => other.abort("connectionrefused"));
          await route.abort("connectionrefused");
        });
        await page.goto(browser().url, { waitUntil: "commit" });
        const notice = page.getByRole("alert").filter({ hasText: "could not be loaded" });
        await notice.waitFor();
        expect(await page.locator("h1").textContent()).toBe("A 200 is a proof.");
        expect(loads).toHaveLength(1);
      },
    );

    test("an island that crashes says so, with the error and a way to try again", async () => {
      await using visitor = await browser().fresh();
      const { page, visit } = visitor;
      await page.route("**/assets/simulator-*.js", async (route) => {
        const response = await route.fetch();
        const name = /export\s*\{\s*\w+ as (\w+)/.exec(await response.text())?.[1];
        const body = `function F(){if(globalThis.isFixed)return "Fixed";throw new Error("out of order")}export{F as ${name}}`;
        await route.fulfill({ response, headers: notKept, body });
      });
      await visit(simulatorPage);
      await page.locator("[data-island]").scrollIntoViewIfNeeded();
      await page.keyboard.press("Shift");
      await page.getByRole("heading", { name: "This page crashed." }).waitFor();
      expect(await page.locator(".error-screen pre").textContent()).toBe("out of order");
      expect(await page.locator("h1").isVisible()).toBe(true);
      await page.evaluate(() => Object.assign(globalThis, { isFixed: true }));
      await page.getByRole("button", { name: "Try again" }).click();
      await page.locator("[data-island]", { hasText: "Fixed" }).waitFor();
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
        // Dispatched without pointer movement, which would also request the search and may remove
        // the button.
        await state.getByRole("button", { name: "Retry" }).dispatchEvent("click");
        await page.getByRole("option").first().waitFor();
        expect(await page.getByRole("combobox").inputValue()).toBe("lease");
      },
    );
  });
}

/** Presses a link without waiting for its target. */
async function follow(page: Page, selector: string): Promise<void> {
  await page
    .locator(selector)
    .first()
    .evaluate((link: HTMLElement) => link.click());
}

/** Addresses of documents that the page requests from now on. */
function loadsOf(page: Page): readonly string[] {
  const loads: string[] = [];
  page.on("request", (request) => {
    if (request.isNavigationRequest()) loads.push(request.url());
  });
  return loads;
}
