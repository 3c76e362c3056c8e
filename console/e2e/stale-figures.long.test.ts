// In the middle of a visit the page gets no figures any more: nobody answers, or not to its key.

import { expect, test } from "bun:test";
import type { Locator, Page, Route } from "playwright-core";
import type { ServerOverviewReply } from "../../openapi/schemas.ts";
import { axeFaults } from "../testing/axe.ts";
import {
  type ConsoleBrowser,
  calledOut,
  live,
  middle,
  narrow,
  pauseTime,
  rowsOf,
  stopTime,
  wide,
} from "../testing/console-browser.ts";
import { addQueues, adminKey, openConsoleServer } from "../testing/console-server.ts";
import { inChromium } from "../testing/in-chromium.ts";
import { addSlowRedrive, addTraffic } from "../testing/item-traffic.ts";
import { settled, shiftsOn } from "../testing/shifts.ts";

function testLost(browser: () => ConsoleBrowser): void {
  testWithin(browser);
  testRefusal(browser);
  testStopped(browser);
  testPutAway(browser);
}

async function enter(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key").fill(key);
  await page.keyboard.press("Enter");
}

/** By the page's own clock, which stands still unless it is put forward: no machine is too slow. */
function testWithin(browser: () => ConsoleBrowser): void {
  test.each([
    ["nobody is there", (route: Route) => route.abort("connectionrefused")],
    ["the answer stays away", () => undefined],
  ] as const)(
    "stale data, %s: grey three seconds after the last answer, with its time",
    async (_, lose) => {
      await using server = await openConsoleServer();
      await addQueues(server, ["orders"]);
      await using visitor = await browser().visit(server.consoleUrl, { hasClock: true });
      const { page, errors } = visitor;
      await live(page);
      let isGone = false;
      let answers = 0;
      let asOf = "";
      await page.route("**/v1/server.overview", async (route) => {
        if (isGone) return lose(route);
        answers += 1;
        const name = `answer ${answers}`;
        const response = await route.fetch();
        const reply = (await response.json()) as ServerOverviewReply;
        asOf = reply.as_of;
        await route.fulfill({
          response,
          // A server that is slow asks for longer waits.
          json: { ...reply, poll_after_ms: 1_000, machine: { ...reply.machine, name } },
        });
      });
      await page.getByText("answer 1").waitFor();
      await stopTime(page);
      isGone = true;
      await page.getByText(`answer ${answers}`, { exact: true }).waitFor();
      expect(await page.locator(".console").getAttribute("data-state")).toBe("live");
      await page.clock.runFor(3_000);
      await page.locator(".console[data-state=disconnected]").waitFor();
      expect(await page.locator(".lost").textContent()).toContain(
        `Figures of ${asOf.slice(11, 19)}`,
      );
      expect(await page.locator(".foot time").textContent()).toBe(asOf.slice(11, 19));
      expect(await colourOf(page, "--accent")).toBe(await colourOf(page, "--text-muted"));
      expect(errors).toEqual([]);
    },
  );
}

function colourOf(page: Page, name: string): Promise<string> {
  return page
    .locator(".page")
    .evaluate((element, of) => getComputedStyle(element).getPropertyValue(of), name);
}

function testRefusal(browser: () => ConsoleBrowser): void {
  test("withdrawn right: at each width the header says so, and nothing moves", async () => {
    await using server = await openConsoleServer({ hasKeys: true });
    await addQueues(server, ["orders"]);
    await using visitor = await browser().visit(server.consoleUrl, { hasClock: true });
    const { page, errors } = visitor;
    await enter(page, adminKey);
    await live(page);
    for (const viewport of [wide, middle, narrow]) {
      await page.setViewportSize(viewport);
      await settled(page);
      const before = await shiftsOn(page);
      server.restrict(adminKey, { roles: ["produce"], queues: ["*"] });
      await page.locator(".console[data-state=disconnected]").waitFor();
      await page.locator(".top [role=alert]").getByText("403").waitFor();
      expect(await page.locator(".lost").getAttribute("title")).toContain("the role 'read'");
      await page.getByRole("link", { name: "orders", exact: true }).waitFor();
      const create = page.getByRole("button", { name: "Create queue" });
      await page.getByRole("button", { name: /: produce$/ }).waitFor();
      expect(await create.count()).toBe(0);
      expect(await shiftsOn(page)).toEqual(before);
      expect(await axeFaults(page)).toEqual([]);
      // The page tries by itself too, after which nobody could ask it to.
      await pauseTime(page);
      server.restrict(adminKey, { roles: ["admin"], queues: ["*"] });
      await page.getByRole("button", { name: "Try now" }).click();
      await live(page);
      await page.clock.resume();
      await create.waitFor();
    }
    expect(errors).toEqual([]);
  });
}

