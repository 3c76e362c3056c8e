// What a finger has to hit on a phone.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ConsoleBrowser, live, narrow } from "./console-browser.ts";
import { type ConsoleServer, openConsoleServer } from "./console-server.ts";
import { addTraffic } from "./item-traffic.ts";
import { settled } from "./shifts.ts";

export function testTargets(browser: () => ConsoleBrowser): void {
  describe("a phone", () => {
    let server: ConsoleServer;
    beforeAll(async () => {
      server = await openConsoleServer();
      await addTraffic(server);
    });
    afterAll(() => server.stop());
    test.each([
      "",
      "/queue?name=orders",
      "/items?name=orders",
      "/dead?name=orders-dead",
      "/shards",
      "/keys",
    ])("%s: buttons and fields are as high as a finger", async (path) => {
      await using visitor = await browser().visit(server.consoleUrl + path, { viewport: narrow });
      const { page } = visitor;
      await live(page);
      await settled(page);
      expect(await page.evaluate(tooLow)).toEqual([]);
    });
  });
}

/** Not links in text or in rows, nor headings of a table, which a phone does not show. */
function tooLow(): string[] {
  const pressable = "button:not(thead *), .b, .tabs a, select, input:not([type=checkbox])";
  return [...document.querySelectorAll(pressable)]
    .map((element) => ({ element, box: element.getBoundingClientRect() }))
    .filter(({ box }) => box.height > 0 && box.width > 1 && box.height < 44)
    .map(({ element, box }) => `${box.height} ${element.outerHTML.slice(0, 90)}`);
}
