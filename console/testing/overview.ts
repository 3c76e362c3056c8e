import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ConsoleBrowser, live } from "./console-browser.ts";
import { addQueues, type ConsoleServer, openConsoleServer } from "./console-server.ts";

const hostile = [
  ...["..", ".", "a/b", "a%2Fb", "index.html", "?", "#", "<img/src=x/onerror=alert(1)>"],
  ...["\u202egnp.exe", "&amp;", "x".repeat(200)],
];

export function testOverview(browser: () => ConsoleBrowser): void {
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
      await server.client.queue("queue-123").produce("one");
    });
    afterAll(() => server.stop());

    test("at most 60 rows are drawn; j and k go through all of them", async () => {
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
      await page.getByRole("heading", { name: "queue-078" }).waitFor();
      expect(new URL(page.url()).search).toBe("?name=queue-078");
      expect(errors).toEqual([]);
    });

    test("an address says which queues are shown in which order, and follows what is typed", async () => {
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

    test("jump finds a queue by a part of its name", async () => {
      await using visitor = await browser().visit(server.consoleUrl);
      const { page } = visitor;
      await live(page);
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").fill("e-321");
      await page.keyboard.press("Enter");
      await page.waitForURL((url) => url.searchParams.get("name") === "queue-321");
      expect(await page.locator("dialog").count()).toBe(0);
    });

    test("a hidden page asks nothing, and asks at once when it is seen again", async () => {
      await using visitor = await browser().visit(server.consoleUrl);
      const { page, calls } = visitor;
      await live(page);
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
      // What was under way has come back by then, and more than three polls would have gone out.
      await page.evaluate(() => new Promise((done) => setTimeout(done, 500)));
      const before = calls.filter((path) => path.endsWith("overview")).length;
      await page.evaluate(() => new Promise((done) => setTimeout(done, 3_500)));
      expect(calls.filter((path) => path.endsWith("overview"))).toHaveLength(before);
      const asked = page.waitForRequest("**/v1/server.overview");
      await setHidden(false);
      expect((await asked).method()).toBe("POST");
    });
  });
}

function testNames(browser: () => ConsoleBrowser): void {
  test("names that look like something else are shown as they are, and lead to their queue", async () => {
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

function testEmpty(browser: () => ConsoleBrowser): void {
  test("no queue yet: the calls that make one are there, and a button that makes them", async () => {
    const server = await openConsoleServer({ basePath: "/holdfast" });
    try {
      await using visitor = await browser().visit(server.consoleUrl);
      const { page, errors } = visitor;
      await page.getByRole("heading", { name: "No queue yet" }).waitFor();
      expect(await page.locator("pre").first().textContent()).toContain(
        `curl -s '${server.url}/holdfast/v1/queues.create'`,
      );
      await page.getByRole("button", { name: "Create orders" }).click();
      await page.getByRole("link", { name: "orders" }).waitFor();
      expect(await page.getByRole("status").filter({ hasText: "200" }).textContent()).toContain(
        "created orders",
      );
      await page.getByRole("button", { name: "Create queue" }).click();
      await page.getByLabel("Name").fill("orders");
      await page.getByRole("button", { name: "Create orders" }).click();
      // Its dead queue is made first; the queue itself is there already.
      await page.getByRole("alert").filter({ hasText: "orders" }).waitFor();
      await page.getByLabel("Name").fill("mail");
      await page.getByRole("button", { name: "Create mail" }).click();
      await page.getByRole("link", { name: "mail", exact: true }).waitFor();
      await page.getByRole("link", { name: "mail-dead" }).waitFor();
      expect(errors).toEqual([]);
    } finally {
      await server.stop();
    }
  });
}
