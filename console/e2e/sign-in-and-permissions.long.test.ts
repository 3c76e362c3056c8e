import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { axeFaults } from "../testing/axe.ts";
import {
  type ConsoleBrowser,
  calledOut,
  live,
  pauseTime,
  stopTime,
  type Visitor,
} from "../testing/console-browser.ts";
import {
  addQueues,
  adminKey,
  type ConsoleServer,
  openConsoleServer,
  produceKey,
  readKey,
} from "../testing/console-server.ts";
import { inChromium } from "../testing/in-chromium.ts";
import { addManyDead, addSlowRedrive, addTraffic } from "../testing/item-traffic.ts";

function testAccess(browser: () => ConsoleBrowser): void {
  testKeys(browser);
  testRotation(browser);
  testSilence(browser);
  testHold(browser);
}

function testKeys(browser: () => ConsoleBrowser): void {
  describe("a server with keys", () => {
    let server: ConsoleServer;
    beforeAll(async () => {
      server = await openConsoleServer({ hasKeys: true, basePath: "/holdfast" });
      await addQueues(server, ["orders"]);
    });
    afterAll(() => server.stop());

    test("login: a wrong key is refused in place, and the address stays", async () => {
      await using visitor = await browser().visit(`${server.consoleUrl}?q=ord`);
      const { page, errors } = visitor;
      const field = page.getByLabel("API key");
      await field.fill("wrong");
      expect(await axeFaults(page)).toEqual([]);
      await field.press("Enter");
      await page.getByRole("alert").filter({ hasText: "401" }).waitFor();
      await field.fill(adminKey);
      await field.press("Enter");
      await live(page);
      await page.getByRole("link", { name: "orders" }).waitFor();
      expect(page.url()).toBe(`${server.consoleUrl}?q=ord`);
      expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(adminKey);
      await page.getByRole("button", { name: "Create queue" }).click();
      const curl = await page.locator(".code pre").textContent();
      expect(curl).toContain("$HOLDFAST_KEY");
      expect(curl).not.toContain(adminKey);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: /^key ops/ }).click();
      await page.getByRole("heading", { name: "requires an API key" }).waitFor();
      expect(errors).toEqual([]);
    });

    test("login: with a read-only key no change is drawn, and a line says so", async () => {
      await using visitor = await browser().visit(server.consoleUrl);
      const { page } = visitor;
      await page.getByLabel("API key").fill(readKey);
      await page.keyboard.press("Enter");
      await live(page);
      await page.getByText("this key can only read").waitFor();
      expect(await page.getByRole("button", { name: "Create queue" }).count()).toBe(0);
      await page.getByText("key eyes: read only").waitFor();
    });

    test("login: a key without the role gets the server's refusal in place", async () => {
      await using visitor = await browser().visit(server.consoleUrl);
      const { page } = visitor;
      await page.getByLabel("API key").fill(produceKey);
      await page.keyboard.press("Enter");
      const fault = page.getByRole("alert").filter({ hasText: "403" });
      expect(await fault.textContent()).toContain("read");
      await page.locator(".foot .live").getByText("refused").waitFor();
      // For a queue that the key may not read, the console does not know whether it has a dead queue.
      await page.route("**/v1/queues.info", (route) =>
        route.fulfill({ status: 403, json: { code: 403, message: "no", reason: "not_allowed" } }),
      );
      await page.goto(`${server.consoleUrl}/queue?name=orders`);
      await page.getByText("The queue is not shown.").waitFor();
      const views = page.getByRole("navigation", { name: "Views of orders" });
      expect(await views.getByRole("link").allTextContents()).toEqual(["Now", "Items "]);
    });
  });
}

function testRotation(browser: () => ConsoleBrowser): void {
  test("withdrawn key: the page asks for another in place, and continues", async () => {
    await using server = await openConsoleServer({ hasKeys: true });
    await addQueues(server, ["orders"]);
    await using visitor = await browser().visit(`${server.consoleUrl}?q=ord`);
    const { page, errors } = visitor;
    await page.getByLabel("API key").fill(adminKey);
    await page.keyboard.press("Enter");
    await live(page);
    await page.getByRole("button", { name: "Create queue" }).click();
    await page.getByLabel("Name").fill("ord-mail");
    server.rotate(adminKey, "holdfast_next");
    const asking = page.getByRole("dialog", { name: "The key is no longer accepted" });
    await asking.getByRole("alert").filter({ hasText: "401" }).waitFor();
    expect(await page.locator(".page > .fault").count()).toBe(0);
    await page.locator(".console[data-state=disconnected]").waitFor();
    expect(await page.locator(".table th a").allTextContents()).toEqual(["orders"]);
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press("Escape");
    // What cannot be done without a key asks for it again.
    await page.getByRole("button", { name: "Create ord-mail" }).click();
    await page.getByLabel("API key").fill("holdfast_next");
    await page.keyboard.press("Enter");
    await live(page);
    expect(await page.getByLabel("Name").inputValue()).toBe("ord-mail");
    await page.getByRole("button", { name: "Create ord-mail" }).click();
    await page.getByRole("link", { name: "ord-mail", exact: true }).waitFor();
    expect(errors).toEqual([]);
  });
}

