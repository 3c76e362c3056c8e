import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { QueueClientsReply } from "../../openapi/schemas.ts";
import { axeFaults, lookFaults } from "../testing/axe.ts";
import { type ConsoleBrowser, live, narrow, stopTime, wide } from "../testing/console-browser.ts";
import { addQueues, type ConsoleServer, openConsoleServer } from "../testing/console-server.ts";
import { inChromium } from "../testing/in-chromium.ts";
import { addTraffic } from "../testing/item-traffic.ts";
import { settled } from "../testing/shifts.ts";

const hostile = ["..", ".", "a/b", "a%2Fb", "index.html", "?", "#", "<img/src=x/onerror=alert(1)>"];

function testQueuePage(browser: () => ConsoleBrowser): void {
  testMuch(browser);
  testPaused(browser);
  testSharedDeadQueue(browser);
  testClients(browser);
  testNames(browser);
  testClock(browser);
}

const settings = { lease_timeout: "1h", expire_timeout: "1d" };

const pageOf = (server: ConsoleServer, name: string, more = "") =>
  `${server.consoleUrl}/queue?${new URLSearchParams({ name })}${more}`;

function testMuch(browser: () => ConsoleBrowser): void {
  describe("a queue of 1,025 partitions", () => {
    let server: ConsoleServer;
    beforeAll(async () => {
      server = await openConsoleServer();
      const wideQueue = server.client.queue("wide");
      await server.client.queue("wide-dead").create(settings);
      await wideQueue.create({ ...settings, requested_partitions: 1_025, dead_queue: "wide-dead" });
      for (let at = 0; at < 12; at += 1) await wideQueue.produce(["one", "two"]);
      await wideQueue.lease({ batch: 1, clientId: "worker-1" });
      await wideQueue.pause({ reason: "moving house" });
    });
    afterAll(() => server.stop());

    test("queue: status, next event, holders, settings and recent actions", async () => {
      await using visitor = await browser().visit(pageOf(server, "wide"));
      const { page, errors } = visitor;
      await live(page);
      const why = page.getByRole("region", { name: "Why" });
      await why.getByText("moving house").waitFor();
      expect(await why.textContent()).toMatch(/a lease of worker-1 lapses in (01:00:00|\d\d:\d\d)/);
      await page.getByRole("heading", { name: "1,025 partitions" }).waitFor();
      const holders = page.getByRole("table", { name: "Holders" });
      expect(await holders.getByRole("row").nth(1).textContent()).toContain("worker-1");
      const done = page.getByRole("table", { name: "Actions on this queue" });
      expect(await done.getByRole("row").nth(1).textContent()).toContain("paused");
      expect(await page.getByRole("link", { name: "wide-dead" }).count()).toBe(1);
      const tab = page.getByRole("navigation", { name: "Views of wide" });
      expect(await tab.getByRole("link").allTextContents()).toEqual(["Now", "Items 24", "Dead 0"]);
      expect(errors).toEqual([]);
    });

    test("partitions: arrow keys read them, and a table has them all", async () => {
      await using visitor = await browser().visit(pageOf(server, "wide"));
      const { page, errors } = visitor;
      await live(page);
      const strip = page.getByRole("img", { name: "1,025 partitions, shaded by" });
      await strip.focus();
      await page.keyboard.press("End");
      const reading = page.locator(".strip-read");
      await reading.getByText("1024", { exact: true }).waitFor();
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("ArrowLeft");
      expect(await reading.getByText("1024", { exact: true }).count()).toBe(0);
      await page.getByText("As a table").click();
      const table = page.getByRole("table", { name: "Partitions" });
      await table.waitFor();
      expect(await table.locator("tbody tr").count()).toBe(1_025);
      const ready = await table.locator("tbody tr td:nth-child(2)").allTextContents();
      expect(ready.reduce((sum, text) => sum + Number(text), 0)).toBe(23);
      await page.getByRole("button", { name: "leased", exact: true }).last().click();
      await page.waitForURL((url) => url.searchParams.get("shade") === "leased");
      await strip.focus().catch(() => undefined);
      expect(errors).toEqual([]);
    });

    test("partitions: those that drain are outlined, and are shaded by age", async () => {
      const shrunk = server.client.queue("shrunk");
      await shrunk.create({ ...settings, requested_partitions: 4 });
      // Where an item goes that is produced follows from its call's key.
      for (let partition = 0; partition < 4; partition += 1) {
        await server.client.importItems({
          ...{ queue_name: "shrunk", partition },
          items: [{ payload: "" }, { payload: "" }],
        });
      }
      await shrunk.update({ requested_partitions: 2 });
      await using visitor = await browser().visit(pageOf(server, "shrunk", "&shade=oldest"));
      const { page, errors } = visitor;
      await live(page);
      const label = /oldest ready item .* The first: .* 2 take no new items\./;
      const strip = page.getByRole("img", { name: label });
      await strip.focus();
      expect((await page.locator(".strip .drains").getAttribute("d"))?.match(/M/g)).toHaveLength(2);
      await page.keyboard.press("End");
      const reading = page.locator(".strip-read");
      await reading.getByText("takes no new items").waitFor();
      expect(await reading.textContent()).toMatch(/partition 3 .*oldest \d/);
      await page.keyboard.press("Home");
      await reading.getByText("takes no new items").waitFor({ state: "detached" });
      await page.getByText("As a table").click();
      const rows = page.getByRole("table", { name: "Partitions" }).locator("tbody th");
      expect(await rows.allTextContents()).toEqual(["0", "1", "2 drains", "3 drains"]);
      expect(await axeFaults(page)).toEqual([]);
      await shrunk.clear({ queue: true });
      // The server looks for what has drained some ten seconds apart.
      await page.getByRole("heading", { name: "2 partitions" }).waitFor();
      expect(await page.locator(".strip .drains").getAttribute("d")).toBe("");
      expect(errors).toEqual([]);
    });

    test("queue: at both widths its boxes are where the skeleton had them", async () => {
      await using visitor = await browser().visit(pageOf(server, "wide"), { hasClock: true });
      const { page } = visitor;
      await live(page);
      await page.getByRole("heading", { name: "1,025 partitions" }).waitFor();
      await page.getByRole("region", { name: "Why" }).getByText("moving house").waitFor();
      await settled(page);
      const topsAt = async (viewport: typeof wide) => {
        await page.setViewportSize(viewport);
        return await page.evaluate(() =>
          [".why", ".now", ".plot", ".finds-place", ".clients", ".strip", ".settings"].map(
            (one) => [one, document.querySelector(one)?.getBoundingClientRect().top],
          ),
        );
      };
      const filled = { wide: await topsAt(wide), narrow: await topsAt(narrow) };
      // With its clock running, the page would soon report that the server does not answer.
      await stopTime(page);
      await page.route("**/v1/**", () => undefined);
      await page.reload();
      await page.locator(".console[data-state=loading]").waitFor();
      expect({ narrow: await topsAt(narrow), wide: await topsAt(wide) }).toEqual(filled);
    });

    test("queue: axe finds nothing at both widths in both modes, and nothing overflows", async () => {
      await using visitor = await browser().visit(pageOf(server, "wide", "&range=1h"));
      const { page, errors } = visitor;
      await live(page);
      await page.getByRole("heading", { name: "1,025 partitions" }).waitFor();
      expect([...(await lookFaults(page)), ...errors]).toEqual([]);
    });
  });
}

