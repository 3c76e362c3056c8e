// Chromium for tests of the console; collects the errors of each page.

import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { launchChromium, shellPath } from "../../scripts/chromium.ts";

/** Long, so that no test fails because the machine is slow. */
const actionTimeoutMs = 300_000;

export const wide = { width: 1280, height: 800 };
export const middle = { width: 768, height: 1024 };
export const narrow = { width: 390, height: 844 };

export interface Visitor extends AsyncDisposable {
  readonly page: Page;
  /** Errors of scripts, and violations of the content security policy. */
  readonly errors: string[];
  /** Paths of its API calls. */
  readonly calls: string[];
}

/** With only the first two options, a page shares its context, and so its process, with others. */
export interface VisitOptions extends BrowserContextOptions {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly theme?: "dark" | "light";
  /** Its time can be advanced. */
  readonly hasClock?: boolean;
  /** Runs first in each of its pages. */
  readonly begin?: () => void;
}

/** Optimizing compilation does not pay off for such short-lived pages. */
const flags = ["--js-flags=--no-opt --no-maglev", "--process-per-site"];

export async function openConsoleBrowser(args: readonly string[] = []) {
  const browser: Browser = await launchChromium([...flags, ...args], shellPath());
  const newContext = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({
      ...{ viewport: wide, reducedMotion: "reduce" },
      ...options,
    });
    context.setDefaultTimeout(actionTimeoutMs);
    return context;
  };
  const shared = await newContext();
  await keepProcess(shared);
  const visit = async (url: string, options: VisitOptions = {}): Promise<Visitor> => {
    const { theme = "dark", hasClock = false, begin, viewport = wide, ...rest } = options;
    const isOwn = hasClock || begin !== undefined || Object.keys(rest).length > 0;
    const context = isOwn ? await newContext({ viewport, ...rest }) : shared;
    const page = await context.newPage();
    if (!isOwn && viewport !== wide) await page.setViewportSize(viewport);
    await page.addInitScript(prepare, theme);
    if (hasClock) {
      await page.clock.install();
      await page.addInitScript(followClock);
    }
    if (begin) await page.addInitScript(begin);
    const errors: string[] = [];
    const calls: string[] = [];
    const dropped: string[] = [];
    // A page that was left may have aborted the loading of its code.
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
      // The page itself reports refusals and missing answers.
      const isOfAnswer = message.text().startsWith("Failed to load resource");
      if (message.type() === "error" && !isOfAnswer) note(message.text());
    });
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.includes("/v1/")) calls.push(pathname);
    });
    await page.goto(url);
    const close = async () => {
      // A route that the test answers may still be pending.
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await (isOwn ? context : page).close();
    };
    return { page, errors, calls, [Symbol.asyncDispose]: close };
  };
  return { visit, close: () => browser.close() };
}

/**
 * An open page of the site keeps the process of the context: a page in a new one costs twice the
 * processor time.
 */
async function keepProcess(context: BrowserContext): Promise<void> {
  const page = await context.newPage();
  await page.route("**", (route) => route.fulfill({ body: "" }));
  await page.goto("http://127.0.0.1/");
}

/** Runs in each document of a page before its scripts; the first removes what other pages stored. */
function prepare(theme: string): void {
  // Such a document has no storage.
  if (origin === "null") return;
  if (sessionStorage.getItem("isPrepared") === null) localStorage.clear();
  sessionStorage.setItem("isPrepared", "true");
  localStorage.setItem("theme", theme);
  document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
    console.error(`policy: ${violatedDirective} forbids ${blockedURI}`);
  });
}

export type ConsoleBrowser = Awaited<ReturnType<typeof openConsoleBrowser>>;

interface Following {
  callsUnderWay: number;
  callsBegun: number;
}

/** Long enough for timers that are due in the page's next round. */
const roundMs = 20;

/** Runs in the page: its calls time out by its own clock, which a test can stop, and are counted. */
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
      // Read here, so that the caller gets the whole text at once, and no call ends before that.
      const text = await response.text();
      return Object.defineProperty(response, "text", { value: async () => text });
    } finally {
      following.callsUnderWay -= 1;
    }
  }) as typeof fetch;
}

/** For a page with a clock: waits until all of its calls are answered. */
export async function answered(page: Page): Promise<void> {
  const isAnswered = () => (globalThis as unknown as Following).callsUnderWay === 0;
  while (!(await page.evaluate(isAnswered))) await Bun.sleep(10);
}

/**
 * For a page with a clock: stops its time, which then advances only by `clock.runFor`, and waits until
 * all calls are answered and no answer causes another call.
 */
export async function pauseTime(page: Page): Promise<void> {
  let isPaused = false;
  while (!isPaused) {
    const soon = await page.evaluate(() => Date.now() + 1_000);
    // If the machine was stalled for that long, the instant has passed.
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

/** Like `pauseTime`, and the page is live. */
export async function stopTime(page: Page): Promise<void> {
  await pauseTime(page);
  while ((await page.locator(".console[data-state=live]").count()) === 0) {
    // A call that timed out is repeated later.
    await page.clock.runFor(1_000);
    await answered(page);
  }
}

/** Waits until all earlier calls of the page are in `calls`, and have reached its routes. */
export async function calledOut(page: Page): Promise<void> {
  await page.evaluate(() => fetch("/livez"));
}

/** Waits until the server's figures are drawn. */
export async function live(page: Page): Promise<void> {
  await page.locator(".console[data-state=live]").waitFor();
}

export function isWiderThanWindow(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
}

/** Rows of the list of items. */
export const rowsOf = (page: Page) => page.locator(".items tbody tr:not(.drop, .ghost)");
