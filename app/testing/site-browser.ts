// One Chromium and one server for all test files of the site. Each test has its own page; a few are
// open at once.

import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  Locator,
  Page,
} from "playwright-core";
import { launchChromium, shellPath } from "../../scripts/chromium.ts";
import { ensureBuilt } from "../build/ensure-built.ts";
import { copiedMs } from "../config/constants.ts";
import { closeAtEnd } from "./at-end.ts";
import { openTestApp } from "./site-app.ts";

/** Long, so that a slow machine does not fail a test; Chromium's own requests fail earlier. */
const actionTimeoutMs = 300_000;
/** Concurrent pages: while one waits, the others use the processors. */
const pagesMax = 4;
/** Optimizing compilation does not pay off for such short-lived pages. */
const flags = ["--js-flags=--no-opt --no-maglev"];

export const wide = { width: 1280, height: 800 };
export const narrow = { width: 390, height: 844 };

export interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of the console and of scripts, and policy violations. */
  readonly errors: string[];
  readonly requests: string[];
  /** Loads a page of the site and waits until its scripts have started. */
  readonly visit: (path: string) => Promise<void>;
  readonly mounted: () => Promise<void>;
}

type OwnVisitor = Visitor & AsyncDisposable;

export interface Setting extends Omit<BrowserContextOptions, "storageState"> {
  /** Content of local storage from earlier visits. */
  readonly stored?: Readonly<Record<string, string>>;
  /** Value of `navigator.connection`. */
  readonly connection?: { readonly effectiveType?: string; readonly saveData?: boolean };
}

let opened: Promise<SiteBrowser> | null = null;

/** The browser shared by all test files, closed after the last one. */
export async function siteBrowser(): Promise<SiteBrowser> {
  opened ??= SiteBrowser.open();
  return await opened;
}

interface Server extends AsyncDisposable {
  readonly url: string;
}

/** Loading axe by URL compiles it once for all pages instead of once per page. */
export const axePath = "/axe.min.js";
const axeFile = new URL(import.meta.resolve("axe-core/axe.min.js"));

/** Serves the whole server with its API, and axe, on a free loopback port. */
async function serve(): Promise<Server> {
  const app = await openTestApp();
  const listening = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    reusePort: false,
    fetch: (request) =>
      new URL(request.url).pathname === axePath
        ? new Response(Bun.file(axeFile), { headers: { "cache-control": "max-age=3600" } })
        : app.app.handle(request),
  });
  return {
    url: `http://127.0.0.1:${listening.port}`,
    [Symbol.asyncDispose]: async () => {
      await listening.stop(true);
      await app[Symbol.asyncDispose]();
    },
  };
}

export class SiteBrowser {
  readonly #browser: Browser;
  readonly #server: Server;
  readonly #waiting: (() => void)[] = [];
  #openCount = 0;
  #copying: Promise<unknown> = Promise.resolve();

  private constructor(browser: Browser, server: Server) {
    this.#browser = browser;
    this.#server = server;
  }

  static async open(): Promise<SiteBrowser> {
    await ensureBuilt();
    const [chromium, server] = await Promise.all([launchChromium(flags, shellPath()), serve()]);
    closeAtEnd(async () => {
      await chromium.close();
      await server[Symbol.asyncDispose]();
    });
    return new SiteBrowser(chromium, server);
  }

  get url(): string {
    return this.#server.url;
  }

