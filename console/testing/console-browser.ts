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
}

export async function openConsoleBrowser(args: readonly string[] = []) {
  const browser: Browser = await launchChromium(args, shellPath());
  const visit = async (url: string, options: VisitOptions = {}): Promise<Visitor> => {
    const { theme = "dark", hasClock = false, ...rest } = options;
    const context = await browser.newContext({ viewport: wide, reducedMotion: "reduce", ...rest });
    context.setDefaultTimeout(actionTimeoutMs);
    await context.addInitScript((name) => {
      localStorage.setItem("theme", name);
      document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
        console.error(`policy: ${violatedDirective} forbids ${blockedURI}`);
      });
    }, theme);
    const page = await context.newPage();
    if (hasClock) await page.clock.install();
    const errors: string[] = [];
    const calls: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => {
      // That an answer was a refusal, or none, is said by the page itself.
      const isOfAnswer = message.text().startsWith("Failed to load resource");
      if (message.type() === "error" && !isOfAnswer) errors.push(message.text());
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

/** Until the figures of the server are there. */
export async function live(page: Page): Promise<void> {
  await page.locator(".console[data-state=live]").waitFor();
}

export function isWiderThanWindow(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
}
