// What arrives during a visit moves nothing under the pointer.

import { expect, test } from "bun:test";
import type { OverviewAlarm, ServerOverviewReply } from "../../openapi/schemas.ts";
import { type ConsoleBrowser, live } from "../testing/console-browser.ts";
import { addQueues, openConsoleServer } from "../testing/console-server.ts";
import { inChromium } from "../testing/in-chromium.ts";

const causes = ["no_consumers", "backlog_growing", "leases_lapsing"];

function alarmOf(kind: string): OverviewAlarm {
  return {
    ...{ kind, queue_name: "orders", shard: -1, since: null },
    ...{ text: "Items of this queue wait.", count: 1 },
  };
}

function testAlarms(browser: () => ConsoleBrowser): void {
  test("alarms: under the pointer nothing moves when one begins or ends", async () => {
    await using server = await openConsoleServer();
    await addQueues(server, ["orders"]);
    await using visitor = await browser().visit("about:blank");
    const { page } = visitor;
    let alarms: readonly OverviewAlarm[] = [];
    await page.route("**/v1/server.overview", async (route) => {
      const response = await route.fetch();
      const reply = (await response.json()) as ServerOverviewReply;
      await route.fulfill({ response, json: { ...reply, alarms } });
    });
    await page.goto(server.consoleUrl);
    await live(page);
    const row = page.getByRole("row", { name: "orders" });
    const topOf = async () => (await row.boundingBox())?.y ?? 0;
    const topWithoutAlarm = await topOf();

    await row.hover();
    alarms = causes.map(alarmOf);
    await page.getByRole("button", { name: "and 2 more" }).waitFor();
    expect(await page.locator(".alarm").count()).toBe(1);
    expect(await topOf()).toBe(topWithoutAlarm);

    await page.mouse.move(0, 0);
    await page.locator(".alarm").nth(2).waitFor();
    const topWithAlarms = await topOf();
    expect(topWithAlarms).toBeGreaterThan(topWithoutAlarm);

    await row.hover();
    alarms = [];
    await page.getByText("Nothing is wrong.").waitFor();
    expect(await topOf()).toBe(topWithAlarms);
    await page.mouse.move(0, 0);
    await page.waitForFunction(
      (top) => (document.querySelector("tbody tr")?.getBoundingClientRect().y ?? 0) <= top,
      topWithoutAlarm,
    );
  });
}

inChromium([testAlarms]);
