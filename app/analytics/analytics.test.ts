// Analytics in Chromium, against a receiver on loopback: what is sent, when, and how often.

import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { shellPath } from "../../scripts/chromium.ts";
import { siteConfig } from "../site-config.ts";
import { type SiteBrowser, siteBrowser } from "../testing/site-browser.ts";
import type { AnalyticsClient } from "./analytics-client.ts";

const clientId = "client-1";
const screenViewDebounceMs = 50;
const firstRetryMs = 500;
const inChromium = shellPath() === null ? describe.skip : describe.concurrent;

interface Received {
  readonly at: number;
  readonly headers: Headers;
  readonly body: { readonly type: string; readonly payload: Record<string, unknown> };
}

/** Answers each event with the statuses given, the last one from then on. */
function openReceiver(statuses: readonly number[], script: string) {
  const received: Received[] = [];
  const hurry = `(${hurryRetries})(${firstRetryMs})`;
  const page = `<!doctype html><title>First</title><link rel="icon" href="data:,"><script>${hurry}</script><button data-track="copied" data-block-name="curl">Copy</button>
    <a data-track="opened" data-place="footer" href="#x">Open</a><a id="out" href="http://localhost:1/away">Away <b>now</b></a>
    <a id="in" href="/inside">Inside</a><script type="module">${script}</script>`;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname !== "/events/track") {
        return new Response(page, { headers: { "content-type": "text/html" } });
      }
      const body = (await request.json()) as Received["body"];
      received.push({ at: performance.now(), headers: request.headers, body });
      const status = statuses[Math.min(received.length, statuses.length) - 1] ?? 200;
      return Response.json({ deviceId: "device", sessionId: "session" }, { status });
    },
  });
  const url = `http://127.0.0.1:${server.port}`;
  return { url, received, [Symbol.asyncDispose]: () => server.stop(true) };
}

async function bundled(): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, "analytics-client.ts")],
    target: "browser",
    minify: true,
    plugins: [
      {
        name: "no-replay",
        setup: (build) => {
          build.onResolve({ filter: /^rrweb$/ }, () => ({ path: "rrweb", namespace: "none" }));
          build.onLoad({ filter: /.*/, namespace: "none" }, () => ({
            contents: "export const record = undefined;",
            loader: "js",
          }));
        },
      },
    ],
  });
  const code = (await outputs[0]?.text()) ?? "";
  return code.replace(
    /export\s*\{\s*([\w$]+) as AnalyticsClient\s*\};?\s*$/,
    `globalThis.analytics=new $1({clientId:${JSON.stringify(clientId)},apiUrl:location.origin+"/events"});`,
  );
}

test("off by default: the site names no provider", () => {
  expect(siteConfig.analytics).toBeNull();
});

