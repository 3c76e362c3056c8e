// What a poll leaves alone: the row under the pointer, what is selected, what has the focus.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { ServerOverviewReply } from "../../openapi/schemas.ts";
import { type ConsoleBrowser, calledOut, live, stopTime } from "./console-browser.ts";
import { addQueues, type ConsoleServer, openConsoleServer } from "./console-server.ts";
import { addTraffic } from "./item-traffic.ts";
import { rowsOf } from "./items.ts";

const queues = Array.from({ length: 12 }, (_, at) => `queue-${String(at).padStart(2, "0")}`);
const pollsWatched = 4;
/** Longer than the order holds when nobody is there. */
const stillFor = "00:20";

export function testPolls(browser: () => ConsoleBrowser): void {
  describe("while it polls", () => {
    let server: ConsoleServer;
    beforeAll(async () => {
      server = await openConsoleServer();
      await addTraffic(server);
      await addQueues(server, queues);
    });
    afterAll(() => server.stop());

    test("the row under the pointer stays, what is selected stays, and the order changes once it is left", async () => {
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

    test("the link that has the focus keeps it, whatever its row says", async () => {
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

    test("a dialog stays where it is, with what is typed, marked and focused in it", async () => {
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

    test("while an answer is on its way nothing asks again, so none takes the place of a newer one", async () => {
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

    test("items that are selected stay so, and what is selected of a payload", async () => {
      const address = `${server.consoleUrl}/items?name=orders&state=ready`;
      await using visitor = await browser().visit(address);
      const { page, errors } = visitor;
      await rowsOf(page).first().waitFor();
      for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
      await page.getByText("2 selected").waitFor();
      await rowsOf(page).nth(1).locator("th a").click();
      await page.getByRole("tab", { name: "text" }).click();
      const payload = page.getByRole("tabpanel").locator("pre");
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
