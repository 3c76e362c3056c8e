import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { lookFaults } from "../testing/axe.ts";
import { type ConsoleBrowser, live, rowsOf, wide } from "../testing/console-browser.ts";
import { addQueues, type ConsoleServer, openConsoleServer } from "../testing/console-server.ts";
import { inChromium } from "../testing/in-chromium.ts";
import { addTraffic } from "../testing/item-traffic.ts";
import { settled } from "../testing/shifts.ts";
import { twinsOn } from "../testing/twins.ts";

const hostile = ["..", "a/b", "a%2Fb", "?", "#", "<img/src=x/onerror=alert(1)>", "\u202egnp.exe"];

function testItems(browser: () => ConsoleBrowser): void {
  describe("items and dead", () => {
    let server: ConsoleServer;
    beforeAll(async () => {
      server = await openConsoleServer();
      await addTraffic(server);
      await addQueues(server, hostile);
      for (const name of hostile) await server.client.queue(name).produce("one");
    });
    afterAll(() => server.stop());
    testItemLooks(browser, () => server);
    testFilters(browser, () => server);
    testNames(browser, () => server);
  });
}

function testItemLooks(browser: () => ConsoleBrowser, server: () => ConsoleServer): void {
  const pages = [
    ["/items?name=orders&state=ready", ".items th a"],
    ["/items?name=orders&state=leased", ".items th a"],
    ["/items?name=orders&state=scheduled&kind=later", null],
    ["/items?name=orders&state=dead", ".items th a"],
    ["/items?name=orders&kind=none", null],
    ["/items", null],
    ["/dead?name=orders-dead", ".summaries tbody .c-x input"],
    ["/dead", null],
  ] as const;
  test.each(pages)(
    "%s: axe finds nothing at both widths in both modes, and nothing overflows",
    async (path, press) => {
      await using visitor = await browser().visit(server().consoleUrl + path);
      const { page, errors } = visitor;
      await live(page);
      if (press !== null) await page.locator(press).first().click();
      if (press === ".items th a") await page.getByRole("button", { name: "hex" }).waitFor();
      expect([...(await lookFaults(page)), ...errors]).toEqual([]);
    },
  );

  test("item panel: the next item replaces the first, with its own status, payload and changes", async () => {
    const { client, consoleUrl } = server();
    await using visitor = await browser().visit(`${consoleUrl}/items?name=orders&state=ready`);
    const { page, errors } = visitor;
    const links = rowsOf(page).locator("th a");
    await links.nth(1).waitFor();
    const titles = await links.evaluateAll((found) =>
      found.slice(0, 2).map((link) => (link as HTMLElement).title),
    );
    const [first = "", second = ""] = titles;
    const { reference: own = "" } = await client.getItem({ id: second });
    const panel = page.getByRole("complementary");
    const payloads = panel.getByRole("region", { name: "Payload:" });
    const shown = () => payloads.getByText(/^"account-\d+"$/).allInnerTexts();
    await links.first().click();
    await payloads.getByText(/^"account-\d+"$/).waitFor();
    // The second time both are known already.
    for (const id of [second, first, second]) {
      await page.keyboard.press(id === second ? "]" : "[");
      await page.getByRole("complementary", { name: `Item …${id.slice(-8)}` }).waitFor();
      await panel.getByRole("button", { name: "Delete" }).waitFor();
      await payloads.getByText(id === second ? `"${own}"` : /^"account-\d+"$/).waitFor();
      expect(await twinsOn(page)).toEqual([]);
      expect([await panel.locator(".answer").count(), (await shown()).length]).toEqual([1, 1]);
    }
    expect(await shown()).toEqual([`"${own}"`]);
    await panel.getByRole("button", { name: "Delete" }).click();
    expect(await page.getByRole("dialog").locator("pre").textContent()).toContain(second);
    expect(errors).toEqual([]);
  });

  test("payload: if a second read is refused, the refusal is above it", async () => {
    await using visitor = await browser().visit(`${server().consoleUrl}/items?name=orders`);
    const { page } = visitor;
    const payload = page.getByRole("region", { name: "Payload:" });
    await rowsOf(page).locator("th a").first().click();
    await payload.waitFor();
    await page.getByRole("link", { name: "Now" }).click();
    // A change of the queue has everything read again.
    await page.getByRole("button", { name: "Produce…" }).click();
    await page.getByRole("button", { name: "Produce 1 item" }).click();
    await page.locator("dialog").waitFor({ state: "detached" });
    const refusal = { message: "the shard is down", reason: "" };
    await page.route("**/v1/storage/items.get", (route) =>
      route.fulfill({ status: 400, json: refusal }),
    );
    await page.goBack();
    await page.getByRole("alert").getByText("The payload could not be read.").waitFor();
    await payload.waitFor();
  });

  test("item list: beside an open item fewer columns fill the width", async () => {
    await using visitor = await browser().visit(
      `${server().consoleUrl}/items?name=orders&state=dead`,
    );
    const { page } = visitor;
    await rowsOf(page).first().locator("th a").click();
    await page.locator("aside.item").waitFor();
    const edges = await page.evaluate(() =>
      [".items", "tr.cur > :nth-last-child(2)"].map((selector) =>
        Math.round(document.querySelector(selector)?.getBoundingClientRect().right ?? 0),
      ),
    );
    expect(edges[0]).toBe(edges[1]);
  });

  test("item list: its frame is where the skeleton had it", async () => {
    await using visitor = await browser().visit(`${server().consoleUrl}/items?name=orders`);
    const { page } = visitor;
    await rowsOf(page).first().waitFor();
    await settled(page);
    const tops = () =>
      page.evaluate(() =>
        [".split", ".list-top", ".chips", ".items thead", ".items tbody tr"].map(
          (selector) => document.querySelector(selector)?.getBoundingClientRect().top,
        ),
      );
    const filled = await tops();
    await page.route("**/v1/**", () => undefined);
    await page.reload();
    await page.locator(".items .ghost").first().waitFor();
    expect(await tops()).toEqual(filled);
  });
}

