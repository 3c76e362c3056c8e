import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Request } from "playwright-core";
import { axeFaults } from "../testing/axe.ts";
import { type ConsoleBrowser, calledOut, live } from "../testing/console-browser.ts";
import { addQueues, type ConsoleServer, openConsoleServer } from "../testing/console-server.ts";
import { inChromium } from "../testing/in-chromium.ts";

const hostile = [
  ...["..", ".", "a/b", "a%2Fb", "index.html", "?", "#", "<img/src=x/onerror=alert(1)>"],
  ...["\u202egnp.exe", "&amp;", "x".repeat(200)],
];

interface QueueNamed {
  readonly queue_name?: string;
}

function testOverview(browser: () => ConsoleBrowser): void {
  testMany(browser);
  testNames(browser);
  testEmpty(browser);
}

function testMany(browser: () => ConsoleBrowser): void {
  describe("500 queues", () => {
    let server: ConsoleServer;
    beforeAll(async () => {
      server = await openConsoleServer();
      await addQueues(
        server,
        Array.from({ length: 500 }, (_, i) => `queue-${String(i).padStart(3, "0")}`),
      );
      for (const name of [...busy, "queue-123"]) await server.client.queue(name).produce("one");
    });
    afterAll(() => server.stop());

    const busy = ["queue-000", "queue-001", "queue-002"];
    const ofRow = (request: Request): string | undefined => {
      if (!request.url().endsWith("server.series")) return undefined;
      return (JSON.parse(request.postData() ?? "{}") as QueueNamed).queue_name;
    };

    test("500 queues: at most 60 rows are drawn, and j and k reach all of them", async () => {
      await using visitor = await browser().visit(`${server.consoleUrl}?sort=name`);
      const { page, errors } = visitor;
      await live(page);
      const drawn = () => page.locator(".table tbody tr").count();
      expect(await drawn()).toBeLessThanOrEqual(60);
      for (let i = 0; i < 80; i += 1) await page.keyboard.press("j");
      const current = page.locator("tr.cur");
      await current.getByText("queue-079").waitFor();
      expect(await current.getAttribute("aria-rowindex")).toBe("81");
      expect(await page.locator(".table").getAttribute("aria-rowcount")).toBe("501");
      expect(await drawn()).toBeLessThanOrEqual(60);
      await page.keyboard.press("k");
      await page.locator("tr.cur").getByText("queue-078").waitFor();
      await page.keyboard.press("Enter");
      await page.waitForURL(({ search }) => search === "?name=queue-078");
      await page.getByRole("heading", { name: "queue-078" }).waitFor();
      expect(errors).toEqual([]);
    });

    test("500 queues: histories are requested one after the other, and only for queues with traffic", async () => {
      await using visitor = await browser().visit("about:blank");
      const { page } = visitor;
      const asked: string[] = [];
      const isLastTold = Promise.withResolvers<void>();
      await page.route("**/v1/server.series", async (route) => {
        const name = ofRow(route.request());
        if (name === undefined) return route.continue();
        asked.push(`${name} asked`);
        const response = await route.fetch();
        asked.push(`${name} told`);
        await route.fulfill({ response });
        if (name === "queue-002") isLastTold.resolve();
      });
      await page.goto(`${server.consoleUrl}?sort=name`);
      await isLastTold.promise;
      await page.waitForResponse("**/v1/server.overview");
      await calledOut(page);
      expect(asked).toEqual(busy.flatMap((name) => [`${name} asked`, `${name} told`]));
    });

    test("address: it has the filter and the order, and follows the typing", async () => {
      await using visitor = await browser().visit(`${server.consoleUrl}?q=queue-12&sort=-name`);
      const { page } = visitor;
      await live(page);
      const names = () => page.locator(".table tbody tr th").allInnerTexts();
      await page.getByText("10 of 500 queues").waitFor();
      expect((await names()).slice(0, 2)).toEqual(["queue-129", "queue-128"]);
      await page.getByRole("button", { name: "Ready" }).click();
      await page.waitForURL((url) => url.searchParams.get("sort") === "ready");
      await page.locator("th[aria-sort=descending]").getByText("Ready").waitFor();
      expect((await names())[0]).toBe("queue-123");
      await page.keyboard.press("/");
      await page.keyboard.type("queue-49");
      await page.waitForURL((url) => url.searchParams.get("q") === "queue-49");
      await page.getByRole("link", { name: "queue-499" }).waitFor();
      expect(await names()).toHaveLength(10);
      await page.keyboard.press("Escape");
      await page.waitForURL((url) => !url.searchParams.has("q"));
    });

    test("address: a change of filter, order or range keeps the other two", async () => {
      await using visitor = await browser().visit(server.consoleUrl);
      const { page } = visitor;
      await live(page);
      await page.getByRole("button", { name: "1 h" }).click();
      await page.getByRole("button", { name: "In trouble" }).click();
      await page.waitForURL((url) => url.searchParams.has("only"));
      await page.getByRole("button", { name: "Ready" }).click();
      await page.waitForURL((url) => url.searchParams.has("sort"));
      expect(new URL(page.url()).search).toBe("?range=1h&only=trouble&sort=ready");
    });

    test("command palette: it finds a queue by a part of its name", async () => {
      await using visitor = await browser().visit(server.consoleUrl);
      const { page } = visitor;
      await live(page);
      await page.getByRole("button", { name: "Go to Queue, item id, page" }).click();
      await page.getByRole("dialog", { name: "Go to" }).waitFor();
      await page.keyboard.press("Escape");
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").fill("e-321");
      await page.keyboard.press("Enter");
      await page.waitForURL((url) => url.searchParams.get("name") === "queue-321");
      expect(await page.locator("dialog").count()).toBe(0);
    });

    test("poll: none while the page is hidden, and one at once when it is visible again", async () => {
      await using visitor = await browser().visit("about:blank", { hasClock: true });
      const { page, calls } = visitor;
      const gate = Promise.withResolvers<void>();
      await page.route("**/v1/server.series", async (route) => {
        await gate.promise;
        await route.continue();
      });
      const isOfFirst = (request: Request) => ofRow(request) === busy[0];
      const begun = page.waitForRequest(isOfFirst);
      const told = page.waitForEvent("requestfinished", isOfFirst);
      await page.goto(`${server.consoleUrl}?sort=name`);
      await live(page);
      await begun;
      const setHidden = (isHidden: boolean) =>
        page.evaluate(
          (state) => {
            Object.defineProperty(document, "visibilityState", {
              configurable: true,
              value: state,
            });
            document.dispatchEvent(new Event("visibilitychange"));
          },
          isHidden ? "hidden" : "visible",
        );
      await setHidden(true);
      await calledOut(page);
      const before = calls.length;
      // Those of the rows below wait for this one.
      gate.resolve();
      await told;
      // Whatever waits for its time is due.
      await page.clock.fastForward("01:00");
      await calledOut(page);
      expect(calls.slice(before)).toEqual([]);
      const asked = page.waitForRequest("**/v1/server.overview");
      await setHidden(false);
      expect((await asked).method()).toBe("POST");
    });
  });
}

