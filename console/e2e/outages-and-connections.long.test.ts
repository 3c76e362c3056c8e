// The server goes away in the middle of a visit, and with it the code that was not asked for yet.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page, Route } from "playwright-core";
import { folders, listFiles } from "../../app/build/site-folder.ts";
import { axeFaults } from "../testing/axe.ts";
import {
  type ConsoleBrowser,
  isWiderThanWindow,
  live,
  narrow,
  openConsoleBrowser,
  wide,
} from "../testing/console-browser.ts";
import { adminKey, type ConsoleServer, openConsoleServer } from "../testing/console-server.ts";
import { inChromium } from "../testing/in-chromium.ts";
import { addTraffic } from "../testing/item-traffic.ts";
import { openTlsProxy } from "../testing/tls-proxy.ts";

const refuse = (route: Route) => route.abort("connectionrefused");
const notLoaded = (page: Page) =>
  page.getByRole("alert").filter({ hasText: "could not be loaded" });
const pageLink = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Console" }).getByRole("link", { name });

const titles = ["Queues", "Dead", "Shards", "Keys"];

function testOutage(browser: () => ConsoleBrowser): void {
  describe("an outage", () => {
    let server: ConsoleServer;
    beforeAll(async () => {
      server = await openConsoleServer();
      await addTraffic(server);
    });
    afterAll(() => server.stop());
    testMissingPage(browser, () => server);
    testMissingPart(browser, () => server);
    testLoadedAhead(browser, () => server);
    testCrash(browser, () => server);
  });
}

function testMissingPage(browser: () => ConsoleBrowser, server: () => ConsoleServer): void {
  const code = /\/assets\/(dead|shards|access)-page-/;

  test.each([wide, narrow])(
    "outage, %j: the frame stays, and the missing page is loaded once the server is back",
    async (viewport) => {
      await using visitor = await browser().visit(`${server().url}/livez`, { viewport });
      const { page, errors } = visitor;
      await page.route(code, refuse);
      await page.goto(server().consoleUrl);
      await live(page);
      await page.route("**/v1/**", refuse);
      const go = async (name: string) => {
        if (viewport === narrow) await page.locator("button.here").click();
        await pageLink(page, name).click();
      };
      for (const name of ["Shards", "Queues", "Shards"]) {
        await go(name);
        if (name === "Shards") await notLoaded(page).waitFor();
        else await page.getByRole("table", { name: "Queues" }).waitFor();
      }
      await page.locator(".console[data-state=disconnected]").waitFor();
      expect(await axeFaults(page)).toEqual([]);
      expect(await isWiderThanWindow(page)).toBe(false);
      await page.unroute(code);
      await page.unroute("**/v1/**");
      await page.getByRole("heading", { name: "Shards", level: 1, exact: true }).waitFor();
      await notLoaded(page).waitFor({ state: "detached" });
      expect(errors).toEqual([]);
    },
  );

  test("outage: the missing code of the first page is loaded with the next answer", async () => {
    await using visitor = await browser().visit(`${server().url}/livez`);
    const { page, errors } = visitor;
    await page.route(code, refuse);
    await page.goto(`${server().consoleUrl}/keys`);
    await notLoaded(page).waitFor();
    await page.unroute(code);
    await page.getByRole("heading", { name: "Keys", level: 1, exact: true }).waitFor();
    expect(await notLoaded(page).count()).toBe(0);
    expect(errors).toEqual([]);
  });

  test("update: if the server no longer has the code, the page offers a reload", async () => {
    await using visitor = await browser().visit(`${server().url}/livez`);
    const { page, errors } = visitor;
    await page.route(code, (route) => route.fulfill({ status: 404 }));
    await page.goto(server().consoleUrl);
    await live(page);
    await pageLink(page, "Dead").click();
    const reload = page.getByRole("button", { name: "Load the page again" });
    // Before the code is there again: the button goes with the next answer that has it.
    await reload.click();
    await page.unroute(code);
    await page.getByRole("table", { name: "Dead queues" }).waitFor();
    expect(errors).toEqual([]);
  });
}

function testMissingPart(browser: () => ConsoleBrowser, server: () => ConsoleServer): void {
  test.each([
    ["/queue?name=orders&range=1h", /\/assets\/uplot-chart-/, ".plot canvas"],
    ["/items?name=orders&state=ready", /\/assets\/payload-tree-/, ".code .tree"],
  ] as const)(
    "outage, %s: a missing part is loaded with the next answer",
    async (path, code, drawn) => {
      await using visitor = await browser().visit(`${server().url}/livez`);
      const { page, errors } = visitor;
      await page.route(code, refuse);
      await page.goto(server().consoleUrl + path);
      await live(page);
      if (path.startsWith("/items")) await page.locator(".items tbody th a").first().click();
      await notLoaded(page).first().waitFor();
      expect(await axeFaults(page)).toEqual([]);
      await page.unroute(code);
      await page.locator(drawn).first().waitFor();
      await notLoaded(page).first().waitFor({ state: "detached" });
      expect(errors).toEqual([]);
    },
  );
}