function testFilters(browser: () => ConsoleBrowser, server: () => ConsoleServer): void {
  test("filter: it is in the address, and an id alone opens its item", async () => {
    await using visitor = await browser().visit(`${server().consoleUrl}/items?name=orders`);
    const { page, errors } = visitor;
    await rowsOf(page).first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("kind=order-paid");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.get("kind") === "order-paid");
    await page.getByText(/^2 match, of \d+ scanned$/).waitFor();
    // They may be counted before they are listed.
    await rowsOf(page).nth(1).waitFor();
    expect(await rowsOf(page).count()).toBe(2);
    await page.keyboard.type("attempts=many");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").filter({ hasText: "takes a number" }).waitFor();
    await page.keyboard.press("Escape");
    const id = await rowsOf(page).first().locator("th a").getAttribute("title");
    await page.keyboard.type(String(id));
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.get("item") === id);
    await page.getByText("It is ready, with").waitFor();
    await page.reload();
    await page.getByText("It is ready, with").waitFor();
    await page.getByRole("button", { name: "Remove kind" }).click();
    await page.waitForURL((url) => !url.searchParams.has("kind"));
    await page.goto(`${server().consoleUrl}/items?item=${id}`);
    await page.getByRole("heading", { name: "orders" }).waitFor();
    expect(errors).toEqual([]);
  });

  test("filter: a search continues over pages without matches until it finds one or is stopped", async () => {
    await using visitor = await browser().visit(server().consoleUrl);
    const { page, errors } = visitor;
    const barren = 5;
    let pieces = 0;
    let isHeld = true;
    await page.route("**/v1/storage/items.find", async (route) => {
      const body = route.request().postDataJSON();
      const piece = body.pivot === "" ? 0 : Number(body.pivot);
      if (piece === barren) return route.continue({ postData: { ...body, pivot: "" } });
      pieces = Math.max(pieces, piece + 1);
      while (isHeld && piece > 1) await Bun.sleep(10);
      return route.fulfill({
        json: { items: [], next_pivot: String(piece + 1), scanned: 100_000 },
      });
    });
    await page.goto(`${server().consoleUrl}/items?name=orders&kind=order-paid`);
    await page.getByRole("button", { name: "Stop searching" }).click();
    isHeld = false;
    const more = page.getByRole("button", { name: "Continue searching" });
    await more.and(page.locator(":enabled")).waitFor();
    expect(pieces).toBeLessThan(barren);
    expect(await rowsOf(page).count()).toBe(0);
    expect(await page.getByText("matches this filter").count()).toBe(0);
    await more.click();
    await page.getByText("2 match, of 500,0").waitFor();
    await rowsOf(page).first().waitFor();
    expect(await rowsOf(page).count()).toBe(2);
    expect(pieces).toBe(barren);
    expect(errors).toEqual([]);
  });

  test("dead items: those of the queue in its dead queue, and a reason links to its items", async () => {
    await using visitor = await browser().visit(
      `${server().consoleUrl}/items?name=orders&state=dead`,
    );
    const { page } = visitor;
    await page.getByText("7 match, of 7 scanned").waitFor();
    await page
      .getByRole("navigation", { name: "Of this queue" })
      .getByRole("link", { name: "Dead" })
      .click();
    await page.getByText("2 reasons, 7 items, all scanned").waitFor();
    await page.getByRole("link", { name: "card_declined: order <n>" }).click();
    await page.waitForURL((url) => url.searchParams.get("reason") === "card_declined: order <n>");
    await page.getByText("5 match, of 7 scanned").waitFor();
    await page.goBack();
    await page.getByRole("link", { name: "no reason given" }).click();
    await page.getByText("2 match, of 7 scanned").waitFor();
  });

  test("dead queues: each has its sources and its count, and links to its reasons", async () => {
    await using visitor = await browser().visit(`${server().consoleUrl}/dead`);
    const { page, errors } = visitor;
    const row = page.getByRole("table", { name: "Dead queues" }).locator("tbody tr").first();
    await row.getByRole("cell", { name: "7", exact: true }).waitFor();
    expect((await row.getByRole("cell").allInnerTexts()).slice(0, 2)).toEqual(["orders", "7"]);
    await row.getByRole("link", { name: "orders-dead" }).click();
    await page.getByText("2 reasons, 7 items, all scanned").waitFor();
    expect(errors).toEqual([]);
  });

  test("match count: a partial count has no difference since", async () => {
    await using visitor = await browser().visit("about:blank");
    const { page } = visitor;
    await page.route("**/v1/storage/items.summarize", async (route) => {
      const response = await route.fetch();
      const reply = await response.json();
      const summaries = reply.summaries.map((summary: object) => ({ ...summary, count: 1 }));
      await route.fulfill({ response, json: { ...reply, summaries, next_pivot: "0.0.9" } });
    });
    const gate = Promise.withResolvers<void>();
    let looks = 0;
    await page.route("**/v1/storage/items.find", async (route) => {
      looks += 1;
      if (looks > 1) await gate.promise;
      const response = await route.fetch();
      const reply = await response.json();
      const part = { items: reply.items.slice(0, 1), next_pivot: "0.0.9" };
      await route.fulfill({ response, json: { ...reply, ...part } });
    });
    await page.goto(`${server().consoleUrl}/items?name=orders`);
    await page.getByText(/^1\+ match, of/).waitFor();
    await page.getByRole("button", { name: "refresh" }).waitFor();
    expect(await page.getByText("more since").count()).toBe(0);
    gate.resolve();
  });

  test("select all: as many items as one call takes, then none", async () => {
    await using visitor = await browser().visit("about:blank");
    const { page } = visitor;
    await page.route("**/v1/storage/items.find", async (route) => {
      const response = await route.fetch();
      const reply = await response.json();
      const [one] = reply.items;
      const items = Array.from({ length: 1_002 }, (_, at) => ({
        ...one,
        id: one.id.slice(0, -4) + String(at).padStart(4, "0"),
      }));
      await route.fulfill({ response, json: { ...reply, items } });
    });
    await page.goto(`${server().consoleUrl}/items?name=orders`);
    // Before they are listed the box is there, and selects none.
    await rowsOf(page).first().waitFor();
    const all = page.getByLabel("Select all in the list");
    await all.click();
    const bulk = page.getByRole("region", { name: "What is selected" });
    await bulk.getByText("1,000 selected").waitFor();
    await bulk.getByText("the most of one call").waitFor();
    expect(await all.isChecked()).toBe(true);
    await rowsOf(page).first().getByRole("checkbox").click();
    await bulk.getByText("999 selected").waitFor();
    await all.click();
    await bulk.getByText("1,000 selected").waitFor();
    await all.click();
    await bulk.waitFor({ state: "detached" });
  });
}

