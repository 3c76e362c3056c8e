// Names as long as they may be, and names that turn the text around them, wherever they are shown.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type ConsoleBrowser, isWiderThanWindow, live, narrow, wide } from "./console-browser.ts";
import { addQueues, type ConsoleServer, openConsoleServer } from "./console-server.ts";
import { settled } from "./shifts.ts";

/** Each of 512 bytes. */
const long = ["x".repeat(512), "é".repeat(256)];
const turning = "\u202egnp.exe";
const names = [...long, turning];

export function testNamesEverywhere(browser: () => ConsoleBrowser): void {
  describe.each(names.map((name) => [name.slice(0, 8), name]))("a queue called %s…", (_, name) => {
    let server: ConsoleServer;
    let id: string;
    beforeAll(async () => {
      server = await openConsoleServer();
      id = await addItems(server, name);
    });
    afterAll(() => server.stop());

    test.each([wide, narrow])("at %j it widens no page and turns no text", async (viewport) => {
      const query = new URLSearchParams({ name });
      const found: string[] = [];
      await using visitor = await browser().visit(server.consoleUrl, { viewport });
      const { page, errors } = visitor;
      // A page that is left while its code is on its way says that it could not be had.
      await live(page);
      const look = async (what: string) => {
        found.push(...(await faultsOf(page)).map((fault) => `${what}: ${fault}`));
      };
      for (const path of [
        ...["", `/queue?${query}`, `/items?${query}`, `/items?${query}&item=${id}`],
        ...["/dead", `/dead?name=dead-ones`, `/keys?${new URLSearchParams({ queue: name })}`],
        `/queue?${new URLSearchParams({ name: `${name.slice(1)}a` })}`,
      ]) {
        await page.goto(server.consoleUrl + path);
        await live(page);
        await settled(page);
        await look(path.slice(0, 12));
      }
      await page.goto(`${server.consoleUrl}/queue?${query}`);
      // Until then the heading is the skeleton's.
      await live(page);
      expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(name);
      for (const title of ["Produce…", "Edit…", "Clear…", "Delete…", "Pause…"]) {
        await page.getByRole("button", { name: title, exact: true }).click();
        await page.getByText("The call that this makes").click();
        await look(title);
        if (title !== "Pause…") await page.getByRole("button", { name: "Cancel" }).click();
      }
      const call = (await page.locator(".code pre").textContent()) ?? "";
      const [, body = ""] = /-d '(.*)'/s.exec(call) ?? [];
      expect(JSON.parse(body)).toMatchObject({ queue_name: name });
      await page.getByRole("button", { name: "Pause leases" }).click();
      await page.locator(".foot .said").getByText("paused").waitFor();
      await look("what was done");
      await page.getByRole("button", { name: "Resume…" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Resume" }).click();
      await page.locator("dialog").waitFor({ state: "detached" });
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").fill(name.slice(0, 6));
      await page.getByRole("option").first().waitFor();
      await look("jump");
      expect([...found, ...errors]).toEqual([]);
    });
  });
}

/** All that its user may name is named so. */
async function addItems(server: ConsoleServer, name: string): Promise<string> {
  const { client } = server;
  await addQueues(server, ["dead-ones"]);
  const settings = { lease_timeout: "1h", expire_timeout: "1d", dead_queue: "dead-ones" };
  const queue = client.queue(name);
  await queue.create(settings);
  const cut = name.slice(0, 64);
  const item = { utf8: `{"a":"${cut}"}`, kind: cut, reference: cut };
  const { ids } = await queue.produce([item, item, item], { returnIds: true });
  const lease = await queue.lease({ batch: 1, clientId: cut });
  await lease?.retry(lease.items, { dead: true, reason: `${cut} was refused` });
  await queue.lease({ batch: 1, clientId: cut });
  return ids?.[2] ?? "";
}

async function faultsOf(page: Page): Promise<readonly string[]> {
  const turned = await page.evaluate(textThatIsTurned);
  return (await isWiderThanWindow(page)) ? ["it is wider than the window", ...turned] : turned;
}

/**
 * Text of which a part turns the rest: with an override in it, beside other text of its line, and in
 * no box that keeps it to itself.
 */
function textThatIsTurned(): string[] {
  const found: string[] = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    const { textContent: own = "" } = text;
    if (!/[\u202a-\u202e\u2066-\u2069]/.test(own ?? "")) continue;
    let box = text.parentElement;
    while (box !== null) {
      const { display, unicodeBidi } = getComputedStyle(box);
      if (/isolate|plaintext/.test(unicodeBidi) || box.matches("option, title")) break;
      if (display !== "inline" && display !== "contents") {
        if (box.textContent?.trim() !== own?.trim() || /\s/.test(own?.trim() ?? "")) {
          found.push(box.outerHTML.slice(0, 160));
        }
        break;
      }
      box = box.parentElement;
    }
  }
  return found;
}
