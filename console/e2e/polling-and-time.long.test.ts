// What a poll leaves alone: the row under the pointer, what is selected, what has the focus.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { ServerOverviewReply } from "../../openapi/schemas.ts";
import {
  answered,
  type ConsoleBrowser,
  calledOut,
  live,
  rowsOf,
  stopTime,
} from "../testing/console-browser.ts";
import { addQueues, type ConsoleServer, openConsoleServer } from "../testing/console-server.ts";
import { inChromium } from "../testing/in-chromium.ts";
import { addTraffic } from "../testing/item-traffic.ts";

const queues = Array.from({ length: 12 }, (_, at) => `queue-${String(at).padStart(2, "0")}`);
const pollsWatched = 4;
/** Longer than the order holds when nobody is there. */
const stillFor = "00:20";

function testPolls(browser: () => ConsoleBrowser): void {
  describe("while it polls", () => {
    let server: ConsoleServer;
    beforeAll(async () => {
      server = await openConsoleServer();
      await addTraffic(server);
      await addQueues(server, queues);
    });
    afterAll(() => server.stop());

    test("order: it stays while the pointer is in the table, and changes afterwards", async () => {
      await using visitor = await browser().visit(server.consoleUrl, { hasClock: true });
      const { page, errors } = visitor;
      await changeEachPoll(page);
      await page.goto(`${server.consoleUrl}?sort=ready&q=queue-`);
      await live(page);
      const names = () => page.locator(".table tbody th").allTextContents();
      const row = page.locator(".table tbody tr").nth(3);
      await row.hover();
      // Until then each poll may have changed the order.
      await page.waitForResponse("**/v1/server.overview");
      const before = await names();
      await row.locator("th").evaluate((cell) => getSelection()?.selectAllChildren(cell));
      const under = () => page.locator(".table tbody tr:hover th").textContent();
      const selected = () => page.evaluate(() => String(getSelection()));
      const ready = () => row.locator(".m1").textContent();
      const readyBefore = await ready();
      for (let polls = 0; polls < pollsWatched; polls += 1) {
        await page.clock.fastForward(stillFor);
        await page.waitForResponse("**/v1/server.overview");
      }
      await page.waitForFunction(
        (told) => document.querySelectorAll(".table .m1")[3]?.textContent !== told,
        readyBefore,
      );
      expect(await names()).toEqual(before);
      expect([await under(), await selected()]).toEqual([before[3] ?? "", before[3] ?? ""]);
      await page.mouse.move(5, 5);
      await page.clock.fastForward(stillFor);
      await page.waitForFunction(
        (first) => document.querySelector(".table tbody th")?.textContent !== first,
        before[0],
      );
      expect(errors).toEqual([]);
    });

    test("order: it stays for ten seconds after a touch, which leaves no pointer in the table", async () => {
      await using visitor = await browser().visit("about:blank", { hasClock: true });
      const { page } = visitor;
      await changeEachPoll(page);
      await page.goto(`${server.consoleUrl}?sort=ready&q=queue-`);
      await live(page);
      await stopTime(page);
      const names = () => page.locator(".table tbody th").allTextContents();
      await page.locator(".table tbody tr").first().dispatchEvent("pointerdown");
      const before = await names();
      const poll = async () => {
        await page.clock.runFor(1_000);
        await answered(page);
        await page.clock.runFor(100);
      };
      for (let polls = 0; polls < pollsWatched; polls += 1) await poll();
      expect(await names()).toEqual(before);
      await page.clock.fastForward(stillFor);
      await answered(page);
      await poll();
      expect(await names()).not.toEqual(before);
    });

    test("poll: a link keeps the focus while its row changes", async () => {
      await using visitor = await browser().visit(server.consoleUrl);
      const { page } = visitor;
      await changeEachPoll(page);
      await page.goto(`${server.consoleUrl}?sort=ready&q=queue-`);
      await live(page);
      await page.getByRole("link", { name: "queue-05" }).focus();
      for (let polls = 0; polls < pollsWatched; polls += 1) {
        await page.waitForResponse("**/v1/server.overview");
      }
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("queue-05");
    });

    test("poll: a dialog keeps its place, text, selection and focus", async () => {
      await using visitor = await browser().visit(server.consoleUrl);
      const { page, errors } = visitor;
      await changeEachPoll(page);
      await page.goto(`${server.consoleUrl}?sort=ready&q=queue-`);
      await live(page);
      await page.getByRole("button", { name: "Create queue" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("The 2 calls that this makes").click();
      const field = dialog.getByLabel("Name");
      await field.fill("mail");
      await field.evaluate((input) => (input as HTMLInputElement).setSelectionRange(1, 3));
      const told = async () => [
        await dialog.boundingBox(),
        await field.evaluate((input) => {
          const { value, selectionStart, selectionEnd } = input as HTMLInputElement;
          return [value, selectionStart, selectionEnd, input === document.activeElement];
        }),
        await dialog.locator(".code pre").textContent(),
      ];
      const before = await told();
      for (let polls = 0; polls < pollsWatched; polls += 1) {
        await page.waitForResponse("**/v1/server.overview");
      }
      expect(await told()).toEqual(before);
      expect(before[1]).toEqual(["mail", 1, 3, true]);
      expect(errors).toEqual([]);
    });

    test("poll: one request is open at a time", async () => {
      await using visitor = await browser().visit(server.consoleUrl, { hasClock: true });
      const { page } = visitor;
      await live(page);
      // Else the page gives up what takes seconds, and asks again.
      await stopTime(page);
      const release = Promise.withResolvers<void>();
      let isHeld = true;
      const asked = Promise.withResolvers<void>();
      let asks = 0;
      await page.route("**/v1/server.overview", async (route) => {
        asks += 1;
        asked.resolve();
        if (isHeld) await release.promise;
        await route.continue();
      });
      const happen = (type: string) =>
        page.evaluate((name) => dispatchEvent(new Event(name)), type);
      await happen("focus");
      await asked.promise;
      for (const type of ["focus", "online", "focus"]) await happen(type);
      await calledOut(page);
      expect(asks).toBe(1);
      const answered = page.waitForResponse("**/v1/server.overview");
      isHeld = false;
      release.resolve();
      await answered;
      await live(page);
    });

    test("poll: selected items and text stay selected", async () => {
      const address = `${server.consoleUrl}/items?name=orders&state=ready`;
      await using visitor = await browser().visit(address);
      const { page, errors } = visitor;
      await rowsOf(page).first().waitFor();
      for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
      await page.getByText("2 selected").waitFor();
      await rowsOf(page).nth(1).locator("th a").click();
      await page.getByRole("button", { name: "text" }).click();
      const payload = page.getByRole("region", { name: "Payload:" }).locator("pre");
      await payload.evaluate((text) => getSelection()?.selectAllChildren(text));
      const text = await payload.textContent();
      await server.client.queue("orders").produce("one more");
      for (const call of ["items.explain", "server.overview", "items.explain"]) {
        await page.waitForResponse(`**/*${call}`);
      }
      expect(await page.evaluate(() => String(getSelection()))).toBe(text ?? "");
      await page.getByText("2 selected").waitFor();
      expect(await rowsOf(page).locator("input:checked").count()).toBe(2);
      expect(errors).toEqual([]);
    });
  });
}

/** In each answer another queue has the most items, and long has gone by. */
async function changeEachPoll(page: Page): Promise<void> {
  let polls = 0;
  await page.route("**/v1/server.overview", async (route) => {
    // All of them, not only those that have changed.
    const response = await route.fetch({ postData: JSON.stringify({ since: "" }) });
    const reply = (await response.json()) as ServerOverviewReply;
    polls += 1;
    const after = (instant: string) => new Date(Date.parse(instant) + polls * 20_000).toISOString();
    const { queues: columns } = reply;
    const ready = columns.queue_name.map((name) => (queues.indexOf(name) * 7 + polls * 5) % 12);
    const json = { ...reply, as_of: after(reply.as_of), queues: { ...columns, ready } };
    await route.fulfill({ response, json });
  });
}

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

function testClocks(browser: () => ConsoleBrowser): void {
  test("time: a change of clocks keeps minutes, and local time is that of the zone", async () => {
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

  test("time: a lapse shows with the next poll, without a call", async () => {
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

inChromium([testPolls, testClocks]);