function testSharedDeadQueue(browser: () => ConsoleBrowser): void {
  test("shared dead queue: each queue counts its own dead items only", async () => {
    await using server = await openConsoleServer();
    await addTraffic(server);
    await server.client.queue("parcels").create({ ...settings, dead_queue: "orders-dead" });
    for (const [name, dead] of [
      ["parcels", 0],
      ["orders", 7],
    ] as const) {
      await using visitor = await browser().visit(pageOf(server, name));
      const { page, errors } = visitor;
      await page.getByRole("button", { name: "Edit…" }).waitFor();
      const redrive = page.getByRole("button", { name: "Redrive…" });
      expect(await redrive.count()).toBe(dead === 0 ? 0 : 1);
      await page.getByRole("link", { name: `Dead ${dead}`, exact: true }).waitFor();
      const figure = page.locator(".now > div", { hasText: /^dead/ });
      expect(await figure.textContent()).toBe(`dead${dead}`);
      expect(await page.getByText("are dead").count()).toBe(dead === 0 ? 0 : 1);
      expect(errors).toEqual([]);
    }
  });
}

function testPaused(browser: () => ConsoleBrowser): void {
  test("paused: beside the name, in the row, and first in the status with the reason", async () => {
    await using server = await openConsoleServer();
    await addTraffic(server);
    await server.client.queue("orders").pause({ reason: "moving house" });
    await server.client.queue("orders-dead").pause({ produce: true, lease: true });
    await using visitor = await browser().visit(pageOf(server, "orders"));
    const { page, errors } = visitor;
    const lines = page.getByRole("region", { name: "Why" }).locator("p");
    await lines.nth(2).waitFor();
    expect(await lines.first().textContent()).toMatch(
      /^Paused\. Leases are paused.*: moving house\. This has lasted for \d/,
    );
    expect(await lines.nth(1).textContent()).toMatch(/^Dead items\. 7 items died/);
    for (const viewport of [wide, narrow]) {
      await page.setViewportSize(viewport);
      await page.locator(".head").getByText("leases paused").waitFor();
    }
    await page.goto(server.consoleUrl);
    const row = page.locator(".table tbody tr", { hasText: "orders" });
    for (const viewport of [narrow, wide]) {
      await page.setViewportSize(viewport);
      await row.filter({ hasText: "dead items" }).locator("th .paused").waitFor();
      expect(await page.locator(".table th .paused").count()).toBe(2);
    }
    expect(await lookFaults(page)).toEqual([]);
    await page.goto(pageOf(server, "orders-dead"));
    await page.locator(".head .paused").getByText("paused", { exact: true }).waitFor();
    expect(errors).toEqual([]);
  });
}

