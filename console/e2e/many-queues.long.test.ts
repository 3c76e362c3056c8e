// As many queues as a server is made for.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { axeFaults } from "../testing/axe.ts";
import {
  type ConsoleBrowser,
  isWiderThanWindow,
  live,
  narrow,
  wide,
} from "../testing/console-browser.ts";
import { addQueues, type ConsoleServer, openConsoleServer } from "../testing/console-server.ts";
import { inChromium } from "../testing/in-chromium.ts";
import { addTraffic } from "../testing/item-traffic.ts";
import { settled } from "../testing/shifts.ts";

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

function testMany(browser: () => ConsoleBrowser): void {
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

    test("10,000 queues: few rows are drawn, and End and Home reach both ends", async () => {
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

    test("10,000 queues: the filter applies, and the focus stays during polls", async () => {
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
      "10,000 queues: %s blocks the page for less than 50 ms",
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

const consumers = 3;
/** Some 700 items per second, while most of the processor is left to the pages. */
const pauseMs = 50;

function testBusy(browser: () => ConsoleBrowser): void {
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
        await Bun.sleep(pauseMs);
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

    test("busy server: an item opens, and the queue is paused and resumed", async () => {
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

/** Each of 512 bytes. */
const long = ["x".repeat(512), "é".repeat(256)];
const turning = "\u202egnp.exe";
const names = [...long, turning];

function testNamesEverywhere(browser: () => ConsoleBrowser): void {
  describe.each(names.map((name) => [name.slice(0, 8), name]))("a queue called %s…", (_, name) => {
    let server: ConsoleServer;
    let id: string;
    beforeAll(async () => {
      server = await openConsoleServer();
      id = await addItems(server, name);
    });
    afterAll(() => server.stop());

    test("names: no page is wider than its window, and no text changes direction", async () => {
      const query = new URLSearchParams({ name });
      const found: string[] = [];
      await using visitor = await browser().visit(server.consoleUrl);
      const { page, errors } = visitor;
      // A page that is left while its code is on its way says that it could not be had.
      await live(page);
      const look = async (what: string) => {
        for (const viewport of [narrow, wide]) {
          await page.setViewportSize(viewport);
          const faults = await faultsOf(page);
          found.push(...faults.map((fault) => `${viewport.width} px, ${what}: ${fault}`));
        }
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

inChromium([testMany, testBusy, testNamesEverywhere]);
