import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { type ConsoleBrowser, live } from "../testing/console-browser.ts";
import { type ConsoleServer, openConsoleServer } from "../testing/console-server.ts";
import { inChromium } from "../testing/in-chromium.ts";

const encode = (text: string) => new TextEncoder().encode(text);

const payloads = {
  empty: new Uint8Array(),
  "no UTF-8": Uint8Array.from([0xff, 0xfe, 0x00, 0x41, 0x80]),
  "a large integer": encode('{"order":9007199254740993,"price":1.10}'),
  "a key twice": encode('{"a":1,"a":2}'),
  HTML: encode('{"x":"<img src=x onerror=alert(1)> https://example.com javascript:alert(1)"}'),
  ANSI: encode("\u001b[31mred\u001b[0m"),
  "10,000 levels": encode("[".repeat(10_000) + "]".repeat(10_000)),
  "4.9 MB": encode(JSON.stringify({ text: "0123456789".repeat(490_000) })),
} as const;

interface Watched {
  /** Of the last download. */
  blobType: string;
}

type Name = keyof typeof payloads;

function testPayloads(browser: () => ConsoleBrowser): void {
  describe("payloads", () => {
    let server: ConsoleServer;
    const ids = new Map<string, string>();
    beforeAll(async () => {
      server = await openConsoleServer();
      const queue = server.client.queue("odd");
      await queue.create({ lease_timeout: "1h", expire_timeout: "1d" });
      for (const [name, bytes] of Object.entries(payloads)) {
        // As a text it is within what a call may bring; in base64 it would not be.
        const item = name === "4.9 MB" ? new TextDecoder().decode(bytes) : { bytes };
        const produced = await queue.produce(item, { returnIds: true });
        ids.set(name, produced.ids?.[0] ?? "");
      }
    });
    afterAll(() => server.stop());

    const open = async (page: Page, name: Name) => {
      await page.goto(`${server.consoleUrl}/items?item=${ids.get(name)}`);
      await live(page);
      await page.getByRole("button", { name: "hex" }).waitFor();
    };
    const shown = (page: Page) => page.getByRole("region", { name: "Payload:" });

    test("payload: hex and download are the bytes", async () => {
      await using visitor = await browser().visit(server.consoleUrl);
      const { page, errors } = visitor;
      await page.addInitScript(() => {
        const { createObjectURL } = URL;
        URL.createObjectURL = (blob: Blob) => {
          (window as unknown as Watched).blobType = blob.type;
          return createObjectURL(blob);
        };
      });
      for (const name of Object.keys(payloads) as Name[]) {
        await open(page, name);
        const bytes = payloads[name];
        await page.getByRole("button", { name: "hex" }).click();
        const head = [...bytes.subarray(0, 16)].map((byte) => byte.toString(16).padStart(2, "0"));
        const line = bytes.length === 0 ? "It has no bytes." : head.join(" ");
        const text = ((await shown(page).textContent()) ?? "").replace(/ +/g, " ");
        expect([name, text.includes(line)]).toEqual([name, true]);
        const [file] = await Promise.all([
          page.waitForEvent("download"),
          page.getByRole("button", { name: "Download" }).click(),
        ]);
        expect(readFileSync(await file.path()).equals(bytes)).toBe(true);
        expect(file.suggestedFilename()).toBe(`${ids.get(name)}.bin`);
        // As another type a browser might show it, at the address of the console.
        const type = await page.evaluate(() => (window as unknown as Watched).blobType);
        expect(type).toBe("application/octet-stream");
      }
      expect(errors).toEqual([]);
    });

    test("payload: there is a tree only if it is complete, with numbers as written", async () => {
      await using visitor = await browser().visit(server.consoleUrl);
      const { page } = visitor;
      await open(page, "a large integer");
      await shown(page).getByText("9007199254740993", { exact: true }).waitFor();
      await shown(page).getByText("1.10", { exact: true }).waitFor();
      for (const [name, why] of [
        ["a key twice", "a field twice"],
        ["10,000 levels", "nested more than"],
        ["4.9 MB", "no tree above 1 MB"],
      ] as const) {
        await open(page, name);
        await page.getByText(why).waitFor();
        expect(await page.getByRole("button", { name: "tree" }).count()).toBe(0);
      }
      expect((await shown(page).textContent())?.length).toBeLessThan(70_000);
      await page.getByText("Only the beginning is shown.").waitFor();
    });

    test("payload: markup is text", async () => {
      await using visitor = await browser().visit(server.consoleUrl);
      const { page, errors } = visitor;
      await open(page, "HTML");
      await shown(page).getByText("onerror").waitFor();
      await page.getByRole("button", { name: "text" }).click();
      expect(await shown(page).textContent()).toContain("<img src=x onerror=alert(1)>");
      expect(await page.locator("img").count()).toBe(0);
      expect(await shown(page).locator("a").count()).toBe(0);
      await open(page, "ANSI");
      expect(await shown(page).textContent()).toContain("␛[31mred␛[0m");
      await open(page, "no UTF-8");
      await page.getByRole("button", { name: "text" }).click();
      await page.getByText("It is not UTF-8").waitFor();
      expect(errors).toEqual([]);
    });
  });
}

inChromium([testPayloads]);