function testClients(browser: () => ConsoleBrowser): void {
  test("clients: the first three are listed with the count of all, and all on demand", async () => {
    await using server = await openConsoleServer();
    await addQueues(server, ["orders", "empty"]);
    const orders = server.client.queue("orders");
    await orders.produce(["one", "two", "three", "four", "five"]);
    for (let at = 1; at <= 5; at += 1) await orders.lease({ clientId: `worker-${at}` });
    await using visitor = await browser().visit(pageOf(server, "orders"));
    const { page, errors } = visitor;
    for (const viewport of [wide, narrow]) {
      await page.setViewportSize(viewport);
      const holding = page.getByRole("region", { name: "holders" });
      const rows = page.getByRole("table", { name: "Holders" }).locator("tbody tr");
      await holding.getByText("5 clients, 5 items").waitFor();
      expect(await rows.count()).toBe(3);
      await holding.getByRole("link", { name: "2 more" }).click();
      await rows.nth(4).waitFor();
      expect(await axeFaults(page)).toEqual([]);
      // The address has it.
      await page.reload();
      await rows.nth(4).waitFor();
      await rows.getByRole("link", { name: "worker-3" }).click();
      await page.getByText("1 match, of").waitFor();
      await page.goBack();
      await holding.getByRole("link", { name: "Show fewer" }).click();
      await rows.nth(3).waitFor({ state: "detached" });
      expect(await rows.count()).toBe(3);
      await page.waitForURL((url) => !url.searchParams.has("clients"));
    }
    expect(errors).toEqual([]);
  });

  test("clients: waiting ones are counted, also if the server returns fewer", async () => {
    await using server = await openConsoleServer();
    await addQueues(server, ["orders"]);
    await using visitor = await browser().visit("about:blank");
    const { page } = visitor;
    const asked: unknown[] = [];
    await page.route("**/v1/queue.clients", async (route) => {
      const { limit } = route.request().postDataJSON();
      asked.push(limit);
      const response = await route.fetch();
      const reply = (await response.json()) as QueueClientsReply;
      const waiting = Array.from({ length: Math.min(limit, 20) }, (_, at) => ({
        ...{ client_id: `worker-${at}`, since: reply.as_of, batch_size: 10, position: at + 1 },
      }));
      await route.fulfill({ response, json: { ...reply, waiting_count: 1_200, waiting } });
    });
    await page.goto(pageOf(server, "orders"));
    const waiting = page.getByRole("region", { name: "waiting for items, in order" });
    await waiting.getByText("1,200 clients").waitFor();
    await waiting.getByRole("link", { name: "1,197 more" }).click();
    await waiting.getByText("20 of 1,200 clients").waitFor();
    const table = page.getByRole("table", { name: "Clients in line" });
    expect(await table.locator("tbody tr").count()).toBe(20);
    expect(await axeFaults(page)).toEqual([]);
    expect(new Set(asked)).toEqual(new Set([3, 1_000]));
  });
}

