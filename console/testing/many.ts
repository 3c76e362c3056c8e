// As many queues as a server is made for.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type ConsoleBrowser, live } from "./console-browser.ts";
import { addQueues, type ConsoleServer, openConsoleServer } from "./console-server.ts";

const count = 10_000;
const atOnce = 100;
const rowsMax = 60;
/** One of so many is made while nothing else keeps the machine busy. */
const triesMax = 20;

const nameOf = (index: number) => `queue-${String(index).padStart(5, "0")}`;

/** At once: with so many queues a server asks for longer waits. */
async function poll(page: Page): Promise<void> {
  const answer = page.waitForResponse("**/v1/server.overview");
  await page.evaluate(() => dispatchEvent(new Event("focus")));
  await answer;
}

interface Watched {
  longTasks: number;
}

export function testMany(browser: () => ConsoleBrowser): void {
  describe("10,000 queues", () => {
    let server: ConsoleServer;
    beforeAll(async () => {
      server = await openConsoleServer();
      for (let from = 0; from < count; from += atOnce) {
        const names = Array.from({ length: atOnce }, (_, at) => nameOf(from + at));
        await Promise.all(names.map((name) => addQueues(server, [name])));
      }
    });
    afterAll(() => server.stop());

    const rows = (page: Page) => page.locator(".table tbody tr");
    const open = (query: string) => browser().visit(`${server.consoleUrl}?${query}`);

    test("few rows are drawn; End and Home go to both ends, with their places said", async () => {
      await using visitor = await open("sort=name");
      const { page, errors } = visitor;
      await live(page);
      await page.getByText("10,000 queues").first().waitFor();
      for (const [key, name, place] of [
        ["End", nameOf(count - 1), "10001"],
        ["k", nameOf(count - 2), "10000"],
        ["Home", nameOf(0), "2"],
      ] as const) {
        await page.keyboard.press(key);
        const current = page.locator("tr.cur").filter({ hasText: name });
        await current.waitFor();
        expect(await current.getAttribute("aria-rowindex")).toBe(place);
        // It is drawn before the window has come to it.
        await page.waitForFunction(() => {
          const box = document.querySelector("tr.cur")?.getBoundingClientRect();
          return box !== undefined && box.top >= 0 && box.bottom <= innerHeight;
        });
        expect(await rows(page).count()).toBeLessThanOrEqual(rowsMax);
      }
      expect(await page.locator(".table").getAttribute("aria-rowcount")).toBe("10001");
      expect(errors).toEqual([]);
    });

    test("the filter leaves those that it names, and the focus stays while polls go on", async () => {
      await using visitor = await open("sort=name");
      const { page, errors } = visitor;
      await live(page);
      await page.keyboard.press("/");
      await page.keyboard.type("0423");
      await page.getByText("11 of 10,000 queues").waitFor();
      await server.client.queue(nameOf(4_230)).produce("one");
      await poll(page);
      const produced = page.getByRole("row", { name: nameOf(4_230) }).locator(".m1");
      await produced.getByText("1", { exact: true }).waitFor();
      expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("INPUT");
      await page.keyboard.type("1");
      await page.getByText("1 of 10,000 queues").waitFor();
      await page.getByRole("link", { name: nameOf(4_231) }).focus();
      await server.client.queue(nameOf(4_231)).produce("one");
      await poll(page);
      await page.locator(".table .m1").getByText("1", { exact: true }).waitFor();
      const focused = await page.evaluate(() => document.activeElement?.textContent);
      expect(focused).toBe(nameOf(4_231));
      expect(errors).toEqual([]);
    });

    test.each(["a poll in which one queue has changed", "a letter more of the filter"] as const)(
      "%s keeps the page busy for less than 50 ms",
      async (what) => {
        await using visitor = await open("sort=name");
        const { page } = visitor;
        await live(page);
        await page.getByText("10,000 queues").first().waitFor();
        await page.evaluate(watchLongTasks);
        const longTasks = () => page.evaluate(() => (window as unknown as Watched).longTasks);
        const act = async (time: number) => {
          if (what === "a letter more of the filter") {
            await page.getByPlaceholder("Filter by name").fill("queue-0".slice(0, 6 + (time % 2)));
          } else {
            await server.client.queue(nameOf(3)).produce("one");
            await poll(page);
          }
        };
        let isQuick = false;
        for (let time = 0; time < triesMax && !isQuick; time += 1) {
          const before = await longTasks();
          await act(time);
          // What it made to do is done, and told to who observes.
          for (let frames = 0; frames < 3; frames += 1) await page.evaluate(nextFrame);
          isQuick = (await longTasks()) === before;
        }
        expect(isQuick).toBe(true);
      },
    );
  });
}

function watchLongTasks(): void {
  const watched = window as unknown as Watched;
  watched.longTasks = 0;
  const observer = new PerformanceObserver((list) => {
    watched.longTasks += list.getEntries().length;
  });
  observer.observe({ type: "longtask" });
}

function nextFrame(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
  });
}
