import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { axeFaults } from "../testing/axe.ts";
import {
  type ConsoleBrowser,
  isWiderThanWindow,
  live,
  narrow,
} from "../testing/console-browser.ts";
import {
  addQueues,
  adminKey,
  type ConsoleServer,
  openConsoleServer,
  readKey,
} from "../testing/console-server.ts";
import { inChromium } from "../testing/in-chromium.ts";

function testQueueChanges(browser: () => ConsoleBrowser): void {
  testChanges(browser);
  testRights(browser);
}

const at = (server: ConsoleServer, name: string) => `${server.consoleUrl}/queue?name=${name}`;

async function opened(page: Page, title: string): Promise<void> {
  await live(page);
  await page.getByRole("button", { name: title, exact: true }).click();
  await page.locator("dialog[open]").waitFor();
}

async function saidOn(page: Page, text: string): Promise<string | null> {
  const said = page.getByRole("status").filter({ hasText: text });
  await said.waitFor();
  await page.locator("dialog").waitFor({ state: "detached" });
  return await said.textContent();
}

function testChanges(browser: () => ConsoleBrowser): void {
  describe("what may be done to a queue", () => {
    let server: ConsoleServer;
    const queueOf = (name: string) => server.client.queue(name);
    beforeAll(async () => {
      server = await openConsoleServer();
      await addQueues(server, ["plain", "cleared", "kept", "full", "bare", "moved", "counted"]);
      for (const name of ["cleared", "kept", "full", "counted"])
        await queueOf(name).produce(["1", "2", "3"]);
    });
    afterAll(() => server.stop());

    test("pause: with a reason; then resume", async () => {
      await using visitor = await browser().visit(at(server, "plain"));
      const { page, errors } = visitor;
      await opened(page, "Pause…");
      expect(await axeFaults(page)).toEqual([]);
      await page.getByLabel("Reason").fill("x".repeat(501));
      await page.getByRole("button", { name: "Pause leases" }).click();
      await page.getByRole("alert").filter({ hasText: "400" }).waitFor();
      await page.getByLabel("Reason").fill("deploy");
      await page.getByText("The call that this makes").click();
      expect(await page.locator(".code pre").textContent()).toContain('"reason":"deploy"');
      await page.getByRole("button", { name: "Pause leases" }).click();
      expect(await saidOn(page, "paused")).toBe("200paused leases of plain");
      await page.getByRole("button", { name: "Resume…" }).waitFor();
      expect(await queueOf("plain").info()).toMatchObject({
        lease_paused: true,
        pause_reason: "deploy",
      });
      await opened(page, "Resume…");
      await page.getByText("“deploy”").waitFor();
      await page.getByRole("button", { name: "Resume", exact: true }).click();
      await saidOn(page, "resumed plain");
      expect((await queueOf("plain").info()).lease_paused).toBe(false);
      expect(errors).toEqual([]);
    });

    test("edit: only edited settings are sent, and a refusal is beside the button", async () => {
      await using visitor = await browser().visit(at(server, "plain"), { viewport: narrow });
      const { page } = visitor;
      await opened(page, "Edit…");
      expect(await axeFaults(page)).toEqual([]);
      expect(await isWiderThanWindow(page)).toBe(false);
      await page.getByLabel("Lease timeout").fill("25h");
      await page.getByRole("button", { name: "Change 1 setting" }).click();
      const refusal = page.getByRole("alert").filter({ hasText: "400" });
      await refusal.waitFor();
      // The polls go on below the dialog, and change nothing in it.
      await page.getByLabel("Lease timeout").fill("90s");
      await page.waitForResponse("**/v1/queue.stats");
      await page.waitForResponse("**/v1/server.overview");
      expect(await page.getByLabel("Lease timeout").inputValue()).toBe("90s");
      expect(
        await page.getByLabel("Lease timeout").evaluate((one) => one === document.activeElement),
      ).toBe(true);
      await page.getByLabel("Max attempts").fill("7");
      const asked = page.waitForRequest("**/v1/queues.update");
      await page.getByRole("button", { name: "Change 2 settings" }).click();
      expect((await asked).postDataJSON()).toEqual({
        queue_name: "plain",
        lease_timeout: "90s",
        max_attempts: 7,
      });
      await saidOn(page, "updated plain");
      await page.getByText("90s", { exact: true }).waitFor();
    });

    test("produce: a test item", async () => {
      await using visitor = await browser().visit(at(server, "bare"));
      const { page } = visitor;
      await opened(page, "Produce…");
      expect(await axeFaults(page)).toEqual([]);
      await page.getByLabel("Enqueue at").fill("soon");
      await page.getByRole("button", { name: "Produce 1 item" }).click();
      await page.getByRole("alert").filter({ hasText: "400" }).waitFor();
      await page.getByLabel("Enqueue at").fill("");
      await page.getByLabel("Priority").fill("7");
      await page.getByRole("button", { name: "Produce 1 item" }).click();
      await saidOn(page, "produced 1 item to bare");
      expect(await Array.fromAsync(queueOf("bare").find())).toMatchObject([{ priority: 7 }]);
      await page.goto(`${server.consoleUrl}/items?name=bare`);
      await page.getByTitle("Priority 7").waitFor();
      expect(await axeFaults(page)).toEqual([]);
    });

    test("clear: the count in the button is that of the reply, and leased items need a choice", async () => {
      await queueOf("cleared").lease({ batch: 1, clientId: "worker-1" });
      await using visitor = await browser().visit(at(server, "cleared"));
      const { page } = visitor;
      await opened(page, "Clear…");
      const go = page.getByRole("button", { name: "Remove 2 items" });
      await go.waitFor();
      expect(await axeFaults(page)).toEqual([]);
      expect(await go.isDisabled()).toBe(true);
      await page.getByRole("checkbox", { name: /leased/ }).check();
      await page.getByText("1 client loses what it holds").waitFor();
      await page.getByRole("button", { name: "Remove 3 items" }).waitFor();
      await page.getByRole("checkbox", { name: /leased/ }).uncheck();
      await page.getByLabel("Type cleared to continue").fill("cleared");
      await go.click();
      expect(await saidOn(page, "cleared")).toBe("200cleared cleared: 2 items");
      const { total, total_leased: leased } = await partitionOf("cleared");
      expect([total, leased]).toEqual([1, 1]);
    });

    test("clear: if the count has changed, 453 is beside the button, which gets the new count", async () => {
      await using visitor = await browser().visit(at(server, "kept"));
      const { page } = visitor;
      await opened(page, "Clear…");
      await page.getByLabel("Type kept to continue").fill("kept");
      await page.getByRole("button", { name: "Remove 3 items" }).waitFor();
      await queueOf("kept").produce("4");
      await page.getByRole("button", { name: "Remove 3 items" }).click();
      const refusal = page.getByRole("alert").filter({ hasText: "453" });
      expect(await refusal.textContent()).toContain("4 items");
      expect((await queueOf("kept").inspect()).queued).toBe(4);
      await page.getByRole("button", { name: "Remove 4 items" }).click();
      await saidOn(page, "cleared kept: 4 items");
      expect((await queueOf("kept").inspect()).queued).toBe(0);
    });

    test("clear: a count without an answer is requested once, and replaces an earlier one", async () => {
      await using visitor = await browser().visit(at(server, "counted"));
      const { page } = visitor;
      await opened(page, "Clear…");
      await page.getByRole("button", { name: "Remove 3 items" }).waitFor();
      await page.keyboard.press("Escape");
      let asks = 0;
      await page.route("**/v1/queue.clear", (route) => {
        asks += 1;
        return route.abort();
      });
      await opened(page, "Clear…");
      await page.getByLabel("Type counted to continue").fill("counted");
      await page.getByRole("alert").filter({ hasText: "Not counted." }).waitFor();
      expect(asks).toBe(1);
      expect(await page.getByRole("button", { name: "Remove 3 items" }).count()).toBe(0);
      await page.unroute("**/v1/queue.clear");
      await page.getByRole("button", { name: "Try now" }).click();
      await page.getByRole("button", { name: "Remove 3 items" }).waitFor();
    });

    test("delete: a queue with items needs force and its name", async () => {
      await using visitor = await browser().visit(at(server, "full"));
      const { page } = visitor;
      await opened(page, "Delete…");
      const go = page.getByRole("button", { name: "Delete 3 items" });
      await go.waitFor();
      expect(await axeFaults(page)).toEqual([]);
      await page.getByLabel("Type full to continue").fill("full");
      expect(await go.isDisabled()).toBe(true);
      await page.getByRole("checkbox").check();
      await queueOf("full").produce("4");
      await go.click();
      await page.getByRole("alert").filter({ hasText: "453" }).waitFor();
      await page.getByRole("button", { name: "Delete 4 items" }).click();
      await saidOn(page, "deleted full and 4 items");
      await page.waitForURL(({ pathname }) => pathname === "/console");
    });

    test("delete: the refusal for a deleted queue is in the dialog", async () => {
      await using visitor = await browser().visit(at(server, "moved"));
      const { page } = visitor;
      await opened(page, "Delete…");
      await page.getByRole("button", { name: "Delete moved" }).waitFor();
      // The page would hear of it by itself, and take the dialog away before it is used.
      const gate = Promise.withResolvers<void>();
      await page.route("**/v1/queues.info", async (route) => {
        await gate.promise;
        await route.continue();
      });
      await queueOf("moved").delete();
      const refused = page.waitForResponse("**/v1/queues.delete");
      await page.getByRole("button", { name: "Delete moved" }).click();
      expect((await refused).ok()).toBe(false);
      gate.resolve();
      await page.getByText("There is no queue of that name").waitFor();
    });

    test("redrive: the dead items of the queue are counted, and a task requeues them", async () => {
      await addQueues(server, ["lost"]);
      await queueOf("work").create({
        lease_timeout: "1h",
        expire_timeout: "1d",
        max_attempts: 1,
        dead_queue: "lost",
      });
      await queueOf("work").produce(["1", "2"]);
      const lease = await queueOf("work").lease({ batch: 2 });
      await lease?.retry();
      await using visitor = await browser().visit(at(server, "work"));
      const { page } = visitor;
      await opened(page, "Redrive…");
      await page.getByRole("button", { name: "Redrive 2 items" }).waitFor();
      expect(await axeFaults(page)).toEqual([]);
      await queueOf("work").produce("3");
      const other = await queueOf("work").lease();
      await other?.retry();
      await page.getByRole("button", { name: "Redrive 2 items" }).click();
      await page.getByRole("alert").filter({ hasText: "453" }).waitFor();
      await page.getByRole("button", { name: "Redrive 3 items" }).click();
      await saidOn(page, "redriven: 3 items of lost");
    });

    async function partitionOf(name: string) {
      const { logical_queues: lines } = await queueOf(name).stats();
      const [partition] = lines[0]?.partitions ?? [];
      if (partition === undefined) throw new Error(`${name} has no partition`);
      return partition;
    }
  });
}

