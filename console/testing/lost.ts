// In the middle of a visit the page gets no figures any more: nobody answers, or not to its key.

import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { axeFaults } from "./axe.ts";
import { type ConsoleBrowser, live, narrow, wide } from "./console-browser.ts";
import { addQueues, adminKey, openConsoleServer } from "./console-server.ts";
import { settled, shiftsOn } from "./shifts.ts";

const middle = { width: 768, height: 1024 };

export function testLost(browser: () => ConsoleBrowser): void {
  testRefusal(browser);
  testPutAway(browser);
}

async function enter(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key").fill(key);
  await page.keyboard.press("Enter");
}

function testRefusal(browser: () => ConsoleBrowser): void {
  test.each([wide, middle, narrow])(
    "a key that loses a right in the middle of a visit: said in the bar, and nothing moves, %j",
    async (viewport) => {
      await using server = await openConsoleServer({ hasKeys: true });
      await addQueues(server, ["orders"]);
      await using visitor = await browser().visit(server.consoleUrl, { viewport });
      const { page, errors } = visitor;
      await enter(page, adminKey);
      await live(page);
      await settled(page);
      const before = await shiftsOn(page);
      server.restrict(adminKey, { roles: ["produce"], queues: ["*"] });
      await page.locator(".console[data-state=disconnected]").waitFor();
      await page.locator(".top [role=alert]").getByText("403").waitFor();
      expect(await page.locator(".lost").getAttribute("title")).toContain("the role 'read'");
      await page.getByRole("link", { name: "orders", exact: true }).waitFor();
      expect(await shiftsOn(page)).toEqual(before);
      expect(await axeFaults(page)).toEqual([]);
      server.restrict(adminKey, { roles: ["admin"], queues: ["*"] });
      await page.getByRole("button", { name: "Try now" }).click();
      await live(page);
      expect(errors).toEqual([]);
    },
  );
}

function testPutAway(browser: () => ConsoleBrowser): void {
  test("the question for a key is put away: the page can be read, and says that it is old and what to do", async () => {
    await using server = await openConsoleServer({ hasKeys: true });
    await addQueues(server, ["orders", "parcels"]);
    await using visitor = await browser().visit(server.consoleUrl, { viewport: narrow });
    const { page, errors } = visitor;
    await enter(page, adminKey);
    await live(page);
    const field = page.getByPlaceholder("Filter by name");
    await field.focus();
    server.rotate(adminKey, "holdfast_next");
    const asking = page.getByRole("dialog", { name: "The key is not taken any more" });
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

    const give = page.getByRole("button", { name: "Give the key" });
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

  test("put away while items are followed: nothing asks without the key, so it does not come back", async () => {
    await using server = await openConsoleServer({ hasKeys: true });
    await addQueues(server, ["orders"]);
    await server.client.queue("orders").produce([{ utf8: "an anchor" }]);
    await using visitor = await browser().visit(`${server.consoleUrl}/items?name=orders`, {
      hasClock: true,
    });
    const { page, calls } = visitor;
    await enter(page, adminKey);
    await live(page);
    await page.getByRole("button", { name: "Follow" }).click();
    await page.locator("button[aria-pressed=true]").getByText("Follow").waitFor();
    server.rotate(adminKey, "holdfast_next");
    const asking = page.getByRole("dialog", { name: "The key is not taken any more" });
    await asking.waitFor();
    await page.keyboard.press("Escape");
    await asking.waitFor({ state: "detached" });
    await page.waitForLoadState("networkidle");
    const asked = calls.length;
    await page.clock.runFor(10_000);
    expect(calls.length).toBe(asked);
    expect(await asking.count()).toBe(0);
  });
}
