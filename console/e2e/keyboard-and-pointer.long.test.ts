// What keys and pointers do: with focus where it falls, on other keyboards, with half a press.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ServerOverviewReply } from "../../openapi/schemas.ts";
import { axeFaults } from "../testing/axe.ts";
import { type ConsoleBrowser, live, narrow, rowsOf, stopTime } from "../testing/console-browser.ts";
import { type ConsoleServer, openConsoleServer } from "../testing/console-server.ts";
import { inChromium } from "../testing/in-chromium.ts";
import { addTraffic } from "../testing/item-traffic.ts";

function testByHand(browser: () => ConsoleBrowser): void {
  describe("by hand", () => {
    let server: ConsoleServer;
    beforeAll(async () => {
      server = await openConsoleServer();
      await addTraffic(server);
    });
    afterAll(() => server.stop());
    testFocus(browser, () => server);
    testStill(browser, () => server);
    testItem(browser, () => server);
    testMac(browser, () => server);
    testOver(browser, () => server);
  });
}

type Server = () => ConsoleServer;

function testFocus(browser: () => ConsoleBrowser, server: Server): void {
  test("dialog: a click on the backdrop closes it, a press that began inside does not", async () => {
    await using visitor = await browser().visit(server().consoleUrl);
    const { page } = visitor;
    await live(page);
    const dialog = page.locator("dialog");
    for (const open of ["create", "jump"]) {
      if (open === "create") await page.getByRole("button", { name: "Create queue" }).click();
      else await page.keyboard.press("Control+k");
      const box = await dialog.locator("input").first().boundingBox();
      if (box === null) throw new Error("there is no field");
      await page.mouse.move(box.x + 20, box.y + 5);
      await page.mouse.down();
      await page.mouse.move(4, 700);
      await page.mouse.up();
      expect([open, await dialog.count()]).toEqual([open, 1]);
      await page.mouse.click(4, 700);
      await dialog.waitFor({ state: "detached" });
    }
  });

  test("shortcuts: after a click on the background Space pauses and Enter opens the current row", async () => {
    await using visitor = await browser().visit(`${server().consoleUrl}?sort=name`);
    const { page, errors } = visitor;
    await live(page);
    await page.locator("#main").click({ position: { x: 3, y: 3 } });
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");
    const state = page.locator(".foot .live");
    await page.keyboard.press("Space");
    await state.getByText("paused").waitFor();
    expect(await state.getAttribute("aria-pressed")).toBe(null);
    await page.keyboard.press("Space");
    await state.getByText("live").waitFor();
    await page.keyboard.press("j");
    await page.locator("tr[aria-current=true]").getByText("orders", { exact: true }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.get("name") === "orders");
    expect(errors).toEqual([]);
  });
}

function testStill(browser: () => ConsoleBrowser, server: Server): void {
  test("pause: ages stop, and the point of a chart has its time", async () => {
    const url = `${server().consoleUrl}?sort=name`;
    await using visitor = await browser().visit(url, { hasClock: true });
    const { page, errors } = visitor;
    await live(page);
    await page.locator(".plot canvas").waitFor();
    await page.locator(".plot").focus();
    await page.keyboard.press("ArrowLeft");
    await page
      .locator(".plot time")
      .getByText(/^\d\d:\d\d:\d\d$/)
      .waitFor();
    await stopTime(page);
    await page.locator("#main").focus();
    await page.keyboard.press("Space");
    await page.locator(".foot .live").getByText("paused").waitFor();
    const told = () => page.locator(".table .m4 time, .foot time").allTextContents();
    const before = await told();
    expect(before.length).toBeGreaterThan(2);
    await page.clock.runFor(100_000);
    expect(await told()).toEqual(before);
    expect(errors).toEqual([]);
  });

  test("shortcuts: j, k and / work on each list", async () => {
    await using visitor = await browser().visit(`${server().consoleUrl}/dead`);
    const { page } = visitor;
    await page.locator(".dead-queues th a").first().waitFor();
    for (const key of ["j", "Enter"]) await page.keyboard.press(key);
    await page.waitForURL((url) => url.searchParams.get("name") === "orders-dead");
    await page.goto(`${server().consoleUrl}/keys`);
    await page.locator(".action-filters input").first().waitFor();
    await page.keyboard.press("/");
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("INPUT");
  });
}