const holdMs = 5_000;

function testHold(browser: () => ConsoleBrowser): void {
  test("429: nothing is sent before its Retry-After has passed, which the page shows", async () => {
    await using server = await openConsoleServer();
    await addQueues(server, ["orders"]);
    const url = `${server.consoleUrl}/queue?name=orders`;
    await using visitor = await browser().visit(url, { hasClock: true });
    const { page, errors, calls } = visitor;
    await live(page);
    await stopTime(page);
    await page.route(
      "**/v1/server.overview",
      (route) =>
        route.fulfill({
          status: 429,
          headers: { "retry-after": String(holdMs / 1_000) },
          json: { code: 429, message: "too many requests", reason: "too_many_requests" },
        }),
      { times: 1 },
    );
    // A page polls at once when its window regains focus.
    const comeBack = () => page.evaluate(() => dispatchEvent(new Event("focus")));
    await comeBack();
    await page.getByRole("alert").filter({ hasText: "Answered 429" }).waitFor();
    await page.getByText(/Next try in/).waitFor();
    await calledOut(page);
    const asked = calls.length;
    await page.clock.runFor(holdMs - 1_000);
    await comeBack();
    await calledOut(page);
    expect(calls.slice(asked)).toEqual([]);
    await page.clock.runFor(1_000);
    await live(page);
    expect(calls.length).toBeGreaterThan(asked);
    expect(errors).toEqual([]);
  });
}

function testSilence(browser: () => ConsoleBrowser): void {
  test("outage: the figures stay in grey, and the page recovers", async () => {
    const server = await openConsoleServer();
    try {
      await addQueues(server, ["orders"]);
      await using visitor = await browser().visit(server.consoleUrl);
      const { page, errors } = visitor;
      await live(page);
      await server.stop();
      await page.locator(".console[data-state=disconnected]").waitFor();
      await page.getByRole("alert").filter({ hasText: "No answer" }).waitFor();
      expect(await page.getByRole("link", { name: "orders" }).count()).toBe(1);
      const accent = await page
        .locator(".page")
        .evaluate((element) => getComputedStyle(element).getPropertyValue("--accent"));
      const muted = await page
        .locator(".page")
        .evaluate((element) => getComputedStyle(element).getPropertyValue("--text-muted"));
      expect(accent).toBe(muted);
      expect(await axeFaults(page)).toEqual([]);
      await server.start();
      await live(page);
      expect(errors).toEqual([]);
    } finally {
      await server.stop();
    }
  });
}

function testPartialKeys(browser: () => ConsoleBrowser): void {
  describe("a key for a part", () => {
    testSomeQueues(browser);
    testSomeRoles(browser);
  });
  testWrongKeys(browser);
  testTaskWithoutKey(browser);
}

async function enter(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key").fill(key);
  await page.keyboard.press("Enter");
}

async function visitAs(browser: ConsoleBrowser, server: ConsoleServer, path: string) {
  const visitor: Visitor = await browser.visit(server.consoleUrl + path);
  await enter(visitor.page, adminKey);
  await live(visitor.page);
  return visitor;
}

