// Chromium for tests of the console, and what each page of it says went wrong.

import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { launchChromium, shellPath } from "../../scripts/chromium.ts";

/** Nothing fails because the machine is slow; what Chromium is asked for fails first. */
const actionTimeoutMs = 300_000;

export const wide = { width: 1280, height: 800 };
export const narrow = { width: 390, height: 844 };

export interface Visitor extends AsyncDisposable {
  readonly page: Page;
  /** Errors of scripts and whatever a policy forbade. */
  readonly errors: string[];
  /** Paths of what it asked the API. */
  readonly calls: string[];
}

export interface VisitOptions extends BrowserContextOptions {
  readonly theme?: "dark" | "light";
  /** Its time can be put forward. */
  readonly hasClock?: boolean;
  /** What each page of it runs first. */
  readonly begin?: () => void;
}

export async function openConsoleBrowser(args: readonly string[] = []) {
  const browser: Browser = await launchChromium(args, shellPath());
  const visit = async (url: string, options: VisitOptions = {}): Promise<Visitor> => {
    const { theme = "dark", hasClock = false, begin, ...rest } = options;
    const context = await browser.newContext({ viewport: wide, reducedMotion: "reduce", ...rest });
    context.setDefaultTimeout(actionTimeoutMs);
    await context.addInitScript((name) => {
      localStorage.setItem("theme", name);
      document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
        console.error(`policy: ${violatedDirective} forbids ${blockedURI}`);
      });
    }, theme);
    const page = await context.newPage();
    if (hasClock) {
      await page.clock.install();
      await page.addInitScript(followClock);
    }
    if (begin) await page.addInitScript(begin);
    const errors: string[] = [];
    const calls: string[] = [];
    const dropped: string[] = [];
    // That code did not come to a page that was left is no fault of either.
    const forgetLeft = () => {
      const kept = errors.filter((error) => !dropped.some((url) => error.includes(url)));
      errors.splice(0, errors.length, ...kept);
    };
    const note = (error: string) => {
      errors.push(error);
      forgetLeft();
    };
    page.on("requestfailed", (request) => {
      const isLeft = request.failure()?.errorText === "net::ERR_ABORTED";
      if (!isLeft || !request.url().includes("/assets/")) return;
      dropped.push(request.url());
      forgetLeft();
    });
    page.on("pageerror", (error) => note(error.message));
    page.on("console", (message) => {
      // That an answer was a refusal, or none, is said by the page itself.
      const isOfAnswer = message.text().startsWith("Failed to load resource");
      if (message.type() === "error" && !isOfAnswer) note(message.text());
    });
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.includes("/v1/")) calls.push(pathname);
    });
    await page.goto(url);
    const close = async () => {
      // What a test answers in the server's place may be under way.
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await context.close();
    };
    return { page, errors, calls, [Symbol.asyncDispose]: close };
  };
  return { visit, close: () => browser.close() };
}

export type ConsoleBrowser = Awaited<ReturnType<typeof openConsoleBrowser>>;

interface Following {
  callsUnderWay: number;
  callsBegun: number;
}

/** Long enough for what waits for the next round of the page's time. */
const roundMs = 20;

/** In the page: its calls are given up by its clock, not by one that nobody stops, and are counted. */
function followClock(): void {
  AbortSignal.timeout = (ms) => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(new DOMException("it took too long", "TimeoutError")), ms);
    return stop.signal;
  };
  const following = globalThis as unknown as Following;
  Object.assign(following, { callsUnderWay: 0, callsBegun: 0 });
  const { fetch } = globalThis;
  globalThis.fetch = (async (...asked: Parameters<typeof fetch>) => {
    following.callsUnderWay += 1;
    following.callsBegun += 1;
    try {
      const response = await fetch(...asked);
      // Read here: who asked has all of it at once, and no call is over before it was heard.
      const text = await response.text();
      return Object.defineProperty(response, "text", { value: async () => text });
    } finally {
      following.callsUnderWay -= 1;
    }
  }) as typeof fetch;
}

/** Of a page with a clock: until nothing that it asked is on its way. */
export async function answered(page: Page): Promise<void> {
  const isAnswered = () => (globalThis as unknown as Following).callsUnderWay === 0;
  while (!(await page.evaluate(isAnswered))) await Bun.sleep(10);
}

/**
 * Of a page with a clock: from now on its time stands still but for `clock.runFor`, nothing that it
 * asked is on its way, and no answer leads to another question.
 */
export async function pauseTime(page: Page): Promise<void> {
  let isPaused = false;
  while (!isPaused) {
    const soon = await page.evaluate(() => Date.now() + 1_000);
    // Where the machine stood still for so long, that has gone by.
    isPaused = await page.clock.pauseAt(soon).then(
      () => true,
      () => false,
    );
  }
  const begun = () => page.evaluate(() => (globalThis as unknown as Following).callsBegun);
  for (let before = -1, now = await begun(); now > before; now = await begun()) {
    before = now;
    await answered(page);
    await page.clock.runFor(roundMs);
  }
  await answered(page);
}

/** The same, and the page is live. */
export async function stopTime(page: Page): Promise<void> {
  await pauseTime(page);
  while ((await page.locator(".console[data-state=live]").count()) === 0) {
    // What was not answered in time is asked again later.
    await page.clock.runFor(1_000);
    await answered(page);
  }
}

/** Of what the page has asked before nothing is unknown to its `calls`, nor to its routes. */
export async function calledOut(page: Page): Promise<void> {
  await page.evaluate(() => fetch("/livez"));
}

/** Until the figures of the server are there. */
export async function live(page: Page): Promise<void> {
  await page.locator(".console[data-state=live]").waitFor();
}

export function isWiderThanWindow(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
}

/** Rows of the list of items. */
export const rowsOf = (page: Page) => page.locator(".items tbody tr:not(.drop, .ghost)");