inChromium("in Chromium", () => {
  let browser: SiteBrowser | null = null;
  let script = "";

  beforeAll(async () => {
    [browser, script] = await Promise.all([siteBrowser(), bundled()]);
  });

  async function open(statuses: readonly number[] = [202], path = "/docs") {
    if (browser === null) throw new Error("Chromium is not open");
    const visitor = await browser.fresh();
    const { page } = visitor;
    const receiver = openReceiver(statuses, script);
    await page.route("http://localhost:1/**", (route) => route.abort());
    await page.goto(receiver.url + path, { referer: `${receiver.url}/before` });
    const events = (count: number) => until(() => receiver.received.length >= count);
    return {
      page,
      receiver,
      events,
      [Symbol.asyncDispose]: async () => {
        // The client keeps running while its page is open.
        await page.goto("about:blank");
        await visitor[Symbol.asyncDispose]();
        await receiver[Symbol.asyncDispose]();
      },
    };
  }

  async function until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await Bun.sleep(5);
  }

  const call = <T>(page: Page, act: (client: AnalyticsClient) => Promise<T> | T): Promise<T> =>
    page.evaluate(`(${act.toString()})(globalThis.analytics)`);

  const named = (received: readonly Received[], name: string) =>
    received.filter(({ body }) => body.payload["name"] === name).map(({ body }) => body);

  test("a screen view, with its path, title and referrer, and the provider's headers", async () => {
    await using visit = await open();
    const { receiver, events } = visit;
    await events(1);
    const [{ headers, body } = never()] = receiver.received;
    expect(body).toMatchObject({
      type: "track",
      payload: {
        name: "screen_view",
        properties: {
          path: `${receiver.url}/docs`,
          title: "First",
          referrer: `${receiver.url}/before`,
        },
      },
    });
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("openpanel-client-id")).toBe(clientId);
    expect(headers.get("openpanel-sdk-name")).toBe("web");
    expect(headers.get("openpanel-sdk-version")).toMatch(/^\d+\.\d+\.\d+$/);
    expect(headers.get("openpanel-client-secret")).toBeNull();
  });

  test("screen views: a burst of visits counts once; an anchor in the same page does not count", async () => {
    await using visit = await open();
    const { page, receiver, events } = visit;
    await events(1);
    const startedAt = performance.now();
    await page.evaluate(() => {
      for (const path of ["/a", "/b", "/c"]) history.pushState({}, "", path);
      document.title = "Third";
    });
    await events(2);
    const [, second] = receiver.received;
    expect((second?.at ?? 0) - startedAt).toBeGreaterThanOrEqual(screenViewDebounceMs - 2);
    await page.evaluate(() => history.replaceState({}, "", "/c#place"));
    await page.evaluate(() => new Promise((done) => setTimeout(done, 150)));
    const views = named(receiver.received, "screen_view");
    expect(views).toHaveLength(2);
    expect(views[1]?.payload["properties"]).toMatchObject({
      path: `${receiver.url}/c`,
      title: "Third",
    });
  });

  test("links: a click on an external link is tracked with address and text; an internal one is not", async () => {
    await using visit = await open();
    const { page, receiver, events } = visit;
    await events(1);
    await page.evaluate(() => addEventListener("click", (event) => event.preventDefault()));
    await page.locator("#in").click();
    await page.locator("#out").click();
    await until(() => named(receiver.received, "link_out").length > 0);
    expect(named(receiver.received, "link_out")).toMatchObject([
      {
        type: "track",
        payload: { properties: { href: "http://localhost:1/away", text: "Away now" } },
      },
    ]);
  });

  test("data-track: an event of its name, with the element's other data as properties", async () => {
    await using visit = await open();
    const { page, receiver, events } = visit;
    await events(1);
    await page.locator("button").click();
    await page.locator("a[data-track]").click();
    await until(() => named(receiver.received, "opened").length > 0);
    expect(named(receiver.received, "copied")).toMatchObject([
      { type: "track", payload: { properties: { blockName: "curl" } } },
    ]);
    expect(named(receiver.received, "opened")).toMatchObject([
      { type: "track", payload: { properties: { place: "footer" } } },
    ]);
  });

  test("track, identify, alias, increment and decrement have the provider's form", async () => {
    await using visit = await open();
    const { page, receiver, events } = visit;
    await events(1);
    await call(page, async (client) => {
      await client.identify({ profileId: "p1", firstName: "Ada" });
      await client.track("read", { chapter: 2 });
      await client.sendAlias({ profileId: "p1", alias: "p2" });
      await client.increment({ profileId: "p1", property: "visits", value: 2 });
      await client.decrement({ profileId: "p1", property: "credit", value: 1 });
    });
    await events(6);
    expect(receiver.received.slice(1).map(({ body }) => body)).toMatchObject([
      { type: "identify", payload: { profileId: "p1", firstName: "Ada" } },
      { type: "track", payload: { name: "read", profileId: "p1", properties: { chapter: 2 } } },
      { type: "alias", payload: { profileId: "p1", alias: "p2" } },
      { type: "increment", payload: { profileId: "p1", property: "visits", value: 2 } },
      { type: "decrement", payload: { profileId: "p1", property: "credit", value: 1 } },
    ]);
  });

  test.each([200, 202])("%d is success, with a result", async (status) => {
    await using visit = await open([status]);
    await visit.events(1);
    const result = await call(visit.page, (client) => client.track("read"));
    expect(result).toEqual({ deviceId: "device", sessionId: "session" });
    expect(visit.receiver.received).toHaveLength(2);
  });

  test("401: no result, and no retry", async () => {
    await using visit = await open([401]);
    await visit.events(1);
    expect(await call(visit.page, (client) => client.track("read"))).toBeNull();
    expect(visit.receiver.received).toHaveLength(2);
    expect(await waitsOf(visit.page)).toEqual([]);
  });

  test("other codes: three retries, after 500 ms and then twice as long each time", async () => {
    await using visit = await open([202, 500]);
    await visit.events(1);
    expect(await call(visit.page, (client) => client.track("read"))).toBeNull();
    expect(visit.receiver.received).toHaveLength(1 + 1 + 3);
    expect(await waitsOf(visit.page)).toEqual([500, 1_000, 2_000]);
  });

  test("retries: they end at the first success; 201 is not a success", async () => {
    await using visit = await open([202, 503, 201, 202]);
    await visit.events(1);
    const result = await call(visit.page, (client) => client.track("read"));
    expect(result).toEqual({ deviceId: "device", sessionId: "session" });
    expect(visit.receiver.received).toHaveLength(1 + 3);
    expect(await waitsOf(visit.page)).toEqual([500, 1_000]);
  });
});

/** Runs in the page before the client: records the delay of each retry, and shortens it. */
function hurryRetries(longMs: number): void {
  const wait = globalThis.setTimeout;
  const waits: number[] = [];
  const hurried = (called: () => void, ms = 0) => {
    if (ms >= longMs) waits.push(ms);
    return wait(called, ms >= longMs ? 0 : ms);
  };
  Object.assign(globalThis, { waits, setTimeout: hurried });
}

function waitsOf(page: Page): Promise<readonly number[]> {
  return page.evaluate(() => (globalThis as unknown as { waits: number[] }).waits);
}

function never(): never {
  throw new Error("nothing was received");
}