/** Whatever it is that would ask again (a chart, a list, an item, a task), with what comes of it. */
const askingPages: Readonly<Record<string, (page: Page) => Locator>> = {
  "": (page) => page.getByRole("table", { name: "Queues" }),
  "/queue?name=orders": (page) => page.getByRole("table", { name: "Holders" }),
  "/items?name=orders": (page) => page.getByRole("complementary").getByText("It is ready, with"),
  "/dead?name=orders-dead": (page) => page.getByRole("region", { name: "Tasks" }),
};

function testStopped(browser: () => ConsoleBrowser): void {
  const stops = {
    "the reader has paused it": (page: Page) => page.keyboard.press("Space"),
    "nobody answers": async (page: Page) => {
      await page.route("**/v1/**", (route) => route.abort("connectionrefused"));
      // It polls at once, and as its time stands, it is the only one that asks.
      await page.evaluate(() => dispatchEvent(new Event("focus")));
    },
  } as const;
  test.each(
    Object.keys(askingPages).flatMap((path) =>
      (Object.keys(stops) as (keyof typeof stops)[]).map((why) => [path, why] as const),
    ),
  )("console%s asks nothing but the poll's own question, as %s", async (path, why) => {
    await using server = await openConsoleServer();
    await addTraffic(server);
    await addSlowRedrive(server);
    await using visitor = await browser().visit(server.consoleUrl + path, { hasClock: true });
    const { page, calls } = visitor;
    await live(page);
    const isOfItems = path.startsWith("/items");
    if (isOfItems) await rowsOf(page).first().locator("th a").click();
    await askingPages[path]?.(page).waitFor();
    await stopTime(page);
    await page.locator("#main").focus();
    await stops[why](page);
    await page
      .locator(".foot .live")
      .getByText(/paused|no answer/)
      .waitFor();
    await calledOut(page);
    const asked = calls.length;
    await page.clock.runFor(60_000);
    await calledOut(page);
    const since = calls.slice(asked).filter((call) => !call.endsWith("server.overview"));
    expect(since).toEqual([]);
    if (why !== "nobody answers") expect(calls.length).toBe(asked);
  });
}

function testPutAway(browser: () => ConsoleBrowser): void {
  test("dismissed login: the page is readable, and says that its data is stale and what to do", async () => {
    await using server = await openConsoleServer({ hasKeys: true });
    await addQueues(server, ["orders", "parcels"]);
    await using visitor = await browser().visit(server.consoleUrl, { viewport: narrow });
    const { page, errors } = visitor;
    await enter(page, adminKey);
    await live(page);
    const field = page.getByPlaceholder("Filter by name");
    await field.focus();
    server.rotate(adminKey, "holdfast_next");
    const asking = page.getByRole("dialog", { name: "The key is no longer accepted" });
    await asking.waitFor();
    await page.keyboard.press("Escape");
    await asking.waitFor({ state: "detached" });
    expect(await field.evaluate((one) => one === document.activeElement)).toBe(true);
    await page
      .locator(".lost")
      .getByText(/^Figures of \d\d:\d\d:\d\d/)
      .waitFor();
    await page.keyboard.type("par");
    await page.getByRole("link", { name: "orders", exact: true }).waitFor({ state: "detached" });
    expect(await axeFaults(page)).toEqual([]);

    const give = page.getByRole("button", { name: "Enter the key" });
    await give.click();
    await asking.getByRole("button", { name: "Only read" }).click();
    await asking.waitFor({ state: "detached" });
    expect(await give.evaluate((one) => one === document.activeElement)).toBe(true);
    await give.press("Enter");
    await asking.waitFor();
    await enter(page, "holdfast_next");
    await live(page);
    await asking.waitFor({ state: "detached" });
    // What had the focus is gone with what it was for.
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");
    expect(errors).toEqual([]);
  });
}

inChromium([testLost]);