function testSomeQueues(browser: () => ConsoleBrowser): void {
  test("partial key: a redrive needs a destination, and no refused control is drawn", async () => {
    await using server = await openConsoleServer({ hasKeys: true });
    await addTraffic(server);
    await addSlowRedrive(server);
    server.restrict(adminKey, { roles: ["admin"], queues: ["orders*"] });
    await using visitor = await browser().visit(server.consoleUrl);
    const { page, errors } = visitor;
    const refused: string[] = [];
    page.on("response", (response) => {
      if (response.status() === 403)
        refused.push(`${response.url()} ${response.request().postData()}`);
    });
    await enter(page, adminKey);
    await live(page);
    await page.getByText("history needs a key for all queues").waitFor();
    // Without a history the values are those of the poll.
    await page.locator(".key-produced").getByText(/\d/).waitFor();
    await page.goto(`${server.consoleUrl}/dead?name=orders-dead`);
    const tasks = page.getByRole("region", { name: "Tasks" });
    await tasks.getByText("redrive").first().waitFor();
    await page.locator(".summaries tbody .c-x input").first().check();
    // It administers both queues of the task.
    expect(await tasks.getByRole("button").count()).toBe(1);
    await page.getByRole("button", { name: "Redrive…" }).click();
    const plan = page.getByRole("dialog");
    await plan.getByRole("combobox").selectOption("orders");
    await plan.getByRole("button", { name: /^Redrive \d+ items?$/ }).waitFor();
    await page.goto(`${server.consoleUrl}/queue?name=orders`);
    await page.getByText("redrive runs").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("redrive runs").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Redrive…" }).click();
    await page.getByRole("button", { name: /^Redrive \d+ items?$/ }).waitFor();
    expect(refused).toEqual([]);
    expect(errors).toEqual([]);
  });

  test("partial key: without a visible queue the page names the patterns, and offers no refused call", async () => {
    await using server = await openConsoleServer({ hasKeys: true });
    await addQueues(server, ["orders"]);
    server.restrict(adminKey, { roles: ["admin"], queues: ["mail*"] });
    await using visitor = await visitAs(browser(), server, "");
    const { page } = visitor;
    await page.getByRole("heading", { name: "This key has no access to any queue" }).waitFor();
    await page.getByText("mail*", { exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "Create queue" }).count()).toBe(0);
  });
}

function testSomeRoles(browser: () => ConsoleBrowser): void {
  test("partial key: one that may consume is not called read-only", async () => {
    await using server = await openConsoleServer({ hasKeys: true });
    await addQueues(server, ["orders"]);
    server.restrict(adminKey, { roles: ["read", "consume"], queues: ["*"] });
    await using visitor = await visitAs(browser(), server, "");
    const { page } = visitor;
    await page.getByText("key ops: read, consume").waitFor();
    expect(await page.getByText("change nothing").count()).toBe(0);
  });
}

const wrongMax = 30;

function testWrongKeys(browser: () => ConsoleBrowser): void {
  test("429: the wait of wrong keys does not hold the right one", async () => {
    await using server = await openConsoleServer({ hasKeys: true });
    await addQueues(server, ["orders"]);
    const headers = { authorization: "Bearer wrong", "content-type": "application/json" };
    let code = 0;
    for (let at = 0; at < wrongMax && code !== 429; at += 1) {
      const answer = await fetch(`${server.url}/v1/server.whoami`, {
        ...{ method: "POST", headers, body: "{}" },
      });
      code = answer.status;
    }
    expect(code).toBe(429);
    await using visitor = await browser().visit(server.consoleUrl, { hasClock: true });
    const { page } = visitor;
    await enter(page, "wrong");
    await page.getByRole("alert").filter({ hasText: "429" }).waitFor();
    // What is held back waits for ever.
    await pauseTime(page);
    const asked = page.waitForResponse("**/v1/server.overview");
    await enter(page, adminKey);
    expect((await asked).status()).toBe(200);
    await live(page);
  });
}

function testTaskWithoutKey(browser: () => ConsoleBrowser): void {
  test("dismissed login: a running task is not polled without the key", async () => {
    await using server = await openConsoleServer({ hasKeys: true });
    await addTraffic(server);
    await addManyDead(server);
    const url = `${server.consoleUrl}/dead?name=orders-dead`;
    await using visitor = await browser().visit(url, { hasClock: true });
    const { page, calls } = visitor;
    await enter(page, adminKey);
    await live(page);
    await page.locator(".summaries tbody .c-x input").first().check();
    await page.getByRole("button", { name: "Redrive…" }).click();
    const plan = page.getByRole("dialog");
    await plan.getByRole("combobox").selectOption("orders");
    await plan.getByLabel("Per second").fill("1");
    const looked = page.waitForResponse("**/v1/tasks.info");
    await plan.getByRole("button", { name: "Redrive 995 items" }).click();
    await looked;
    server.rotate(adminKey, "holdfast_next");
    const asking = page.getByRole("dialog", { name: "The key is no longer accepted" });
    await asking.waitFor();
    await page.keyboard.press("Escape");
    await asking.waitFor({ state: "detached" });
    await calledOut(page);
    const asked = calls.length;
    await page.clock.runFor(10_000);
    await calledOut(page);
    expect(calls.slice(asked)).toEqual([]);
    expect(await asking.count()).toBe(0);
  });
}

inChromium([testAccess, testPartialKeys]);
