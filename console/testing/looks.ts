import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { axeFaults } from "./axe.ts";
import { type ConsoleBrowser, isWiderThanWindow, live, narrow, wide } from "./console-browser.ts";
import { addQueues, type ConsoleServer, openConsoleServer } from "./console-server.ts";

const pages = ["", "/queue?name=orders", "/items?name=orders", "/dead", "/shards", "/keys"];

const onceMs = 5_000;

async function again(act: () => Promise<void>, isDone: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    await act();
    try {
      await isDone();
      return;
    } catch (cause) {
      if (tries === 5) throw cause;
    }
  }
}

export function testLooks(browser: () => ConsoleBrowser): void {
  describe("each page", () => {
    let server: ConsoleServer;
    beforeAll(async () => {
      server = await openConsoleServer();
      await addQueues(server, [
        "orders",
        "emails",
        "a-name-that-takes-more-than-its-place-".repeat(6),
      ]);
      await server.client.queue("emails").produce("one");
      await server.client.queue("orders").produce("two");
      await server.client.queue("orders").lease();
    });
    afterAll(() => server.stop());

    test.each(pages)(
      "%j: axe finds nothing, at both widths in both modes, and nothing is too wide",
      async (path) => {
        const found: string[] = [];
        for (const viewport of [wide, narrow]) {
          for (const theme of ["dark", "light"] as const) {
            await using visitor = await browser().visit(server.consoleUrl + path, {
              viewport,
              theme,
            });
            const { page, errors } = visitor;
            await live(page);
            const faults = [...(await axeFaults(page)), ...errors];
            if (await isWiderThanWindow(page)) faults.push("it is wider than the window");
            found.push(...faults.map((fault) => `${viewport.width} ${theme}: ${fault}`));
          }
        }
        expect(found).toEqual([]);
      },
    );

    test("dialogs: axe finds nothing in them, in both modes", async () => {
      const found: string[] = [];
      for (const theme of ["dark", "light"] as const) {
        await using visitor = await browser().visit(server.consoleUrl, { theme });
        const { page } = visitor;
        await live(page);
        const opens = [
          () => page.keyboard.press("Control+k"),
          () => page.keyboard.press("Shift+?"),
          () => page.getByRole("button", { name: "Create queue" }).click(),
        ];
        for (const open of opens) {
          // A key that comes before anybody listens is nobody's.
          await again(open, () => page.locator("dialog[open]").waitFor({ timeout: onceMs }));
          found.push(...(await axeFaults(page)));
          const gone = { state: "detached", timeout: onceMs } as const;
          await again(
            () => page.keyboard.press("Escape"),
            () => page.locator("dialog[open]").waitFor(gone),
          );
        }
      }
      expect(found).toEqual([]);
    });

    test("the overview: its boxes stand where the skeleton had them", async () => {
      await using visitor = await browser().visit(server.consoleUrl);
      const { page } = visitor;
      await live(page);
      const topsOf = () =>
        page.evaluate(() =>
          [".alarms", ".ledger", ".plot", ".tools", ".table thead", ".foot"].map((selector) => {
            const { top, left } = document.querySelector(selector)?.getBoundingClientRect() ?? {};
            return [selector, top, left];
          }),
        );
      const filled = await topsOf();
      await page.route("**/v1/**", () => undefined);
      await page.reload();
      await page.locator(".console[data-state=loading]").waitFor();
      expect(await topsOf()).toEqual(filled);
    });
  });
}
