// How a console reaches its server: through a proxy, and from many tabs at once.

import { expect, test } from "bun:test";
import { type ConsoleBrowser, live, openConsoleBrowser } from "./console-browser.ts";
import { adminKey, openConsoleServer } from "./console-server.ts";
import { addTraffic } from "./item-traffic.ts";
import { openTlsProxy } from "./tls-proxy.ts";

const tabPaths = ["", "", "/queue?name=orders", "/items?name=orders", "/dead", "/shards", "/keys"];

export function testConnections(browser: () => ConsoleBrowser): void {
  test("behind a proxy that ends TLS, below its prefix: every page, a change and no violation", async () => {
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
    await page.getByRole("tab", { name: "text" }).waitFor();
    await page.reload();
    await page.getByRole("tab", { name: "text" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/holdfast/console/items");
    expect(elsewhere).toEqual([]);
    expect(errors).toEqual([]);
  });

  test("by a name of --allowed-hosts all is there; by another nothing is", async () => {
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

  test("eight tabs at once: all of them are alive", async () => {
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
  });
}