function testLoadedAhead(browser: () => ConsoleBrowser, server: () => ConsoleServer): void {
  test("outage: a page that was open for a moment has the code of all pages", async () => {
    await using visitor = await browser().visit(`${server().url}/livez`);
    const { page, errors } = visitor;
    const files = listFiles(`${folders.site}/console/assets`).filter(
      // A worker is no part of the page; what it does the page can do itself.
      (file) => file.endsWith(".js") && !file.startsWith("payload-worker"),
    );
    expect(files.length).toBeGreaterThan(6);
    const missing = new Set(files);
    const all = Promise.withResolvers<void>();
    page.on("requestfinished", (request) => {
      missing.delete(request.url().split("/").at(-1) ?? "");
      if (missing.size === 0) all.resolve();
    });
    await page.goto(server().consoleUrl);
    await all.promise;
    await page.route("**/*", refuse);
    for (const title of titles.toReversed()) {
      await pageLink(page, title).click();
      await page.getByRole("heading", { name: title, level: 1 }).waitFor();
    }
    await page.locator(".table").getByRole("link", { name: "orders", exact: true }).click();
    await page.getByRole("heading", { name: "orders", level: 1, exact: true }).waitFor();
    expect(await notLoaded(page).count()).toBe(0);
    expect(errors).toEqual([]);
  });
}

function testCrash(browser: () => ConsoleBrowser, server: () => ConsoleServer): void {
  test("crash: the frame and its links stay", async () => {
    await using visitor = await browser().visit(`${server().url}/livez`);
    const { page } = visitor;
    await page.route("**/v1/storage/items.find", (route) => route.fulfill({ json: { items: 1 } }));
    await page.goto(`${server().consoleUrl}/items?name=orders`);
    await page.getByRole("heading", { name: "This page crashed" }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await pageLink(page, "Queues").click();
    await page.getByRole("table", { name: "Queues" }).waitFor();
    await live(page);
  });
}

const tabPaths = ["", "", "/queue?name=orders", "/items?name=orders", "/dead", "/shards", "/keys"];

function testConnections(browser: () => ConsoleBrowser): void {
  test("proxy: behind TLS and below a prefix every page and a change work", async () => {
    await using server = await openConsoleServer({ hasKeys: true, basePath: "/holdfast" });
    await addTraffic(server);
    await using proxy = openTlsProxy(server.url);
    await using visitor = await browser().visit(`${proxy.url}/holdfast/console`, {
      ignoreHTTPSErrors: true,
    });
    const { page, errors } = visitor;
    const elsewhere: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(`${proxy.url}/holdfast/`)) elsewhere.push(request.url());
    });
    await page.getByLabel("API key").fill(adminKey);
    await page.keyboard.press("Enter");
    await live(page);
    expect(await page.getByRole("link", { name: "Docs" }).count()).toBe(0);
    for (const title of ["Dead", "Shards", "Keys", "Queues"]) {
      await page.getByRole("navigation", { name: "Console" }).getByText(title).click();
      await page.locator("h1").getByText(title).waitFor();
    }
    await page.locator(".table tbody th a").getByText("orders", { exact: true }).click();
    await page.getByRole("button", { name: "Pause…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("The call that this makes").click();
    const call = dialog.locator(".code pre");
    expect(await call.textContent()).toContain(`${proxy.url}/holdfast/v1/queue.pause`);
    await dialog.getByRole("button", { name: /^Pause/ }).click();
    await page.locator(".foot .said").getByText("paused").waitFor();
    await page.getByRole("link", { name: /^Items/ }).click();
    await page.locator(".items tbody th a").first().click();
    await page.getByRole("button", { name: "text" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "text" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/holdfast/console/items");
    expect(elsewhere).toEqual([]);
    expect(errors).toEqual([]);
  });

  test("hosts: the page works under a name of --allowed-hosts, and under no other", async () => {
    const given = ["--host-resolver-rules=MAP *.example 127.0.0.1"];
    await using server = await openConsoleServer({ allowedHosts: ["queue.example"] });
    await addTraffic(server);
    const resolving = await openConsoleBrowser(given);
    try {
      const { port } = new URL(server.url);
      await using visitor = await resolving.visit(`http://queue.example:${port}/console`);
      const { page, errors } = visitor;
      await live(page);
      await page.locator(".table tbody th a").getByText("orders", { exact: true }).click();
      await page.getByRole("button", { name: "Pause…" }).click();
      await page
        .getByRole("dialog")
        .getByRole("button", { name: /^Pause/ })
        .click();
      await page.locator(".foot .said").getByText("paused").waitFor();
      // Over plain HTTP Chromium says of another header that it takes no notice of it.
      expect(errors.filter((error) => error.startsWith("policy:"))).toEqual([]);
      const answer = await page.goto(`http://other.example:${port}/console`);
      expect(answer?.status()).toBe(403);
    } finally {
      await resolving.close();
    }
  });

  test("tabs: eight at once are all live", async () => {
    await using server = await openConsoleServer();
    await addTraffic(server);
    await using visitor = await browser().visit(server.consoleUrl);
    const tabs = [visitor.page];
    for (const path of tabPaths) {
      const tab = await visitor.page.context().newPage();
      tabs.push(tab);
      await tab.goto(server.consoleUrl + path);
    }
    await Promise.all(tabs.map(live));
    // A browser has six connections to a server: one that each kept would leave none for the last.
    const answered = await Promise.all(
      tabs.map((tab) => tab.waitForResponse("**/v1/server.overview")),
    );
    expect(answered.every((response) => response.ok())).toBe(true);
    await Promise.all(tabs.map(live));
    for (const tab of tabs.slice(1)) await tab.close();
  });
}

inChromium([testOutage, testConnections]);