  /**
   * Returns the copied text once `done` is shown, a short-lived confirmation. All pages share one
   * clipboard, so it is locked until it has been read.
   */
  copiedBy(copy: () => Promise<void>, done: Locator): Promise<string> {
    const page = done.page();
    const copied = this.#copying.then(async () => {
      await page.evaluate(holdTimers, copiedMs);
      await copy();
      await done.waitFor();
      const text = await page.evaluate(() => navigator.clipboard.readText());
      await page.evaluate(() => (window as unknown as Held).release());
      await done.waitFor({ state: "hidden" });
      return text;
    });
    this.#copying = copied.catch(() => undefined);
    return copied;
  }

  /** Opens a new page once fewer than the maximum are open. */
  async fresh({ stored = {}, connection, ...options }: Setting = {}): Promise<OwnVisitor> {
    while (this.#openCount >= pagesMax) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#openCount += 1;
    const leave = (): void => {
      this.#openCount -= 1;
      this.#waiting.shift()?.();
    };
    const localStorage = Object.entries(stored).map(([name, value]) => ({ name, value }));
    const context = await this.#browser
      .newContext({
        viewport: wide,
        reducedMotion: "reduce",
        storageState: { cookies: [], origins: [{ origin: this.url, localStorage }] },
        ...options,
      })
      .catch((cause: unknown) => {
        // Otherwise waiting tests would wait forever without seeing the error.
        leave();
        throw cause;
      });
    context.setDefaultTimeout(actionTimeoutMs);
    await context.addInitScript(prepare, connection);
    const page = await context.newPage();
    const errors: string[] = [];
    const requests: string[] = [];
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("request", (request) => requests.push(request.url()));
    const mounted = () => page.locator("html[data-mounted]").waitFor({ state: "attached" });
    const visit = async (path: string) => {
      // A URL that differs only in its hash does not load the page.
      if (path.includes("#")) await page.goto("about:blank");
      await page.goto(this.url + path, { waitUntil: "commit" });
      await mounted();
    };
    const close = async () => {
      // Intercepted requests of the test may be in flight.
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await context.close();
      leave();
    };
    return { page, context, errors, requests, visit, mounted, [Symbol.asyncDispose]: close };
  }
}

/** Runs in the page before its own scripts. */
function prepare(connection: Setting["connection"]): void {
  if (connection !== undefined) {
    Object.defineProperty(navigator, "connection", { value: connection });
  }
  document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
    console.error(`policy: ${violatedDirective} forbids ${blockedURI}`);
  });
  const shifts: Shift[] = [];
  Object.assign(window, { shifts });
  new PerformanceObserver((list) => {
    shifts.push(...(list.getEntries() as unknown as Shift[]));
  }).observe({ type: "layout-shift", buffered: true });
}

interface Held {
  readonly release: () => void;
}

/**
 * Runs in the page: timers of exactly this delay wait for `release`. Otherwise a short-lived text
 * may be gone before a slow machine looks for it.
 */
function holdTimers(heldMs: number): void {
  const begin = window.setTimeout;
  const held: (() => void)[] = [];
  const hold = (call: () => void, ms?: number) =>
    ms === heldMs ? held.push(call) : begin(call, ms);
  const release = () => {
    window.setTimeout = begin;
    for (const call of held) call();
  };
  Object.assign(window, { setTimeout: hold, release });
}

/** Headers for a file that a test has changed, so that the browser does not cache it. */
export const notKept = { "content-type": "text/javascript", "cache-control": "no-store" };

interface Shift {
  readonly startTime: number;
  readonly value: number;
  /** Whether it occurred within half a second of an input. */
  readonly hadRecentInput: boolean;
}

/** Resolves after the next frame with its time on the page's clock. */
export function drawn(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((done) =>
        requestAnimationFrame(() => setTimeout(() => done(performance.now()))),
      ),
  );
}

/** The page's layout shift so far, once the next frame is drawn. */
export async function layoutShift(page: Page): Promise<number> {
  await drawn(page);
  const shifts = await shiftsOf(page);
  return sumOf(shifts.filter(({ hadRecentInput }) => !hadRecentInput));
}

/**
 * The layout shift between two instants of the page's clock, including shifts right after an input.
 */
export async function everyShift(page: Page, from: number, until: number): Promise<number> {
  const shifts = await shiftsOf(page);
  return sumOf(shifts.filter(({ startTime }) => startTime > from && startTime <= until));
}

function shiftsOf(page: Page): Promise<readonly Shift[]> {
  return page.evaluate(() =>
    (window as unknown as { shifts: Shift[] }).shifts.map(
      ({ startTime, value, hadRecentInput }) => ({ startTime, value, hadRecentInput }),
    ),
  );
}

function sumOf(shifts: readonly Shift[]): number {
  return shifts.reduce((sum, { value }) => sum + value, 0);
}

/** Whether the element has the focus. */
export function hasFocus(element: ReturnType<Page["locator"]>): Promise<boolean> {
  return element.evaluate((node) => node === document.activeElement);
}