function testItem(browser: () => ConsoleBrowser, server: Server): void {
  test("item panel: the next button keeps the focus; after closing, the row has it", async () => {
    await using visitor = await browser().visit(`${server().consoleUrl}/items?name=orders`);
    const { page, errors } = visitor;
    await rowsOf(page).first().locator("th a").click();
    await page.waitForURL((url) => url.searchParams.has("item"));
    const first = new URL(page.url()).searchParams.get("item");
    await page.locator(".answer[role=status]").waitFor();
    const next = page.getByRole("button", { name: "Next item" });
    await next.click();
    await page.waitForURL((url) => url.searchParams.get("item") !== first);
    const second = new URL(page.url()).searchParams.get("item");
    expect(await next.evaluate((one) => one === document.activeElement)).toBe(true);
    await page.getByRole("button", { name: "Close" }).click();
    await page.locator("aside.item").waitFor({ state: "detached" });
    // It has the focus once the panel is gone, a moment later.
    await page.locator(`.items a[title="${second}"]:focus`).waitFor();
    for (const key of ["k", "Enter"]) await page.keyboard.press(key);
    await page.waitForURL((url) => url.searchParams.get("item") === first);
    expect(errors).toEqual([]);
  });

  test("item panel: Back closes it, and closing leaves no entry in the history", async () => {
    await using visitor = await browser().visit(`${server().consoleUrl}/items?name=orders`, {
      viewport: narrow,
    });
    const { page, errors } = visitor;
    const panel = page.locator("aside.item");
    const open = async () => {
      await rowsOf(page).first().locator("th a").click();
      await panel.waitFor();
    };
    const steps = () => page.evaluate(() => history.length);
    await open();
    await page.getByRole("button", { name: "Copy as curl" }).waitFor();
    await page.getByRole("button", { name: "Next item" }).click();
    await page.goBack();
    await panel.waitFor({ state: "detached" });
    expect(new URL(page.url()).search).toBe("?name=orders");
    await open();
    const opened = await steps();
    await page.getByRole("button", { name: "Close" }).click();
    await panel.waitFor({ state: "detached" });
    await open();
    expect(await steps()).toBe(opened);
    expect(errors).toEqual([]);
  });

  test("countdowns: screen readers do not read out every second", async () => {
    await using visitor = await browser().visit(
      `${server().consoleUrl}/items?name=orders&state=leased`,
    );
    const { page } = visitor;
    await rowsOf(page).first().locator("th a").click();
    await page.locator(".answer .count").waitFor();
    expect(await page.locator("[role=status] .count").count()).toBe(0);
  });
}

function testMac(browser: () => ConsoleBrowser, server: Server): void {
  test("command palette: on a Mac the hint is ⌘ K", async () => {
    await using visitor = await browser().visit("about:blank");
    const { page } = visitor;
    await page.addInitScript(() =>
      Object.defineProperty(Navigator.prototype, "platform", { get: () => "MacIntel" }),
    );
    await page.goto(server().consoleUrl);
    await live(page);
    await page.locator(".jump kbd").getByText("⌘ K").waitFor();
    await page.keyboard.press("Meta+k");
    await page.getByRole("combobox").waitFor();
  });
}

function testOver(browser: () => ConsoleBrowser, server: Server): void {
  test("alarms: those of one cause share a row, and further ones open on demand", async () => {
    await using visitor = await browser().visit("about:blank");
    const { page } = visitor;
    await page.route("**/v1/server.overview", async (route) => {
      const response = await route.fetch();
      const reply = (await response.json()) as ServerOverviewReply;
      const alarms = Array.from({ length: 50 }, (_, at) => ({
        ...{ kind: "no_consumers", queue_name: `queue-${at}`, shard: -1, since: null },
        ...{ text: "No client requests its items.", count: 1 },
      }));
      await route.fulfill({ response, json: { ...reply, alarms } });
    });
    await page.goto(server().consoleUrl);
    await page.locator(".alarm", { hasText: "no consumers, 50 items: queue-0, queue-1" }).waitFor();
    expect(await page.locator(".alarm").count()).toBe(1);
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Show queues: no consumers" }).click();
    await page.getByRole("button", { name: "and 44 more" }).waitFor();
    expect(await page.locator(".alarm").count()).toBe(6);
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "and 44 more" }).click();
    await page.locator(".alarm").nth(49).waitFor();
  });
}

inChromium([testByHand]);