function testNames(browser: () => ConsoleBrowser, server: () => ConsoleServer): void {
  test("names: those that look like paths or markup are whole in addresses", async () => {
    await using visitor = await browser().visit(`${server().consoleUrl}/items`);
    const { page, errors } = visitor;
    for (const name of hostile) {
      await page.goto(`${server().consoleUrl}/items?${new URLSearchParams({ name })}`);
      await page.getByText("1 match, of 1 scanned").waitFor();
      expect(await page.locator("h1").textContent()).toBe(name);
      await page.goto(`${server().consoleUrl}/dead?${new URLSearchParams({ name })}`);
      await page.getByText("1 reason, 1 item, all scanned").waitFor();
      expect(await page.locator("h1").textContent()).toBe(name);
    }
    expect(await page.locator("img").count()).toBe(0);
    expect(errors).toEqual([]);
  });
}

/** Four calls, each of which looks at 100,000. */
const itemCount = 350_000;
const batch = 1_000;
/** Numbers of those that are looked for. */
const rare = [40_000, 240_000, 340_000];
const addressOf = (queue: string) => `/items?name=${queue}&kind=rare`;
const address = addressOf("orders");

function testLongLook(browser: () => ConsoleBrowser): void {
  describe("a look through a backlog", () => {
    let server: ConsoleServer;
    beforeAll(async () => {
      server = await openConsoleServer();
      await addQueues(server, ["orders", "changing", "others"]);
      for (const queue of ["orders", "changing"]) await addBacklog(server, queue);
    });
    afterAll(() => server.stop());

    test("search: it shows progress without faults, Escape stops it, it resumes, and results stay after a return", async () => {
      await using visitor = await browser().visit(server.consoleUrl);
      const { page, errors, calls } = visitor;
      const finds = () => calls.filter((path) => path.endsWith("items.find")).length;
      const gate = await heldAt(page, 2);
      await page.goto(server.consoleUrl + address);
      await page.getByText("1+ match, of 200,000 scanned").waitFor();
      const progress = page.getByRole("progressbar", { name: "Scanned" });
      expect(await progress.evaluate((one: HTMLProgressElement) => one.position)).toBeCloseTo(0.57);
      await page.getByText("57 %").waitFor();
      await gate.reached;
      expect(await lookFaults(page)).toEqual([]);
      await page.setViewportSize(wide);
      await page.keyboard.press("Escape");
      const goOn = page.getByRole("button", { name: "Continue searching" });
      gate.resolve();
      await goOn.and(page.locator(":enabled")).waitFor();
      const stopped = finds();
      await rowsOf(page).nth(1).waitFor();
      expect(await rowsOf(page).count()).toBe(2);
      await goOn.click();
      await page.getByText("3 match, of 350,000 scanned").waitFor();
      expect(await progress.count()).toBe(0);
      expect([stopped, finds()]).toEqual([3, 4]);
      const ids = await rowsOf(page).locator("th a").evaluateAll(titlesOf);
      await page.getByRole("link", { name: "Queues" }).first().click();
      await page.getByRole("table", { name: "Queues" }).waitFor();
      await page.goBack();
      await page.getByText("3 match, of 350,000 scanned").waitFor();
      expect(finds()).toBe(4);
      await page.reload();
      await page.getByText("3 match, of 350,000 scanned").waitFor();
      expect(await rowsOf(page).locator("th a").evaluateAll(titlesOf)).toEqual(ids);
      expect(errors).toEqual([]);
    });

    test("search: other views keep polling meanwhile", async () => {
      await using looking = await browser().visit(server.consoleUrl);
      const gate = await heldAt(looking.page, 2);
      await looking.page.goto(server.consoleUrl + address);
      await looking.page.getByRole("button", { name: "Stop searching" }).waitFor();
      await using other = await browser().visit(server.consoleUrl);
      gate.resolve();
      for (const path of ["", "/queue?name=orders", "/items?name=others", "/shards"]) {
        await other.page.goto(server.consoleUrl + path);
        await live(other.page);
      }
      await looking.page.getByText("3 match, of 350,000 scanned").waitFor();
      expect(other.errors).toEqual([]);
    });

    test("search: a change repeats none of it, and marks the rows of changed items", async () => {
      await using visitor = await browser().visit(server.consoleUrl);
      const { page, errors, calls } = visitor;
      const finds = () => calls.filter((path) => path.endsWith("items.find")).length;
      await page.goto(server.consoleUrl + addressOf("changing"));
      await page.getByText("3 match, of 350,000 scanned").waitFor();
      const before = finds();
      await rowsOf(page).nth(1).getByRole("checkbox").check();
      await page.getByRole("button", { name: "Delete…" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete 1 item" }).click();
      await page.locator(".foot .said").getByText("deleted: 1 item of changing").waitFor();
      await rowsOf(page).and(page.locator(".gone")).waitFor();
      expect(finds()).toBe(before);
      await page.getByRole("button", { name: "refresh" }).click();
      await page.getByText("2 match, of 349,999 scanned").waitFor();
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

inChromium([testItems, testLongLook]);