function testNames(browser: () => ConsoleBrowser): void {
  test("names: those that look like paths or markup are shown as they are, and link to their queue", async () => {
    const server = await openConsoleServer();
    try {
      await addQueues(server, hostile);
      await using visitor = await browser().visit(server.consoleUrl);
      const { page, errors } = visitor;
      await live(page);
      const links = page.locator(".table tbody th a");
      const shown = await links.allTextContents();
      expect(shown.toSorted()).toEqual(hostile.toSorted());
      for (const name of hostile) {
        const href = await links.nth(shown.indexOf(name)).getAttribute("href");
        const url = new URL(href ?? "", page.url());
        expect([url.pathname, url.searchParams.get("name"), url.hash]).toEqual([
          "/console/queue",
          name,
          "",
        ]);
      }
      expect(await page.locator("img").count()).toBe(0);
      expect(errors).toEqual([]);
    } finally {
      await server.stop();
    }
  });
}

async function namesOf({ client }: ConsoleServer): Promise<readonly string[]> {
  const { items } = await client.listQueues({ pivot: "", limit: 100 });
  return items.map(({ queue_name: name }) => name);
}

function testEmpty(browser: () => ConsoleBrowser): void {
  test("no queues: the page has the calls for a shell, and a button that creates a queue", async () => {
    const server = await openConsoleServer({ basePath: "/holdfast" });
    try {
      await using visitor = await browser().visit(server.consoleUrl);
      const { page, errors } = visitor;
      await page.getByRole("heading", { name: "No queue yet" }).waitFor();
      expect(await page.locator("pre").first().textContent()).toContain(
        `curl -s '${server.url}/holdfast/v1/queues.create'`,
      );
      expect(await axeFaults(page)).toEqual([]);
      await server.client.queue("orders").create({ lease_timeout: "1h", expire_timeout: "1d" });
      await page.getByRole("link", { name: "orders" }).waitFor();
      await page.getByRole("button", { name: "Create queue" }).click();
      await page.getByLabel("Name").fill("orders");
      await page.getByRole("button", { name: "Create orders" }).click();
      // Its dead queue is made first; the queue itself is there already.
      await page.getByRole("alert").filter({ hasText: "orders" }).waitFor();
      expect(await namesOf(server)).toEqual(["orders"]);
      await page.getByLabel("Name").fill("later");
      await page.getByLabel("Lease timeout").fill("25h");
      const create = page.getByRole("button", { name: "Create later" });
      for (const press of [1, 2]) {
        const removed = page.waitForResponse("**/v1/queues.delete");
        await create.click();
        await removed;
        await page.getByRole("alert").filter({ hasText: "lease timeout is too long" }).waitFor();
        expect([press, ...(await namesOf(server))]).toEqual([press, "orders"]);
      }
      await page.getByLabel("Lease timeout").fill("1h");
      await page.getByLabel("Max attempts").fill("");
      await page.getByText("0 = no limit").waitFor();
      expect(await create.isDisabled()).toBe(true);
      await page.getByLabel("Max attempts").fill("3");
      await page.getByLabel("Name").fill("mail");
      await page.getByRole("button", { name: "Create mail" }).click();
      await page.getByRole("link", { name: "mail", exact: true }).waitFor();
      await page.getByRole("link", { name: "mail-dead" }).waitFor();
      await page.getByRole("button", { name: "Create queue" }).click();
      await page.getByLabel("Name").fill("parcels");
      await page.getByLabel("Dead queue").selectOption("mail-dead");
      await page.getByRole("button", { name: "Create parcels" }).click();
      await page.getByRole("link", { name: "parcels", exact: true }).waitFor();
      expect(await namesOf(server)).toEqual(["mail", "mail-dead", "orders", "parcels"]);
      const parcels = await server.client.queueInfo({ queue_name: "parcels" });
      expect(parcels).toMatchObject({ dead_queue: "mail-dead", max_attempts: 10 });
      expect(errors).toEqual([]);
    } finally {
      await server.stop();
    }
  });
}

inChromium([testOverview]);
