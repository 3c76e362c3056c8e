// A look through more items than a call looks at, for a few of them: what it shows meanwhile, how it
// is ended, what is kept of it.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { axeFaults } from "./axe.ts";
import { type ConsoleBrowser, isWiderThanWindow, live, narrow, wide } from "./console-browser.ts";
import { addQueues, type ConsoleServer, openConsoleServer } from "./console-server.ts";
import { rowsOf } from "./items.ts";

/** Four calls, each of which looks at 100,000. */
const itemCount = 350_000;
const batch = 1_000;
/** Numbers of those that are looked for. */
const rare = [40_000, 240_000, 340_000];
const addressOf = (queue: string) => `/items?name=${queue}&kind=rare`;
const address = addressOf("orders");

export function testLongLook(browser: () => ConsoleBrowser): void {
  describe("a look through a backlog", () => {
    let server: ConsoleServer;
    beforeAll(async () => {
      server = await openConsoleServer();
      await addQueues(server, ["orders", "changing", "others"]);
      for (const queue of ["orders", "changing"]) await addBacklog(server, queue);
    });
    afterAll(() => server.stop());

    test("says how far it is, is stopped by Escape and goes on; what was found stays, for who comes back too", async () => {
      await using visitor = await browser().visit(server.consoleUrl);
      const { page, errors, calls } = visitor;
      const finds = () => calls.filter((path) => path.endsWith("items.find")).length;
      const gate = await heldAt(page, 2);
      await page.goto(server.consoleUrl + address);
      await page.getByText("1+ match, of 200,000 looked at").waitFor();
      const progress = page.getByRole("progressbar", { name: "Looked at" });
      expect(await progress.evaluate((one: HTMLProgressElement) => one.position)).toBeCloseTo(0.57);
      await page.getByText("57 %").waitFor();
      await gate.reached;
      await page.keyboard.press("Escape");
      const goOn = page.getByRole("button", { name: "Look on" });
      gate.resolve();
      await goOn.and(page.locator(":enabled")).waitFor();
      const stopped = finds();
      await rowsOf(page).nth(1).waitFor();
      expect(await rowsOf(page).count()).toBe(2);
      await goOn.click();
      await page.getByText("3 match, of 350,000 looked at").waitFor();
      expect(await progress.count()).toBe(0);
      expect([stopped, finds()]).toEqual([3, 4]);
      const ids = await rowsOf(page).locator("th a").evaluateAll(titlesOf);
      await page.getByRole("link", { name: "Queues" }).first().click();
      await page.getByRole("table", { name: "Queues" }).waitFor();
      await page.goBack();
      await page.getByText("3 match, of 350,000 looked at").waitFor();
      expect(finds()).toBe(4);
      await page.reload();
      await page.getByText("3 match, of 350,000 looked at").waitFor();
      expect(await rowsOf(page).locator("th a").evaluateAll(titlesOf)).toEqual(ids);
      expect(errors).toEqual([]);
    });

    test("axe finds nothing while it looks, at both widths in both modes", async () => {
      const found: string[] = [];
      for (const viewport of [wide, narrow]) {
        for (const theme of ["dark", "light"] as const) {
          await using visitor = await browser().visit(server.consoleUrl, { viewport, theme });
          const { page, errors } = visitor;
          const gate = await heldAt(page, 2);
          await page.goto(server.consoleUrl + address);
          await page.getByRole("button", { name: "Stop looking" }).waitFor();
          await page.getByText("1+ match, of 200,000 looked at").waitFor();
          found.push(...(await axeFaults(page)), ...errors);
          if (await isWiderThanWindow(page)) found.push(`it is wider than ${viewport.width}`);
          gate.resolve();
        }
      }
      expect(found).toEqual([]);
    });

    test("other views answer meanwhile, each as often as it asks", async () => {
      await using looking = await browser().visit(server.consoleUrl);
      const gate = await heldAt(looking.page, 2);
      await looking.page.goto(server.consoleUrl + address);
      await looking.page.getByRole("button", { name: "Stop looking" }).waitFor();
      await using other = await browser().visit(server.consoleUrl);
      gate.resolve();
      for (const path of ["", "/queue?name=orders", "/items?name=others", "/shards"]) {
        await other.page.goto(server.consoleUrl + path);
        await live(other.page);
      }
      await looking.page.getByText("3 match, of 350,000 looked at").waitFor();
      expect(other.errors).toEqual([]);
    });

    test("a change beside it asks for none of it again; what was changed is gone in its row", async () => {
      await using visitor = await browser().visit(server.consoleUrl);
      const { page, errors, calls } = visitor;
      const finds = () => calls.filter((path) => path.endsWith("items.find")).length;
      await page.goto(server.consoleUrl + addressOf("changing"));
      await page.getByText("3 match, of 350,000 looked at").waitFor();
      const before = finds();
      await rowsOf(page).nth(1).getByRole("checkbox").check();
      await page.getByRole("button", { name: "Delete…" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete 1 item" }).click();
      await page.locator(".foot .said").getByText("deleted: 1 item of changing").waitFor();
      await rowsOf(page).and(page.locator(".gone")).waitFor();
      expect(finds()).toBe(before);
      await page.getByRole("button", { name: "look again" }).click();
      await page.getByText("2 match, of 349,999 looked at").waitFor();
      expect(await page.locator("tr.gone").count()).toBe(0);
      expect(errors).toEqual([]);
    });
  });
}

async function addBacklog(server: ConsoleServer, queue: string): Promise<void> {
  for (let from = 0; from < itemCount; from += batch) {
    await server.client.importItems({
      queue_name: queue,
      partition: 0,
      items: Array.from({ length: batch }, (_, at) => ({
        payload: "",
        kind: rare.includes(from + at) ? "rare" : "common",
      })),
    });
  }
}

const titlesOf = (links: Element[]) => links.map((link) => link.getAttribute("title"));

/** So many pieces of a look are answered; one more is asked for once `reached`, and waits for `resolve`. */
async function heldAt(page: Page, pieces: number) {
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  let asked = 0;
  await page.route("**/v1/storage/items.find", async (route) => {
    asked += 1;
    if (asked > pieces) {
      reached.resolve();
      await gate.promise;
    }
    await route.continue();
  });
  return { resolve: gate.resolve, reached: reached.promise };
}
