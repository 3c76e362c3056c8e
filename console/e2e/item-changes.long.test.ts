import { describe, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { createClient } from "../../client/client.ts";
import { axeFaults } from "../testing/axe.ts";
import { type ConsoleBrowser, live, rowsOf } from "../testing/console-browser.ts";
import { adminKey, openConsoleServer, readKey } from "../testing/console-server.ts";
import { inChromium } from "../testing/in-chromium.ts";
import { addSlowRedrive, addTraffic } from "../testing/item-traffic.ts";

function testChanges(browser: () => ConsoleBrowser): void {
  describe("changes of items", () => {
    testKeyboard(browser);
    testExpect(browser);
    testDead(browser);
    testCounts(browser);
    testRoles(browser);
  });
}

const said = (page: Page, text: RegExp) => page.locator(".foot .said").getByText(text).waitFor();

function testKeyboard(browser: () => ConsoleBrowser): void {
  test("change: works by keyboard alone, and the count in the button is that of the reply", async () => {
    await using server = await openConsoleServer();
    await addTraffic(server);
    await using visitor = await browser().visit(`${server.consoleUrl}/items?name=orders`);
    const { page, errors } = visitor;
    await rowsOf(page).nth(2).waitFor();
    const pressUntil = async (name: RegExp) => {
      for (let at = 0; at < 40; at += 1) {
        await page.keyboard.press("Tab");
        const text = await page.evaluate(() => document.activeElement?.textContent ?? "");
        if (name.test(text)) return;
      }
      throw new Error(`no key leads to ${name}`);
    };
    for (const key of ["j", "j", "Enter"]) await page.keyboard.press(key);
    await page.getByRole("complementary").getByText("It is ready, with").waitFor();
    const first = new URL(page.url()).searchParams.get("item");
    await page.keyboard.press("]");
    await page.waitForURL((url) => url.searchParams.get("item") !== first);
    await page.keyboard.press("[");
    await page.waitForURL((url) => url.searchParams.get("item") === first);
    // Until then the buttons are those of the other.
    await page.getByRole("complementary", { name: `Item …${first?.slice(-8)}` }).waitFor();
    await page.getByRole("button", { name: "Send to dead…" }).waitFor();
    await pressUntil(/^Send to dead…$/);
    await page.keyboard.press("Enter");
    const button = page.getByRole("dialog").getByRole("button", { name: "Send to dead 1 item" });
    await button.waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.type("sent by mistake");
    await page.keyboard.press("Enter");
    await said(page, /sent to the dead queue: 1 item of orders/);
    const items = await server.client.findItems({
      queue_name: "orders-dead",
      filter: { reason: "sent by mistake" },
    });
    expect(items.items).toHaveLength(1);
    await page.keyboard.press("Escape");
    await page.waitForURL((url) => !url.searchParams.has("item"));
    expect(errors).toEqual([]);
  });

  test("retry: leased items are taken from their holder by their ids, and the dialog warns of it", async () => {
    await using server = await openConsoleServer();
    await addTraffic(server);
    await using visitor = await browser().visit(
      `${server.consoleUrl}/items?name=orders&state=leased`,
    );
    const { page } = visitor;
    await rowsOf(page).nth(1).waitFor();
    for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
    await page.getByRole("button", { name: "Retry now…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("answered 453").waitFor();
    expect(await dialog.locator("pre").textContent()).toContain("/v1/queue.retry");
    await dialog.getByRole("button", { name: "Take back 2 items" }).click();
    await said(page, /taken back from their holders: 2 items of orders/);
    await page.getByText("No item of this queue is leased.").waitFor();
  });
}

function testExpect(browser: () => ConsoleBrowser): void {
  test("delete by filter: if more items match, 453 is beside the button, which gets the new count", async () => {
    await using server = await openConsoleServer();
    await addTraffic(server);
    const { client } = server;
    await using visitor = await browser().visit(
      `${server.consoleUrl}/items?name=orders&state=scheduled&kind=later`,
    );
    const { page } = visitor;
    await rowsOf(page).nth(2).waitFor();
    for (const key of ["j", "x"]) await page.keyboard.press(key);
    await page.getByRole("button", { name: "all 3 that match" }).click();
    await page.getByRole("button", { name: "Delete…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Delete 3 items" }).waitFor();
    const enqueue_at = new Date(Date.now() + 3_600_000).toISOString();
    await client.queue("orders").produce({ utf8: "new", kind: "later", enqueue_at });
    // A removal by a filter needs the name of the queue.
    await dialog.getByLabel("Type orders to continue").fill("orders");
    await dialog.getByRole("button", { name: "Delete 3 items" }).click();
    await dialog.getByRole("alert").filter({ hasText: "453" }).waitFor();
    await dialog.getByRole("button", { name: "Delete 4 items" }).click();
    await said(page, /deleted: 4 items of orders/);
    const left = await client.findItems({ queue_name: "orders", filter: { kind: "later" } });
    expect(left.items).toEqual([]);
  });
}

function testCounts(browser: () => ConsoleBrowser): void {
  test("change: a dry run without an answer is made once, and leaves no count to submit", async () => {
    await using server = await openConsoleServer();
    await addTraffic(server);
    await using visitor = await browser().visit(`${server.consoleUrl}/items?name=orders`);
    const { page } = visitor;
    let asks = 0;
    await page.route("**/v1/queue.repair", (route) => {
      asks += 1;
      return asks === 1 ? route.continue() : route.abort();
    });
    await rowsOf(page).nth(2).waitFor();
    for (const key of ["j", "x"]) await page.keyboard.press(key);
    await page.getByRole("button", { name: "Send to dead…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Send to dead 1 item" }).click();
    // The change has no answer, nor has the dry run after it.
    await dialog.getByRole("alert").nth(1).waitFor();
    expect(asks).toBe(3);
    expect(await dialog.getByRole("button", { name: "Send to dead …" }).isDisabled()).toBe(true);
  });

  test("change: a count of 0 is explained by its verb, or by the destinations", async () => {
    await using server = await openConsoleServer();
    await addTraffic(server);
    await using visitor = await browser().visit(
      `${server.consoleUrl}/items?name=orders&state=scheduled`,
    );
    const { page } = visitor;
    await page.route("**/v1/queue.repair", (route) => route.fulfill({ json: { matched: 0 } }));
    await rowsOf(page).nth(2).waitFor();
    for (const key of ["j", "x"]) await page.keyboard.press(key);
    await page.getByRole("button", { name: "Make ready now…" }).click();
    await page.getByRole("dialog").getByText("None is scheduled any more").waitFor();
    const stay = { matched: 5, destinations: [{ queue_name: "", count: 5 }] };
    await page.route("**/v1/queue.redrive", (route) => route.fulfill({ json: stay }));
    await page.goto(`${server.consoleUrl}/dead?name=orders-dead`);
    await page.getByRole("checkbox", { name: "Select card_declined" }).check();
    await page.getByRole("button", { name: "Redrive…" }).click();
    await page.getByRole("row", { name: "their original queue was deleted 5" }).waitFor();
    await page.getByRole("heading", { name: "Redrive 0 items" }).waitFor();
    expect(await page.locator("p.warn").count()).toBe(0);
  });
}

function testDead(browser: () => ConsoleBrowser): void {
  test("redrive: a reason is counted, requeued, and reported by its task", async () => {
    await using server = await openConsoleServer();
    await addTraffic(server);
    await using visitor = await browser().visit(`${server.consoleUrl}/dead?name=orders-dead`);
    const { page, errors } = visitor;
    await page.getByText("2 reasons, 7 items").waitFor();
    // What the key may do is known later, and nothing is selected before.
    await page.getByLabel("Select all reasons").waitFor();
    for (const key of ["j", "x"]) await page.keyboard.press(key);
    await page.getByRole("button", { name: "Redrive…" }).click();
    await page.getByRole("button", { name: "Redrive 5 items" }).click();
    await said(page, /redriven: 5 items of orders-dead/);
    await page.getByText("1 reason, 2 items").waitFor();
    await page.getByRole("region", { name: "Tasks" }).getByText("5 items done").waitFor();
    expect(errors).toEqual([]);
  });

  test("dead letters: the newest selected items are listed, and link to all of them", async () => {
    await using server = await openConsoleServer();
    await addTraffic(server);
    const { client } = server;
    const held = await client.queue("orders-dead").lease({ clientId: "worker-1" });
    await using visitor = await browser().visit(`${server.consoleUrl}/dead?name=orders-dead`);
    const { page, errors } = visitor;
    await page.getByRole("checkbox", { name: "Select card_declined" }).check();
    const table = page.getByRole("table", { name: "newest of the 5 selected" });
    await table.locator("tbody th a").nth(4).waitFor();
    const filter = { reason: "card_declined: order <n>" };
    const newest = { queue_name: "orders-dead", order: "newest", limit: 5 };
    const { items } = await client.findItems({ ...newest, filter });
    const idsOf = (found: Locator) =>
      found
        .locator("tbody th a")
        .evaluateAll((links) => links.map((link) => link.getAttribute("title")));
    expect(await idsOf(table)).toEqual(items.map(({ id }) => id));
    const first = await table.getByRole("row").nth(1).textContent();
    expect(first).toContain(`${items[0]?.kind}${items[0]?.reference}{"order":`);
    // Somebody has it: it stays, and its row says so.
    const heldRow = table
      .getByRole("row")
      .filter({ has: page.getByTitle(`${held?.items[0]?.id}`) });
    await heldRow.getByRole("img", { name: "leased: a redrive leaves it" }).waitFor();
    await page.getByLabel("Select all reasons").check();
    const seven = page.getByRole("table", { name: "newest of the 7 selected" });
    await seven.locator("tbody th a").nth(4).waitFor();
    expect(await idsOf(seven)).toHaveLength(5);
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("link", { name: "All of them" }).click();
    await page.getByText("6 match, of 7 scanned").waitFor();
    await page.locator(".chip").getByText("= card_declined: order <n> or none").waitFor();
    await page.goBack();
    await page.getByRole("checkbox", { name: "Select card_declined" }).check();
    await page.locator(".newest tbody th a").first().click();
    await page.waitForURL((url) => url.searchParams.get("item") === items[0]?.id);
    expect(errors).toEqual([]);
  });

  test("dead letters: a search for a rare reason reports how many items it scanned", async () => {
    await using server = await openConsoleServer();
    await addTraffic(server);
    await using visitor = await browser().visit("about:blank");
    const { page } = visitor;
    await page.route("**/v1/storage/items.find", (route) =>
      route.fulfill({ json: { items: [], next_pivot: "0.0.9", scanned: 100_000 } }),
    );
    await page.goto(`${server.consoleUrl}/dead?name=orders-dead`);
    await page.getByRole("checkbox", { name: "Select no reason given" }).check();
    await page.getByText("Of the newest 300,000 items of the queue.").waitFor();
  });

  test("redrive: several reasons are one task with one rate; items without a destination stay uncounted", async () => {
    await using server = await openConsoleServer();
    await addTraffic(server);
    const { client } = server;
    const former = client.queue("former");
    const timeouts = { lease_timeout: "1h", expire_timeout: "1d" };
    await former.create({ ...timeouts, dead_queue: "orders-dead" });
    await former.produce("one");
    const lease = await former.lease({ batch: 1 });
    await lease?.retry(lease.items, { dead: true, reason: "card_declined: order 9" });
    await former.delete({ force: true });
    await using visitor = await browser().visit(`${server.consoleUrl}/dead?name=orders-dead`);
    const { page, errors } = visitor;
    await page.getByText("2 reasons, 8 items").waitFor();
    await page.getByLabel("Select all reasons").check();
    await page.getByRole("button", { name: "Redrive…" }).click();
    const plan = page.getByRole("dialog");
    await plan.getByRole("row", { name: "go to orders 7" }).waitFor();
    await plan.getByRole("row", { name: "stay: their original queue was deleted 1" }).waitFor();
    await plan.getByLabel("Per second").fill("2");
    await plan.getByRole("row", { name: "takes, at 2 per second 4 s" }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await plan.getByRole("button", { name: "Redrive 7 items" }).click();
    // While it runs, or after it has.
    const ofAll = page
      .getByRole("region", { name: "Tasks" })
      .getByText(/of 8$|7 items done, 1 skipped/);
    await ofAll.waitFor();
    const { tasks } = await client.listTasks({});
    expect(tasks).toMatchObject([
      {
        ...{ action: "redrive", matched: 8, per_second: 2 },
        filter: { any_of: { by: "reason", values: ["card_declined: order <n>", ""] } },
      },
    ]);
    expect(errors).toEqual([]);
  });

  test("dead letters: partial summaries are drawn, with counts of at least", async () => {
    await using server = await openConsoleServer();
    await addTraffic(server);
    await using visitor = await browser().visit("about:blank");
    const { page } = visitor;
    const gate = Promise.withResolvers<void>();
    await page.route("**/v1/storage/items.summarize", async (route) => {
      const isFirst = route.request().postDataJSON().pivot === "";
      if (!isFirst) await gate.promise;
      const response = await route.fetch({
        postData: { ...route.request().postDataJSON(), pivot: "" },
      });
      const reply = await response.json();
      await route.fulfill({ response, json: { ...reply, next_pivot: isFirst ? "0.0.7" : "" } });
    });
    await page.goto(`${server.consoleUrl}/dead?name=orders-dead`);
    await page.getByText("2 reasons, at least 7 items, 7 scanned so far…").waitFor();
    await page.getByRole("cell", { name: "5+" }).waitFor();
    gate.resolve();
    await page.getByText("2 reasons, 14 items, all scanned").waitFor();
    await page.getByRole("cell", { name: "10", exact: true }).waitFor();
  });

  test("dead letters: if a new look is refused, the refusal is above the summaries", async () => {
    await using server = await openConsoleServer();
    await addTraffic(server);
    await using visitor = await browser().visit(`${server.consoleUrl}/dead?name=orders-dead`);
    const { page } = visitor;
    await page.getByText("2 reasons, 7 items").waitFor();
    const refusal = { message: "the shard is down", reason: "" };
    await page.route("**/v1/storage/items.summarize", (route) =>
      route.fulfill({ status: 400, json: refusal }),
    );
    await page.getByRole("button", { name: "refresh" }).click();
    const fault = page.getByRole("alert").filter({ hasText: refusal.message });
    await fault.getByText("The items could not be summarized.").waitFor();
    await page.getByText("2 reasons, 7 items").waitFor();
  });

  test("tasks: a task of several reasons is listed with its filter", async () => {
    await using server = await openConsoleServer();
    await addTraffic(server);
    const values = ["card_declined: order <n>", ""];
    await server.client.queue("orders-dead").redrive({
      filter: { any_of: { by: "reason", values }, attempts_min: 1 },
      to_queue: "orders",
    });
    await using visitor = await browser().visit(`${server.consoleUrl}/dead`);
    const task = visitor.page.getByRole("region", { name: "Tasks" });
    await task.getByText("attempts ≥ 1, reason = card_declined: order <n> or none; to").waitFor();
  });

  test("tasks: a long task shows its progress and can be cancelled", async () => {
    await using server = await openConsoleServer();
    await addTraffic(server);
    await addSlowRedrive(server);
    await using visitor = await browser().visit(`${server.consoleUrl}/dead`);
    const { page } = visitor;
    await page.getByText(/of 1,000$/).waitFor();
    await page.getByRole("link", { name: /^redrive orders-dead/ }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Cancel" }).click();
    await said(page, /cancelled the redrive of orders-dead/);
    const { tasks } = await server.client.listTasks({});
    expect(tasks[0]?.state).toBe("cancelled");
    await page.getByRole("link", { name: /^redrive orders-dead/ }).waitFor({ state: "detached" });
  });
}

function testRoles(browser: () => ConsoleBrowser): void {
  test("change: a read-only key sees no button, and the server refuses the call", async () => {
    await using server = await openConsoleServer({ hasKeys: true });
    await addTraffic(server);
    await using visitor = await browser().visit(`${server.consoleUrl}/items?name=orders`);
    const { page } = visitor;
    await page.getByLabel("API key").fill(readKey);
    await page.keyboard.press("Enter");
    await live(page);
    for (const path of ["/items?name=orders", "/items?name=orders&state=leased"]) {
      await page.goto(server.consoleUrl + path);
      await rowsOf(page).first().locator("th a").click();
      await page.getByRole("button", { name: "text" }).waitFor();
      // Before it is known what the key may do there are none for any.
      await page.getByText("key eyes: read only").waitFor();
      expect(await page.locator(".item-foot").count()).toBe(0);
      expect(await page.getByRole("checkbox").count()).toBe(0);
    }
    await page.goto(`${server.consoleUrl}/dead?name=orders-dead`);
    await page.getByText("2 reasons, 7 items").waitFor();
    await page.getByText("key eyes: read only").waitFor();
    expect(await page.getByRole("button", { name: /Redrive|Delete/ }).count()).toBe(0);
    const reader = createClient({ url: server.url, apiKey: readKey });
    const refused = await reader
      .repair({ queue_name: "orders", action: "delete", filter: {} })
      .then(
        () => null,
        (cause: unknown) => String(cause),
      );
    expect(refused).toContain("admin");
  });

  test("copy as curl: the text contains no key", async () => {
    await using server = await openConsoleServer({ hasKeys: true });
    await addTraffic(server);
    await using visitor = await browser().visit(`${server.consoleUrl}/items?name=orders`, {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const { page } = visitor;
    await page.getByLabel("API key").fill(adminKey);
    await page.keyboard.press("Enter");
    await rowsOf(page).first().waitFor();
    for (const key of ["j", "c"]) await page.keyboard.press(key);
    await said(page, /copied POST \/v1\/storage\/items.get/);
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain("$HOLDFAST_KEY");
    expect(copied).not.toContain(adminKey);
  });
}

inChromium([testChanges]);
