// Instants: where clocks are put forward or back, and when time alone changes something.

import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { ServerOverviewReply } from "../../openapi/schemas.ts";
import { answered, type ConsoleBrowser, live, stopTime } from "./console-browser.ts";
import { openConsoleServer } from "./console-server.ts";

const timezoneId = "Europe/Berlin";
const hourMs = 3_600_000;
const stepMs = 100;

const localText = (ms: number) => new Date(ms).toLocaleString("sv-SE", { timeZone: timezoneId });

/** The hour at whose beginning clocks are changed next. */
function nextChange(fromMs: number): number {
  const offsetAt = (ms: number) => Date.parse(`${localText(ms)}Z`) - ms;
  let at = Math.ceil(fromMs / hourMs) * hourMs;
  while (offsetAt(at) === offsetAt(at - 1_000)) at += hourMs;
  return at;
}

/** The server says that it is so much later than it is; returns what lets still more time pass. */
async function timeAhead(page: Page, aheadMs: number): Promise<(ms: number) => void> {
  let passedMs = 0;
  await page.route("**/v1/**", async (route) => {
    const response = await route.fetch();
    const text = await response.text();
    const body = text.replaceAll(
      /("now": ?)?"(\d{4}-\d\d-\d\dT[^"]*Z)"/g,
      (_, now: string | undefined, instant: string) => {
        const ms = Date.parse(instant) + aheadMs + (now === undefined ? 0 : passedMs);
        return `${now ?? ""}"${new Date(ms).toISOString()}"`;
      },
    );
    await route.fulfill({ response, body });
  });
  return (ms) => {
    passedMs += ms;
  };
}

export function testClocks(browser: () => ConsoleBrowser): void {
  test("where clocks are changed a minute stays a minute, and local time is that of the place", async () => {
    await using server = await openConsoleServer();
    const queue = server.client.queue("orders");
    await queue.create({ lease_timeout: "10m", expire_timeout: "1d" });
    await queue.produce("one");
    const lease = await queue.lease({ clientId: "worker-1" });
    const deadlineMs = Date.parse(lease?.items[0]?.lease_deadline ?? "");
    let changeMs = Date.now();
    // Forward and back, or back and forward.
    for (let changes = 0; changes < 2; changes += 1) {
      changeMs = nextChange(changeMs + hourMs);
      const aheadMs = changeMs - 120_000 - Date.now();
      await using visitor = await browser().visit("about:blank", { timezoneId });
      const { page } = visitor;
      const later = await timeAhead(page, aheadMs);
      await page.goto(`${server.consoleUrl}/queue?name=orders`);
      await live(page);
      await page.keyboard.press("u");
      const left = page.locator(".why .count");
      const clock = page.locator(".foot time");
      const isAt = (ms: number) => clock.getByText(localText(ms).slice(11, 15)).waitFor();
      await left.getByText(/^0[6789]:\d\d$/).waitFor();
      expect(await left.getAttribute("title")).toBe(localText(deadlineMs + aheadMs));
      await isAt(changeMs - 60_000);
      later(300_000);
      await left.getByText(/^0[1234]:\d\d$/).waitFor();
      await isAt(changeMs + 60_000);
    }
  });

  test("a lapse is seen by the next poll, though nothing has happened", async () => {
    await using server = await openConsoleServer({ testClock: true });
    const queue = server.client.queue("orders");
    await queue.create({ lease_timeout: "4s", expire_timeout: "1d" });
    const { ids } = await queue.produce("one", { returnIds: true });
    const lease = await queue.lease({ clientId: "worker-3" });
    const deadlineMs = Date.parse(lease?.items[0]?.lease_deadline ?? "");
    expect(deadlineMs).toBeGreaterThan(0);
    const url = `${server.consoleUrl}/items?name=orders&state=leased&item=${ids?.[0]}`;
    await using visitor = await browser().visit(url, { hasClock: true });
    const { page, errors } = visitor;
    await page.locator(".answer .count").waitFor();
    await stopTime(page);
    let answersSince = 0;
    await page.route("**/v1/server.overview", async (route) => {
      const response = await route.fetch();
      const { now } = (await response.json()) as ServerOverviewReply;
      if (Date.parse(now) > deadlineMs) answersSince += 1;
      await route.fulfill({ response });
    });
    const isOver = async () => (await page.locator(".answer[role=status]").count()) > 0;
    expect(await isOver()).toBe(false);
    // The clocks of both go on together, and wait for the machine.
    for (let passedMs = 0; passedMs < 10_000 && !(await isOver()); passedMs += stepMs) {
      await server.client.advance({ by: `${stepMs}ms` });
      await page.clock.runFor(stepMs);
      await answered(page);
    }
    expect(await isOver()).toBe(true);
    expect(answersSince).toBeLessThanOrEqual(2);
    expect(errors).toEqual([]);
  });
}
