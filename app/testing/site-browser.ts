// One Chromium and one server for all test files of the site. Each test has a page of its own; a
// few are open at once.

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

/** Nothing fails because the machine is slow; what Chromium is asked for fails first. */
const actionTimeoutMs = 300_000;
/** Pages side by side: while one waits, the others have the processors. */
const pagesMax = 4;
/** A page here does not live long enough to gain what it costs to optimize its code. */
const flags = ["--js-flags=--no-opt --no-maglev"];

export const wide = { width: 1280, height: 800 };
export const narrow = { width: 390, height: 844 };

export interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of the console and of scripts, and whatever a policy forbade. */
  readonly errors: string[];
  readonly requests: string[];
  /** Loads a page of the site and waits until it has come to life. */
  readonly visit: (path: string) => Promise<void>;
  readonly mounted: () => Promise<void>;
}

type OwnVisitor = Visitor & AsyncDisposable;

export interface Setting extends Omit<BrowserContextOptions, "storageState"> {
  /** What earlier visits left in local storage. */
  readonly stored?: Readonly<Record<string, string>>;
  /** What `navigator.connection` says. */
  readonly connection?: { readonly effectiveType?: string; readonly saveData?: boolean };
}

let opened: Promise<SiteBrowser> | null = null;

/** The one that all test files share; it is closed after the last of them. */
export async function siteBrowser(): Promise<SiteBrowser> {
  opened ??= SiteBrowser.open();
  return await opened;
}

interface Server extends AsyncDisposable {
  readonly url: string;
}

/** Asked for by its address, axe is compiled once for all pages instead of once for each. */
export const axePath = "/axe.min.js";
const axeFile = new URL(import.meta.resolve("axe-core/axe.min.js"));

/** The whole server, its API too, on a free port of loopback; and axe, for tests. */
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
   * What is copied, once `done` shows, which goes away again. All pages have one clipboard: until it
   * is read it is one's alone.
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

  /** A new page, as soon as few enough are open. */
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
        // Who waits would wait for ever, and not hear of what is wrong.
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
      // To a place in the page that is open already there is no load.
      if (path.includes("#")) await page.goto("about:blank");
      await page.goto(this.url + path, { waitUntil: "commit" });
      await mounted();
    };
    const close = async () => {
      // What a test answers in the server's place may be under way.
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await context.close();
      leave();
    };
    return { page, context, errors, requests, visit, mounted, [Symbol.asyncDispose]: close };
  }
}

/** Runs in the page before anything of its own. */
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
 * Runs in the page: what is to happen after just so long waits for `release`. A text that shows for
 * a moment may have gone before a slow machine looks for it.
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

/** For a file that a test has changed: the browser would keep it for the next one. */
export const notKept = { "content-type": "text/javascript", "cache-control": "no-store" };

interface Shift {
  readonly startTime: number;
  readonly value: number;
  /** It came within half a second of an input, by the clock. */
  readonly hadRecentInput: boolean;
}

/** When the next frame has been drawn, by the page's clock. */
export function drawn(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((done) =>
        requestAnimationFrame(() => setTimeout(() => done(performance.now()))),
      ),
  );
}

/** How far the page has shifted so far, once the next frame is drawn. */
export async function layoutShift(page: Page): Promise<number> {
  await drawn(page);
  const shifts = await shiftsOf(page);
  return sumOf(shifts.filter(({ hadRecentInput }) => !hadRecentInput));
}

/** The same between two instants of the page's clock, with what an input excuses. */
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

/** Whether the element is the one that has the focus. */
export function hasFocus(element: ReturnType<Page["locator"]>): Promise<boolean> {
  return element.evaluate((node) => node === document.activeElement);
}