function testRights(browser: () => ConsoleBrowser): void {
  test("changes: a read-only key sees none, and the server refuses each", async () => {
    const server = await openConsoleServer({ hasKeys: true });
    try {
      await addQueues(server, ["orders"]);
      await using visitor = await browser().visit(at(server, "orders"));
      const { page, errors } = visitor;
      await page.getByLabel("API key").fill(readKey);
      await page.keyboard.press("Enter");
      await live(page);
      await page.getByText("Empty.", { exact: true }).waitFor();
      await page.getByText("key eyes: read only").waitFor();
      expect(await page.getByRole("button", { name: /…$/ }).count()).toBe(0);
      const of = { queue_name: "orders" };
      const flags = { queue: true, retry: true, scheduled: true, destructive: true };
      for (const [path, body] of [
        ["queue.pause", of],
        ["queue.resume", of],
        ["queue.clear", { ...of, ...flags }],
        ["queue.redrive", of],
        ["queues.update", { ...of, max_attempts: 1 }],
        ["queues.delete", { ...of, force: true }],
      ] as const) {
        const response = await fetch(`${server.url}/v1/${path}`, {
          method: "POST",
          headers: { authorization: `Bearer ${readKey}`, "content-type": "application/json" },
          body: JSON.stringify(body),
        });
        expect([path, response.status]).toEqual([path, 403]);
      }
      await page.getByRole("button", { name: /^key eyes/ }).click();
      await page.getByLabel("API key").fill(adminKey);
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Clear…" }).waitFor();
      expect(errors).toEqual([]);
    } finally {
      await server.stop();
    }
  });
}

inChromium([testQueueChanges]);
