// The console while its server is at work: items come and go, and somebody looks and acts.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { axeFaults } from "./axe.ts";
import { type ConsoleBrowser, live } from "./console-browser.ts";
import { type ConsoleServer, openConsoleServer } from "./console-server.ts";
import { addTraffic } from "./item-traffic.ts";
import { settled } from "./shifts.ts";

const consumers = 3;

export function testBusy(browser: () => ConsoleBrowser): void {
  describe("a server at work", () => {
    let server: ConsoleServer;
    let isAtWork = true;
    let working: Promise<unknown>;
    beforeAll(async () => {
      server = await openConsoleServer();
      await addTraffic(server);
      working = Promise.all(Array.from({ length: consumers }, (_, at) => work(at)));
    });
    afterAll(async () => {
      isAtWork = false;
      await working;
      await server.stop();
    });

    /** More come than go, so that a list always has some. */
    async function work(consumer: number): Promise<void> {
      const queue = server.client.queue("orders");
      while (isAtWork) {
        await queue.produce(Array.from({ length: 12 }, () => ({ utf8: "{}", kind: "busy" })));
        const lease = await queue.lease({ batch: 10, clientId: `worker-${consumer}` });
        const [first, ...rest] = lease?.items ?? [];
        if (lease === null || first === undefined) continue;
        await lease.retry([first], { dead: true, reason: "card_declined" });
        if (rest.length > 0) await lease.complete(rest);
      }
    }

    test.each([
      ["", ".table tbody tr:has-text('orders') .m1"],
      ["/queue?name=orders", ".now dd"],
      ["/items?name=orders&kind=busy", null],
      ["/dead?name=orders-dead", null],
      ["/shards", ".shard-table .n"],
    ])("%s: it is live, and its figures go on", async (path, figure) => {
      await using visitor = await browser().visit(server.consoleUrl + path);
      const { page, errors } = visitor;
      await live(page);
      await settled(page);
      if (figure !== null) {
        const shown = page.locator(figure);
        const before = await shown.allTextContents();
        expect(before.length).toBeGreaterThan(0);
        while ((await shown.allTextContents()).join() === before.join()) {
          await page.waitForResponse("**/v1/server.overview");
        }
      }
      expect(await axeFaults(page)).toEqual([]);
      await live(page);
      expect(errors).toEqual([]);
    });

    test("an item opens, and the queue is paused and goes on", async () => {
      await using visitor = await browser().visit(
        `${server.consoleUrl}/items?name=orders&kind=busy`,
      );
      const { page, errors } = visitor;
      await page.locator(".items tbody th a").first().click();
      await page.locator("aside.item .answer").waitFor();
      await page.goto(`${server.consoleUrl}/queue?name=orders`);
      for (const [open, act, said] of [
        ["Pause…", "Pause leases", "paused"],
        ["Resume…", "Resume", "resumed"],
      ] as const) {
        await page.getByRole("button", { name: open, exact: true }).click();
        await page.getByRole("dialog").getByRole("button", { name: act, exact: true }).click();
        await page.locator(".foot .said").getByText(said).waitFor();
      }
      expect(errors).toEqual([]);
    });
  });
}