function testNames(browser: () => ConsoleBrowser): void {
  test("names: hostile ones have their page, and a missing queue has a note", async () => {
    const server = await openConsoleServer();
    try {
      await addQueues(server, hostile);
      await using visitor = await browser().visit(pageOf(server, "no-such"));
      const { page, errors } = visitor;
      await page.getByText("There is no queue of that name").waitFor();
      expect(await axeFaults(page)).toEqual([]);
      for (const name of hostile) {
        await page.goto(pageOf(server, name));
        await page.getByText("Empty.", { exact: true }).waitFor();
        expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(name);
        expect(await page.title()).toContain(name);
      }
      expect(await page.locator("img").count()).toBe(0);
      await page.goto(`${server.consoleUrl}/queue`);
      await page.getByRole("heading", { name: "Queue", exact: true }).waitFor();
      expect(errors).toEqual([]);
    } finally {
      await server.stop();
    }
  });
}

function testClock(browser: () => ConsoleBrowser): void {
  test("countdowns: they use the server's clock", async () => {
    const server = await openConsoleServer();
    try {
      const queue = server.client.queue("orders");
      await queue.create({ lease_timeout: "10m", expire_timeout: "1d" });
      await queue.produce("one");
      await queue.lease({ clientId: "worker-1" });
      await using visitor = await browser().visit(pageOf(server, "orders"));
      const { page } = visitor;
      await page.addInitScript(() => {
        const Real = Date;
        globalThis.Date = class extends Real {
          constructor(...given: []) {
            super(...(given.length === 0 ? ([Real.now() + 3_600_000] as unknown as []) : given));
          }
          static override now = () => Real.now() + 3_600_000;
        } as DateConstructor;
      });
      await page.reload();
      await live(page);
      const left = page.getByRole("table", { name: "Holders" }).locator("time");
      expect(await left.textContent()).toMatch(/^(10:00|0[1-9]:\d\d)$/);
    } finally {
      await server.stop();
    }
  });

  test("outage: the data stays, and updates resume once the server is back", async () => {
    const server = await openConsoleServer();
    try {
      await addQueues(server, ["orders"]);
      await using visitor = await browser().visit(pageOf(server, "orders"));
      const { page, errors } = visitor;
      await page.getByText("Empty.", { exact: true }).waitFor();
      await server.stop();
      await page.locator(".console[data-state=disconnected]").waitFor();
      await page.getByText("Empty.", { exact: true }).waitFor();
      expect(await axeFaults(page)).toEqual([]);
      await server.start();
      await live(page);
      await server.client.queue("orders").produce("one");
      await page.getByRole("link", { name: "Items 1", exact: true }).waitFor();
      expect(errors).toEqual([]);
    } finally {
      await server.stop();
    }
  });
}

inChromium([testQueuePage]);
